import { randomUUID } from 'node:crypto'
import { type FileHandle, open, readFile } from 'node:fs/promises'
import { isJsonObject, parseJson } from '../../../src/domain/wire/parse-json.ts'
import {
  type Payment,
  type PaymentState,
  type Session,
  type Standing,
  sumUsd,
} from '../src/spending.ts'
import { UsageFault } from './command-line.ts'

/**
 * A session as an append-only file: each payment is a line on the disk before it is sent, and a
 * second line when its outcome is known. Lines are appended whole by the system, so that several
 * commands may share a file: the command whose line is first has the money.
 *
 * A line torn by a crash was not on disk when its command was killed, so nothing was sent.
 */
export interface Spent extends Payment {
  id: string
  at: string
  /** `sent` without an outcome: it may have been paid. */
  state: PaymentState
}

/** Only the owner may read what was bought. */
const MODE = 0o600

export function openSession(file: string, maxUsd: number): Session {
  return {
    async reserve(payment) {
      const id = randomUUID()
      await append(file, { pay: id, at: new Date().toISOString(), ...payment })
      const { payments } = await readSession(file)
      const place = payments.findIndex((each) => each.id === id)
      const before = payments.slice(0, place + 1).filter(({ state }) => state !== 'dropped')
      if (sumUsd(before.map(({ usd }) => usd)) <= maxUsd) return id
      await append(file, { end: id, state: 'dropped' })
      return null
    },
    settle: (id, state) => append(file, { end: id, state }),
    remember: (seller, task, standing) => append(file, { seller, task, standing }),
    standings: async (task) => {
      const { standings } = await readSession(file)
      return new Map(
        standings.filter((each) => each.task === task).map((each) => [each.seller, each.standing]),
      )
    },
    paidIn: async (deed) => {
      const { payments } = await readSession(file)
      const own = payments.filter((each) => each.deed === deed && each.state !== 'dropped')
      return new Set(own.map(({ seller }) => seller))
    },
  }
}

/** Everything that was paid or may have been. */
export async function readSpent(file: string): Promise<Spent[]> {
  const { payments } = await readSession(file)
  return payments.flatMap(({ state, ...payment }) =>
    state === 'dropped' ? [] : [{ ...payment, state }],
  )
}

/** On disk when it returns, on a line of its own even after a torn one. */
async function append(file: string, line: object): Promise<void> {
  const handle = await openFile(file)
  try {
    await handle.write(`\n${JSON.stringify(line)}\n`)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

async function openFile(file: string): Promise<FileHandle> {
  try {
    return await open(file, 'a', MODE)
  } catch (error) {
    throw new UsageFault(`--session ${file}: ${error instanceof Error ? error.message : error}`)
  }
}

type Written = Omit<Spent, 'state'> & { state: PaymentState | 'dropped' }

async function readSession(file: string) {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    if (Object(error).code === 'ENOENT') return ''
    throw new UsageFault(`--session ${file}: ${error instanceof Error ? error.message : error}`)
  })
  const rows = text.split('\n').flatMap((line) => {
    const row = line === '' ? undefined : parseJson(line)
    return isJsonObject(row) ? [row] : []
  })
  return { payments: toPayments(rows), standings: rows.flatMap(toStanding) }
}

function toPayments(rows: readonly Record<string, unknown>[]): Written[] {
  const payments = new Map<string, Written>()
  for (const row of rows) {
    const payment = toPayment(row)
    if (payment !== null) payments.set(payment.id, payment)
    const ended = typeof row.end === 'string' ? payments.get(row.end) : undefined
    const state = STATES.find((each) => each === row.state)
    if (ended !== undefined && state !== undefined) payments.set(ended.id, { ...ended, state })
  }
  return [...payments.values()]
}

function toStanding({ seller, task, standing }: Record<string, unknown>) {
  const known = STANDINGS.find((each) => each === standing)
  if (typeof seller !== 'string' || typeof task !== 'string' || known === undefined) return []
  return [{ seller, task, standing: known }]
}

const STANDINGS = ['delivered', 'failed'] as const satisfies Standing[]
const STATES = ['paid', 'unsure', 'dropped'] as const

function toPayment({ pay, at, deed, task, seller, usd }: Record<string, unknown>): Written | null {
  if (typeof pay !== 'string' || typeof usd !== 'number') return null
  return {
    id: pay,
    ...{ at: String(at), deed: String(deed), task: String(task), seller: String(seller), usd },
    state: 'sent',
  }
}
