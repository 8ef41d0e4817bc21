import { normalizePayout } from '../../../src/domain/listing/networks.ts'
import { PROXY_NAME } from '../../../src/domain/relay/relayed-headers.ts'
import { readTaskOutput, type TaskOutput } from '../../../src/domain/tasks/task-output.ts'
import { memberOf, parseJson, present, toBase64 } from '../../../src/domain/wire/json.ts'
import type { TaskPlan } from './answers.ts'
import {
  type CallReceipt,
  callReceiptIn,
  type PayWith,
  type Quote,
  readQuotes,
  readTerms,
  receiptOf,
  signCheapest,
} from './payment.ts'
import { discard, MAX_ANSWER_BYTES, readProblem, send } from './requests.ts'
import type { Waypost } from './waypost.ts'
import { WaypostError } from './waypost-error.ts'

/**
 * Gets a task done by any of its sellers.
 *
 * Security model: sellers may lie about price, payee and answer, and one seller may own many
 * listings. So no payment exceeds the plan's quote, no payee and no host's operator is paid twice
 * in one run, and a sent payment is treated as spent whatever the seller reports. The directory is
 * trusted to name a host's operator, and to mark its own refusals.
 *
 * Known limitations: one seller with several wallets and domains is treated as several sellers. If
 * the answer to a paid call never comes, only the wallet shows whether the payment settled.
 */
export interface DoOptions {
  /** Without `pay` only free sellers are called; `maxUsd` limits the whole run, all attempts together. */
  pay?: PayWith | undefined
  /** The money, and the knowledge of sellers, shared by runs in one process. */
  budget?: Budget | undefined
  rail?: 'x402' | 'mpp' | undefined
  network?: string | undefined
  /** Called with each attempt as it ends. */
  onAttempt?: (attempt: Attempt) => void
  /** Milliseconds for a seller to name its price, or to answer for free. */
  timeoutMs?: number
  /** Milliseconds for a seller to answer a paid call. */
  paidTimeoutMs?: number
  /** The longest answer that is read, decompressed; 64 MiB by default. */
  maxBytes?: number | undefined
  signal?: AbortSignal
  fetch?: typeof fetch
}

export interface Budget {
  readonly maxUsd: number
  /** US dollars sent to sellers. */
  spentUsd: number
  /** `<task> <seller>` for sellers whose last attempt failed: they are tried last. */
  readonly failed: Set<string>
}

/** @param maxUsd the limit for all runs that share the budget */
export function createBudget(maxUsd = Number.POSITIVE_INFINITY): Budget {
  return { maxUsd, spentUsd: 0, failed: new Set() }
}

/** How one seller's turn ended. */
export type AttemptEnd =
  | 'delivered'
  | 'unreachable'
  | 'timeout'
  | 'refused'
  | 'over_budget'
  | 'over_quote'
  | 'paid_before'
  | 'no_terms'
  | 'wallet_refused'
  | 'payment_asked_again'
  | 'wrong_answer'
  | 'cut_off'
  | 'relay_refused'

export interface Attempt {
  seller: string
  end: AttemptEnd
  /** The amount sent to this seller in US dollars. */
  usd: number
  /** Whether the seller was paid: `no` if nothing was sent, `unsure` if only the wallet shows it. */
  paid: 'no' | 'paid' | 'unsure'
  detail?: string
  /** The seller's report on the settlement. */
  receipt?: unknown
  /** The directory's own receipt, if the call went through its relay. */
  call_receipt?: CallReceipt
}

export interface DoneTask {
  /** Null if no seller delivered. */
  output: Record<string, unknown> | null
  seller: string | null
  attempts: Attempt[]
  /** US dollars paid or possibly paid, over all attempts. */
  spent_usd: number
}

type PlanRow = TaskPlan['rows'][number]

interface Run {
  contract: Record<string, unknown>
  options: DoOptions
  budget: Budget
  baseUrl: string
  spentUsd: number
  /** Operators, hosts and addresses that were paid. */
  paid: Set<string>
}

