import { once } from 'node:events'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { fillCall } from '../../../src/domain/kit/filled-call.ts'
import { toMppTerm } from '../../../src/domain/probe/finding.ts'
import { LOCK_FILE } from '../../../src/domain/relay/pins.ts'
import { isJsonObject, parseJson } from '../../../src/domain/wire/json.ts'
import { codeOf } from '../../../src/domain/wire/problems.ts'
import { RAILS, type Rail } from '../../../src/domain/wire/vocabulary.ts'
import type { TaskPlan } from '../src/answers.ts'
import { type Attempt, doTask } from '../src/do-task.ts'
import {
  type CallReceipt,
  callReceiptIn,
  challengesIn,
  type PayWith,
  type Wallet,
} from '../src/payment.ts'
import type { CallReply, Waypost } from '../src/waypost.ts'
import {
  EXIT,
  print,
  printJson,
  printJsonText,
  printNote,
  printRows,
  type Run,
  readArguments,
  readChoice,
  readNumber,
  readSubject,
  toLine,
  UsageFault,
} from './command-line.ts'
import { readLock } from './pins.ts'

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

/** `waypost call <id>`: the seller's answer on stdout, price and payment on stderr. */
export const runCall: Run = async (args, connect) => {
  const { values, positionals } = readArguments(args, {
    endpoint: { type: 'string' },
    method: { type: 'string', short: 'X' },
    header: { type: 'string', short: 'H', multiple: true },
    data: { type: 'string', short: 'd' },
    info: { type: 'boolean' },
    wallet: { type: 'string' },
    'max-usd': { type: 'string' },
    lock: { type: 'string' },
    'max-bytes': { type: 'string' },
  })
  const id = readSubject(positionals, 'id')
  const method = readChoice('method', values.method, METHODS)
  const headers = readHeaders(values.header ?? [])
  const pay = await readPay(values)
  const waypost = connect(values.base)
  if (values.info === true) {
    printJson(await waypost.callInfo(id, values.endpoint))
    return EXIT.ok
  }
  const lock = await findLock(waypost, id, values.lock)
  const rail = pay !== undefined && pay.wallet.createPaymentPayload === undefined ? 'mpp' : 'x402'
  const filled = await fill(waypost, id, rail, {
    endpoint: values.endpoint,
    method,
    headers: withJsonType(headers, values.data),
    body: values.data,
  })
  printNote(`${filled.method} ${filled.endpoint ?? id}`)
  const maxBytes = readNumber('max-bytes', values['max-bytes'])
  const reply = await waypost.call(id, { ...filled, lock, pay, maxBytes })
  tell(reply)
  return printAnswer(reply.response)
}

async function fill(
  waypost: Waypost,
  id: string,
  rail: Rail,
  requested: Parameters<typeof fillCall>[1],
) {
  // If the listing is unknown, the relay reports that.
  const operations = await waypost.kit(id).then(
    (kit) => kit.operations,
    () => [],
  )
  const filled = fillCall(operations, requested, rail)
  if (typeof filled === 'string') throw new UsageFault(filled)
  return filled
}

/** This folder's lock, if it contains the listing. @throws UsageFault if a named lock lacks the listing */
async function findLock(waypost: Waypost, id: string, named: string | undefined) {
  const lock = await readLock(named ?? LOCK_FILE, waypost)
  if (lock !== null && Object.hasOwn(lock.listings, id)) return lock
  if (named !== undefined)
    throw new UsageFault(`${named}: expected a lock file in which ${id} is pinned`)
  if (lock !== null) printNote(`${id} is not pinned, so the call relies on its current facts`)
  return undefined
}

/** A JSON body gets its content type; anything else is sent as the caller typed it. */
function withJsonType(headers: Record<string, string>, body: string | undefined) {
  const isTyped = new Headers(headers).has('content-type')
  return body === undefined || isTyped || parseJson(body) === undefined
    ? headers
    : { ...headers, 'content-type': 'application/json' }
}

