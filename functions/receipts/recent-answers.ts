import { randomBytes } from 'node:crypto'
import type { CallArguments, SeenAnswers } from '../../src/domain/receipts/canned-answer.ts'
import { saltedHash } from './salted-hash.ts'

/** Operations remembered, and calls of each. */
const MAX_OPERATIONS = 2_000
const MAX_CALLS = 16

interface Call {
  /** Of all arguments together, and of each by name. */
  args: string
  each: ReadonlySet<string>
  answer: string
}

/**
 * Recent requests and answers, to recognise one caller's answer in another's. Only hashes, salted
 * with a random value of this process: they reveal nothing and are gone when it ends.
 */
export function createRecentAnswers() {
  const salt = randomBytes(16)
  const operations = new Map<string, Call[]>()
  const mark = (told: string | Uint8Array) =>
    saltedHash(salt, [typeof told === 'string' ? Buffer.from(told) : told], 'base64').slice(0, 16)
  return {
    /** Compares with earlier calls, then remembers this one. */
    see(operation: string, args: CallArguments, answer: Uint8Array): SeenAnswers {
      const before = operations.get(operation) ?? []
      const call: Call = {
        args: mark([...args].map(([name, value]) => `${name}=${value}`).join('\n')),
        each: new Set([...args].map(([name, value]) => mark(`${name}=${value}`))),
        answer: mark(answer),
      }
      // Most recently used last.
      operations.delete(operation)
      operations.set(operation, [...before, call].slice(-MAX_CALLS))
      const [oldest] = operations.keys()
      if (operations.size > MAX_OPERATIONS && oldest !== undefined) operations.delete(oldest)
      const others = before.filter((each) => each.args !== call.args)
      return {
        hasArgument: (name, value) => others.some(({ each }) => each.has(mark(`${name}=${value}`))),
        sameAnswers: () => {
          const told = Map.groupBy(others, (each) => each.answer === call.answer)
          const count = (isSame: boolean) =>
            new Set(told.get(isSame)?.map((each) => each.args)).size
          // A few may have asked for one thing under several names, or without result.
          return count(true) > count(false) ? count(true) : 0
        },
      }
    },
  }
}