type Outcome = Attempt & { output?: Record<string, unknown> }
type ToOutcome = (end: AttemptEnd, detail?: string) => Outcome

const MAX_SELLERS = 5
const ASK_TIMEOUT = 20_000
/** Sellers settle after they answer: a paid call that is aborted early may have been paid. */
const PAID_TIMEOUT = 120_000

/**
 * Calls the plan's sellers in turn: each gets a request without payment, is paid within the budget,
 * and has its answer checked against the task's contract. If a seller fails or demands more than
 * the plan quoted, the next one is tried. A refusal by the directory's own relay ends the run.
 * @throws WaypostError if the directory does not know the task or refuses the input
 */
export async function doTask(
  waypost: Waypost,
  task: string,
  input: Record<string, unknown>,
  options: DoOptions = {},
): Promise<DoneTask> {
  const { pay, rail, network, budget = createBudget() } = options
  const { output: contract } = await waypost.task(task)
  if (contract === undefined)
    throw new WaypostError('no-contract', `${task} has no contract yet, so it cannot be planned.`)
  const filters = { rail, network, max_price_usd: pay?.maxUsd ?? 0, limit: MAX_SELLERS }
  const { rows } = await waypost.plan(task, input, filters)
  const { baseUrl } = waypost
  const run: Run = { contract, options, budget, baseUrl, spentUsd: 0, paid: new Set() }
  const nameOf = ({ seller }: PlanRow) => `${task} ${seller.id}`
  const hasFailed = (row: PlanRow) => Number(budget.failed.has(nameOf(row)))
  const attempts: Attempt[] = []
  for (const row of rows.toSorted((a, b) => hasFailed(a) - hasFailed(b))) {
    const { output, ...attempt } = await askSeller(run, row)
    attempts.push(attempt)
    options.onAttempt?.(attempt)
    if (output !== undefined || attempt.end === 'relay_refused') {
      budget.failed.delete(nameOf(row))
      const seller = output === undefined ? null : attempt.seller
      return { output: output ?? null, seller, attempts, spent_usd: run.spentUsd }
    }
    if (FAILED.has(attempt.end)) budget.failed.add(nameOf(row))
  }
  return { output: null, seller: null, attempts, spent_usd: run.spentUsd }
}

/** The outcomes for which the seller is to blame; all others come from the caller, or are only about price. */
const FAILED: ReadonlySet<AttemptEnd> = new Set([
  'unreachable',
  'timeout',
  'refused',
  'no_terms',
  'payment_asked_again',
  'wrong_answer',
  'cut_off',
])

/** One seller's turn, which starts without payment. */
async function askSeller(run: Run, row: PlanRow): Promise<Outcome> {
  const toOutcome = createOutcomes(row, 0, 'no')
  try {
    const response = await request(run, row, {}, run.options.timeoutMs ?? ASK_TIMEOUT)
    if (response.status !== 402) return await judge(run, row, response, toOutcome)
    const { pay } = run.options
    if (pay === undefined)
      return toOutcome('over_budget', 'the seller requires payment, and no wallet was given')
    return await considerTerms(run, row, { response, pay }, toOutcome)
  } catch (error) {
    return toFailed(run, row, error, toOutcome)
  }
}

function createOutcomes(row: PlanRow, usd: number, paid: Attempt['paid']): ToOutcome {
  return (end, detail) => ({ seller: row.seller.id, end, usd, paid, ...present({ detail }) })
}

