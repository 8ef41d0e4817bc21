import { isJsonObject, parseJson } from '../../../src/domain/wire/parse-json.ts'
import { type Attempt, doTask } from '../src/do-task.ts'
import { toVerifyText } from './call.ts'
import {
  EXIT,
  type Run,
  readArguments,
  readChoice,
  readNumber,
  UsageFault,
} from './command-line.ts'
import { printJson, toLine } from './printable.ts'
import { loadWallet } from './wallet.ts'

const RAILS = ['x402', 'mpp'] as const

/** `waypost do <task> '<input JSON>'`: the output on stdout, sellers and payments on stderr. */
export const runDo: Run = async (args, connect) => {
  const { values, positionals } = readArguments(args, {
    wallet: { type: 'string' },
    'max-usd': { type: 'string' },
    'max-bytes': { type: 'string' },
    rail: { type: 'string' },
    network: { type: 'string' },
  })
  const { task, input } = readTask(positionals)
  const pay = await readPay(values.wallet, readNumber('max-usd', values['max-usd']))
  const done = await doTask(connect(values.base), task, input, {
    pay,
    rail: readChoice('rail', values.rail, RAILS),
    network: values.network,
    maxBytes: readNumber('max-bytes', values['max-bytes']),
    onAttempt: (attempt) => console.error(toText(attempt)),
  })
  console.error(`spent $${done.spent_usd}`)
  if (values.json === true) printJson(done)
  else if (done.output !== null) printJson(done.output)
  if (done.output === null) console.error('No seller delivered.')
  return done.output === null ? EXIT.refused : EXIT.ok
}

/** The task and its input, as the first two words of `plan` and `do`. */
export function readTask(positionals: readonly string[]) {
  const [task, text = '{}', ...others] = positionals
  if (task === undefined || others.length > 0)
    throw new UsageFault(`expected a task and its input as JSON, got ${positionals.length} words`)
  const input = parseJson(text)
  if (!isJsonObject(input))
    throw new UsageFault(
      `expected the input as a JSON object such as '{"query":"tides"}', got ${JSON.stringify(text)}`,
    )
  return { task, input }
}

async function readPay(file: string | undefined, maxUsd: number | undefined) {
  if (file === undefined && maxUsd === undefined) return undefined
  if (file === undefined || maxUsd === undefined)
    throw new UsageFault(
      '--wallet and --max-usd go together: who pays, and the most it may cost in all',
    )
  return { ...(await loadWallet(file)), maxUsd }
}

function toText({ seller, end, usd, paid, detail, witnessed }: Attempt): string {
  const money =
    paid === 'no' ? 'nothing paid' : `$${usd} ${paid === 'paid' ? 'paid' : 'may have been paid'}`
  const lines = [
    `${seller}: ${end.replaceAll('_', ' ')}, ${money}${detail ? ` (${detail})` : ''}`,
    ...(witnessed === undefined ? [] : [toVerifyText(witnessed)]),
  ]
  return lines.map(toLine).join('\n')
}
