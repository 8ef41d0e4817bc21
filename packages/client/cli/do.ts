import { isJsonObject, parseJson } from '../../../src/domain/wire/parse-json.ts'
import { doTask } from '../src/do-task.ts'
import type { Attempt } from '../src/seller-turn.ts'
import { sumUsd } from '../src/spending.ts'
import {
  EXIT,
  type Run,
  readArguments,
  readChoice,
  readNumber,
  readSubject,
  UsageFault,
} from './command-line.ts'
import { keepReceipt } from './own-receipts.ts'
import { printJson, toLine } from './printable.ts'
import { openSession, readSpent } from './session-file.ts'
import { loadWallet } from './wallet.ts'

const RAILS = ['x402', 'mpp'] as const

/** `waypost do <task> '<input JSON>'`: the output on stdout, sellers and payments on stderr. */
export const runDo: Run = async (args, connect) => {
  const { values, positionals } = readArguments(args, {
    wallet: { type: 'string' },
    'max-usd': { type: 'string' },
    session: { type: 'string' },
    'session-max-usd': { type: 'string' },
    deed: { type: 'string' },
    rail: { type: 'string' },
    network: { type: 'string' },
  })
  const { task, input } = readDeed(positionals)
  const pay = await readPay(values.wallet, readNumber('max-usd', values['max-usd']))
  const session = toSession(
    values.session,
    readNumber('session-max-usd', values['session-max-usd']),
  )
  const waypost = connect(values.base)
  const kept: Promise<void>[] = []
  const done = await doTask(waypost, task, input, {
    ...(pay !== undefined && { pay }),
    ...(session !== undefined && { session }),
    ...(values.deed !== undefined && { deed: values.deed }),
    rail: readChoice('rail', values.rail, RAILS),
    network: values.network,
    onAttempt: (attempt) => {
      console.error(toText(attempt))
      kept.push(keepWitnessed(waypost.baseUrl, attempt))
    },
  })
  await Promise.all(kept)
  console.error(`spent $${done.spent_usd} for deed ${done.deed}`)
  if (values.json === true) printJson(done)
  else if (done.output !== null) console.log(JSON.stringify(done.output, null, 2))
  if (done.output === null) console.error('No seller delivered.')
  return done.output === null ? EXIT.refused : EXIT.ok
}

/** The task and its input, as the first two words of `plan` and `do`. */
export function readDeed(positionals: readonly string[]) {
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
      '--wallet and --max-usd go together: who pays, and the most the deed may cost',
    )
  return { ...(await loadWallet(file)), maxUsd }
}

function toSession(file: string | undefined, maxUsd: number | undefined) {
  if (file === undefined && maxUsd === undefined) return undefined
  if (file === undefined || maxUsd === undefined)
    throw new UsageFault(
      '--session and --session-max-usd go together: the file, and the most all its deeds may cost',
    )
  return openSession(file, maxUsd)
}

async function keepWitnessed(directory: string, { seller, witnessed }: Attempt): Promise<void> {
  if (witnessed === undefined) return
  const { id, secret } = witnessed
  await keepReceipt({ id, secret, directory, listing: seller, at: new Date().toISOString() })
}

function toText({ seller, end, usd, paid, detail }: Attempt): string {
  const money =
    paid === 'no' ? 'nothing paid' : `$${usd} ${paid === 'paid' ? 'paid' : 'may have been paid'}`
  return toLine(`${seller}: ${end.replaceAll('_', ' ')}, ${money}${detail ? ` (${detail})` : ''}`)
}

/** `waypost spent <file>`: what a session paid, or may have paid if a command was killed. */
export const runSpent: Run = async (args) => {
  const { values, positionals } = readArguments(args, {})
  const spent = await readSpent(readSubject(positionals, 'session file'))
  if (values.json === true) printJson(spent)
  else {
    for (const { at, deed, task, seller, usd, state } of spent)
      console.log(
        toLine(
          `${at} ${deed} ${task} ${seller} $${usd} ${state === 'paid' ? 'paid' : 'may have been paid'}`,
        ),
      )
    console.log(`$${sumUsd(spent.map(({ usd }) => usd))} in ${spent.length} payments`)
  }
  return EXIT.ok
}