/** Pays the seller's price, or returns the reason for not paying. */
async function considerTerms(
  run: Run,
  row: PlanRow,
  { response, pay }: { response: Response; pay: PayWith },
  toOutcome: ToOutcome,
): Promise<Outcome> {
  // Terms that exceed the limit for a 402 are treated as no terms.
  const terms = await readTerms(response).catch(() => null)
  discard(response)
  const quotes = readQuotes(response, terms, pay)
  const open = quotes.filter((quote) => !namesOf(row, quote).some((name) => run.paid.has(name)))
  const [cheapest] = open
  if (quotes.length === 0)
    return toOutcome('no_terms', 'the 402 offers no dollar coin that the wallet can pay with')
  if (cheapest === undefined)
    return toOutcome('paid_before', 'the payee or operator was already paid in this run')
  const { usd } = cheapest
  if (usd > quoteOf(row))
    return toOutcome('over_quote', `the seller requires $${usd}, but the plan quotes $${row.usd}`)
  const leftUsd = leftOf(run, pay)
  if (usd > leftUsd) return toOutcome('over_budget', `it costs $${usd}; $${leftUsd} is left`)
  const most = Math.min(quoteOf(row), leftUsd)
  const signed = await signCheapest(open, most).catch((error: unknown) => error)
  if (!isSigned(signed)) return toOutcome('wallet_refused', Object(signed).message)
  // Another run may have spent the budget while the wallet signed.
  if (signed.quote.usd > leftOf(run, pay)) return toOutcome('over_budget', 'nothing was sent')
  return paySeller(run, row, signed)
}

/** Names of the paid party: a wallet may be named on several networks, an operator may have many hosts. */
function namesOf({ seller, request: { url } }: PlanRow, { payee }: Quote): string[] {
  const { hostname } = new URL(url)
  return [hostname, seller.operator ?? hostname, normalizePayout(payee).split(':').at(-1) ?? '']
}

/** Payments are counted in millionths of a dollar, so a quote with more digits is rounded up. */
function quoteOf({ usd }: PlanRow): number {
  return usd === null ? 0 : Math.ceil(usd * 1e6 - 1e-3) / 1e6
}

function leftOf({ spentUsd, budget }: Run, { maxUsd }: PayWith): number {
  return Math.min(sumUsd(maxUsd, -spentUsd), sumUsd(budget.maxUsd, -budget.spentUsd))
}

/** Sums prices as whole billionths of a dollar. @example sumUsd(0.1, 0.2) → 0.3 */
function sumUsd(a: number, b: number): number {
  return (Math.round(a * 1e9) + Math.round(b * 1e9)) / 1e9
}

type Signed = Awaited<ReturnType<typeof signCheapest>>

function isSigned(value: unknown): value is Signed {
  return memberOf(value, 'quote') !== undefined
}

/** Sends the payment; from here on the money is treated as spent. */
async function paySeller(run: Run, row: PlanRow, { quote, payment }: Signed): Promise<Outcome> {
  const { budget, options } = run
  const { usd } = quote
  run.spentUsd = sumUsd(run.spentUsd, usd)
  budget.spentUsd = sumUsd(budget.spentUsd, usd)
  for (const name of namesOf(row, quote)) run.paid.add(name)
  const unsure = createOutcomes(row, usd, 'unsure')
  const sent = { [payment.name]: payment.value }
  try {
    const response = await request(run, row, sent, options.paidTimeoutMs ?? PAID_TIMEOUT)
    return await judgePaid(run, row, response, unsure)
  } catch (error) {
    return toFailed(run, row, error, unsure)
  }
}

async function judgePaid(
  run: Run,
  row: PlanRow,
  response: Response,
  unsure: ToOutcome,
): Promise<Outcome> {
  const receipt = receiptOf(response)
  const isPaid = response.ok || receipt !== undefined
  const paid = isPaid && memberOf(receipt, 'success') !== false ? 'paid' : 'unsure'
  const call_receipt = row.relay_url === undefined ? undefined : callReceiptIn(response)
  const toOutcome: ToOutcome = (end, detail) => ({
    ...{ ...unsure(end, detail), paid },
    ...present({ receipt, call_receipt }),
  })
  if (response.status !== 402) return judge(run, row, response, toOutcome)
  discard(response)
  return toOutcome('payment_asked_again', 'the seller required payment again after it was paid')
}