function readHeaders(lines: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    lines.map((line) => {
      const [, name, value] = /^([\w!#$%&'*+.^`|~-]+):\s*(.*)$/.exec(line) ?? []
      if (name === undefined || value === undefined)
        throw new UsageFault(`-H: expected "Name: value", got ${JSON.stringify(line)}`)
      return [name, value]
    }),
  )
}

/** Who pays and how much at most, from the options of `call` and `do`: both options or neither. */
async function readPay(values: {
  wallet?: string
  'max-usd'?: string
}): Promise<PayWith | undefined> {
  const { wallet } = values
  const maxUsd = readNumber('max-usd', values['max-usd'])
  if (wallet === undefined && maxUsd === undefined) return undefined
  if (wallet === undefined || maxUsd === undefined)
    throw new UsageFault(
      'expected --wallet and --max-usd together: who pays, and the most that may be paid',
    )
  return { ...(await loadWallet(wallet)), maxUsd }
}

function tell({ response, terms, paid, receipt }: CallReply): void {
  const { status, headers } = response
  const sent = paid === undefined ? '' : `, $${paid.usd} by ${paid.rail} to ${paid.payee} was sent`
  printNote(`status ${status}${sent}`)
  if (terms !== undefined && paid === undefined)
    printNote(`the seller's x402 terms: ${JSON.stringify(terms.accepts)}`)
  if (status === 402 && paid === undefined)
    for (const term of challengesIn(headers).flatMap(
      (each) => toMppTerm(Object.fromEntries(each)) ?? [],
    ))
      printNote(`the seller's MPP terms: ${JSON.stringify(term)}`)
  if (receipt !== undefined) printNote(`receipt: ${JSON.stringify(receipt)}`)
  const judged = callReceiptIn(response)
  if (judged !== undefined) printNote(toVerifyText(judged))
}

/** The directory's receipt, and the secret that is given out only once; the secret may begin with a dash. */
function toVerifyText({ id, secret }: CallReceipt): string {
  return `to verify the answer: waypost verify ${id} --secret=${secret}`
}

/** Bytes go unchanged into a pipe or a file; on a terminal nothing in them may move the cursor. */
async function printAnswer(response: Response): Promise<number> {
  if (process.stdout.isTTY) {
    const text = await response.text()
    if (parseJson(text) === undefined) print(text)
    else printJsonText(text)
  } else if (response.body !== null)
    for await (const chunk of response.body)
      if (!process.stdout.write(chunk)) await once(process.stdout, 'drain')
  return response.ok ? EXIT.ok : EXIT.refused
}

/** A wallet is a module of the caller's own, for either rail: keys never come near this command. */
async function loadWallet(file: string) {
  const loaded: { default?: unknown; allowTestCoins?: unknown } = await importWallet(file)
  const wallet = typeof loaded.default === 'function' ? await loaded.default() : loaded.default
  if (!isWallet(wallet))
    throw new UsageFault(
      `--wallet ${file}: expected a default export with createPaymentPayload(terms), such as an x402Client from @x402/core, or with createCredential(response), such as a client from mppx, or a function that returns such an object`,
    )
  return { wallet, allowTestCoins: loaded.allowTestCoins === true }
}

async function importWallet(file: string) {
  try {
    return await import(pathToFileURL(resolve(file)).href)
  } catch (error) {
    const advice =
      codeOf(error) === 'ERR_MODULE_NOT_FOUND'
        ? '. Install what it imports beside it: npm install @x402/core @x402/evm for x402, npm install mppx for MPP'
        : ''
    throw new UsageFault(
      `--wallet ${file}: ${error instanceof Error ? error.message : error}${advice}`,
    )
  }
}

function isWallet(value: unknown): value is Wallet {
  return (
    isJsonObject(value) &&
    (typeof value.createPaymentPayload === 'function' ||
      typeof value.createCredential === 'function')
  )
}

/** `waypost tasks`: the tasks that can be planned. */
export const runTasks: Run = async (args, connect) => {
  const { values } = readArguments(args, {})
  const answer = await connect(values.base).tasks()
  const planned = answer.tasks.filter(({ plan }) => plan !== undefined)
  if (values.json === true) printJson(answer)
  else
    for (const { id, name, sellers, example } of planned)
      print(toLine(`${id}  ${name} · ${sellers} sellers · ${JSON.stringify(example)}`))
  return EXIT.ok
}

/** `waypost plan <task> '<input JSON>'`: the sellers to call, in order, with their requests. */
export const runPlan: Run = async (args, connect) => {
  const { values, positionals } = readArguments(args, {
    'max-price-usd': { type: 'string' },
    rail: { type: 'string' },
    network: { type: 'string' },
    limit: { type: 'string' },
  })
  const { task, input } = readTask(positionals)
  const plan = await connect(values.base).plan(task, input, {
    max_price_usd: readNumber('max-price-usd', values['max-price-usd']),
    limit: readNumber('limit', values.limit),
    rail: values.rail,
    network: values.network,
  })
  return printRows(plan, plan.rows, values.json, toText)
}

function toText({
  seller,
  request,
  usd,
  per,
  offers = [],
  ignores = [],
}: TaskPlan['rows'][number]) {
  const facts = [
    usd === null ? 'price unknown' : usd === 0 ? 'free' : `$${usd} a ${per ?? 'call'}`,
    [...new Set(offers.map(({ rail }) => rail))].join('+'),
    ignores.length === 0 ? '' : `does not accept ${ignores.join(', ')}`,
  ]
  const sent = request.body === undefined ? '' : `\n    ${toLine(JSON.stringify(request.body))}`
  return `${toLine(`${seller.id}  ${facts.filter(Boolean).join(' · ')}`)}\n    ${toLine(`${request.method} ${request.url}`)}${sent}`
}

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
  const done = await doTask(connect(values.base), task, input, {
    pay: await readPay(values),
    rail: readChoice('rail', values.rail, RAILS),
    network: values.network,
    maxBytes: readNumber('max-bytes', values['max-bytes']),
    onAttempt: (attempt) => printNote(toNotes(attempt)),
  })
  printNote(`spent $${done.spent_usd}`)
  if (values.json === true) printJson(done)
  else if (done.output !== null) printJson(done.output)
  if (done.output === null) printNote('No seller delivered.')
  return done.output === null ? EXIT.refused : EXIT.ok
}

function toNotes({ seller, end, usd, paid, detail, call_receipt }: Attempt): string[] {
  const money =
    paid === 'no' ? 'nothing paid' : `$${usd} ${paid === 'paid' ? 'paid' : 'may have been paid'}`
  const why = detail ? ` (${detail})` : ''
  const ended = toLine(`${seller}: ${end.replaceAll('_', ' ')}, ${money}${why}`)
  return call_receipt === undefined ? [ended] : [ended, toVerifyText(call_receipt)]
}

/** The task and its input, as the first two words of `plan` and `do`. */
function readTask(positionals: readonly string[]) {
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