/** Sends one request to a seller, through the relay if the relay accepts it. */
async function request(
  { options, baseUrl }: Run,
  { request, relay_url }: PlanRow,
  payment: Record<string, string>,
  timeoutMs: number,
): Promise<Response> {
  const { method, headers, body } = request
  const { fetch: ask = fetch, signal = null, maxBytes = MAX_ANSWER_BYTES } = options
  const url = relay_url ?? request.url
  if (!mayAsk(url, baseUrl)) throw new WaypostError('unreachable', `${url} is not an https address`)
  return send(
    {
      ...{ url, method, signal },
      // A payment never follows a seller to another address.
      redirect: 'manual',
      headers: {
        accept: 'application/json, */*;q=0.5',
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...headers,
        ...payment,
      },
      ...(body !== undefined && { body: toBody(headers, body) }),
    },
    { fetch: ask, timeoutMs, maxBytes },
  )
}

/** Only a directory that itself runs without TLS may name addresses without TLS. */
function mayAsk(url: string, baseUrl: string): boolean {
  return url.startsWith('https://') || new URL(baseUrl).protocol === 'http:'
}

function toBody(headers: Record<string, string> | undefined, body: unknown): string {
  const type = headers?.['Content-Type'] ?? ''
  if (type !== 'application/x-www-form-urlencoded') return JSON.stringify(body)
  return String(new URLSearchParams(Object.entries(Object(body)).map(([k, v]) => [k, String(v)])))
}

/** The outcome if there is no answer: a failure of the seller, or of the relay in between. */
function toFailed(
  { options: { signal } }: Run,
  { relay_url }: PlanRow,
  error: unknown,
  toOutcome: ToOutcome,
): Outcome {
  if (signal?.aborted === true) throw signal.reason
  if (!(error instanceof WaypostError)) throw error
  if (error.code === 'timeout') return toOutcome('timeout', error.message)
  return toOutcome(relay_url === undefined ? 'unreachable' : 'relay_refused', error.message)
}

/** Refusals by the relay about this seller alone; any other refusal would repeat for the next seller. */
const ABOUT_SELLER = /^(?:seller-|listing-|not-relayable$|changed$)/

async function judge(
  { contract }: Run,
  { output: paths, relay_url }: PlanRow,
  response: Response,
  toOutcome: ToOutcome,
): Promise<Outcome> {
  // No seller's answer can name the relay in `Proxy-Status`: the relay drops such a line.
  const isOwn =
    relay_url !== undefined && response.headers.get('proxy-status')?.includes(PROXY_NAME)
  if (isOwn === true) {
    const { code = '', detail = '' } = readProblem(await response.text()) ?? {}
    const after = response.headers.get('retry-after')
    const again = after === null ? '' : ` Try again in ${after} s.`
    return toOutcome(ABOUT_SELLER.test(code) ? 'refused' : 'relay_refused', detail + again)
  }
  if (!response.ok) {
    discard(response)
    return toOutcome('refused', `status ${response.status}`)
  }
  const read = await readOutput(response, contract, paths).catch((error: unknown) => {
    if (!(error instanceof WaypostError) || error.code === 'timeout') throw error
    return error
  })
  if (read instanceof WaypostError)
    return toOutcome(read.code === 'too-large' ? 'wrong_answer' : 'cut_off', read.message)
  if ('fault' in read) return toOutcome('wrong_answer', read.fault)
  return { ...toOutcome('delivered'), output: read.output }
}

/** A seller's answer, parsed by the task's contract. Pictures and sounds become data URLs. */
async function readOutput(
  response: Response,
  contract: Record<string, unknown>,
  paths: Record<string, string>,
): Promise<TaskOutput> {
  const bytes = new Uint8Array(await response.arrayBuffer())
  if (bytes.length === 0) return { fault: 'the answer is empty' }
  const type = response.headers.get('content-type')?.split(';', 1)[0]?.trim() ?? ''
  return readTaskOutput(contract, paths, toValue(bytes, type))
}

function toValue(bytes: Uint8Array, type: string): unknown {
  if (/^(?:image|audio|video)\//.test(type) || type === 'application/octet-stream')
    return `data:${type};base64,${toBase64(bytes)}`
  const text = new TextDecoder().decode(bytes)
  return /\bjson$/.test(type) || /^\s*[[{]/.test(text) ? (parseJson(text) ?? text) : text
}
