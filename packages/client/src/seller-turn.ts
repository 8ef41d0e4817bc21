import type { TaskPlan } from './answers.ts'
import {
  type PayRules,
  readQuotes,
  receiptIn,
  saysUnpaid,
  type TaskWallet,
} from './seller-quote.ts'
import { type Sent, send } from './seller-request.ts'
import { type Session, sumUsd, toNano } from './spending.ts'
import { judgeAnswer } from './task-answer.ts'
import { readVerdict, type Witnessed, witnessedIn } from './witnessed.ts'

export interface DoOptions {
  /** Without it only free sellers are called. */
  pay?: {
    wallet: TaskWallet
    /** The most the deed may cost over all attempts, in US dollars. */
    maxUsd: number
    /** Coins of test networks count as dollars too. */
    allowTestCoins?: boolean
  }
  rail?: 'x402' | 'mpp' | undefined
  network?: string | undefined
  /** Shares money and knowledge of sellers between deeds; else this deed has its own. */
  session?: Session
  /** Names the deed: the same name resumes where it was interrupted, and pays nobody twice. */
  deed?: string
  /** Called with each step as it happens. */
  onAttempt?: (attempt: Attempt) => void
  /** Milliseconds a seller may take to name its price, or to answer without one. */
  timeoutMs?: number
  /** Milliseconds a paid seller may take. */
  paidTimeoutMs?: number
  signal?: AbortSignal
  fetch?: typeof fetch
}

/** The outcome of one seller's turn. */
export type AttemptEnd =
  | 'delivered'
  | 'unreachable'
  | 'timeout'
  | 'refused'
  | 'over_budget'
  | 'dearer'
  | 'no_terms'
  | 'wallet_refused'
  | 'payment_asked_again'
  | 'wrong_answer'
  | 'cut_off'

export interface Attempt {
  seller: string
  end: AttemptEnd
  /** The amount sent to this seller in US dollars. */
  usd: number
  /** Whether it took the money: `no` where none was sent, or the seller itself says so. */
  paid: 'no' | 'paid' | 'unsure'
  detail?: string
  /** The seller's report on the settlement. */
  receipt?: unknown
  /** The directory's own receipt, where the call went through its relay. */
  witnessed?: Witnessed
}

export type PlanRow = TaskPlan['rows'][number]

export interface Turn {
  deed: string
  task: string
  contract: Record<string, unknown>
  session: Session
  options: DoOptions
  /** Prices of payments that were sent in this deed. */
  spent: number[]
  baseUrl: string
}

const ASK_TIMEOUT = 20_000
/** Sellers settle after they answer: a paid call that is aborted early may have been paid. */
const PAID_TIMEOUT = 120_000
type Outcome = Attempt & { output?: Record<string, unknown>; asked?: number }

/**
 * One seller's turn: asked without payment first, and paid where its price is within the budget.
 *
 * @param mostUsd what the plan says this seller asks
 */
export async function askSeller(turn: Turn, row: PlanRow, mostUsd: number): Promise<Outcome> {
  const seller = row.seller.id
  const unpaid = (end: AttemptEnd, detail?: string): Outcome => ({
    ...{ seller, end, usd: 0, paid: 'no' as const },
    ...(detail !== undefined && { detail }),
  })
  const { pay, timeoutMs = ASK_TIMEOUT } = turn.options
  const first = await send(turn, row, {}, timeoutMs)
  if ('failed' in first) return unpaid(first.failed, first.detail)
  if (first.response.status !== 402) return judge(turn, row, first, unpaid)
  if (pay === undefined) return unpaid('over_budget', 'it asks for money, and no wallet was given')
  const rules: PayRules = { wallet: pay.wallet, allowTestCoins: pay.allowTestCoins ?? false }
  const quotes = await readQuotes(first.response, rules).catch(() => [])
  await leave(first)
  const [quote] = quotes
  if (quote === undefined)
    return unpaid('no_terms', 'its 402 has no terms in a dollar coin that the wallet can sign')
  const { usd } = quote
  if (toNano(sumUsd([...turn.spent, usd])) > toNano(pay.maxUsd))
    return unpaid('over_budget', `it asks $${usd}; $${left(turn, pay.maxUsd)} are left`)
  if (usd > mostUsd) return { ...unpaid('dearer', `it asks $${usd}`), asked: usd }
  const id = await turn.session.reserve({ deed: turn.deed, task: turn.task, seller, usd })
  if (id === null) return unpaid('over_budget', 'the budget of the session does not allow it')
  return paySeller(turn, row, { ...quote, id })
}

function left({ spent }: Turn, maxUsd: number): number {
  return (toNano(maxUsd) - toNano(sumUsd(spent))) / 1e9
}

/** From here on the money counts as spent: it was recorded before. */
async function paySeller(
  turn: Turn,
  row: PlanRow,
  {
    id,
    usd,
    sign,
  }: { id: string; usd: number; sign: () => Promise<{ name: string; value: string }> },
): Promise<Outcome> {
  const seller = row.seller.id
  const { session, options } = turn
  const signed = await sign().catch((error: unknown) => error)
  if (!isHeader(signed)) {
    // Nothing was sent, but a wallet may have signed before it failed: the reservation stays.
    await session.settle(id, 'unsure')
    const detail = signed instanceof Error ? signed.message : String(signed)
    return { seller, end: 'wallet_refused', usd: 0, paid: 'no', detail }
  }
  turn.spent.push(usd)
  const headers = { [signed.name]: signed.value }
  const answer = await send(turn, row, headers, options.paidTimeoutMs ?? PAID_TIMEOUT)
  if ('failed' in answer) {
    await session.settle(id, 'unsure')
    return { seller, end: answer.failed, usd, paid: 'unsure', detail: answer.detail }
  }
  const receipt = receiptIn(answer.response)
  const isPaid = answer.response.ok || receipt !== undefined
  const paid: 'paid' | 'unsure' = isPaid && !saysUnpaid(receipt) ? 'paid' : 'unsure'
  await session.settle(id, paid)
  const witnessed = row.relay_url === undefined ? undefined : witnessedIn(answer.response)
  const told = (end: AttemptEnd, detail?: string): Outcome => ({
    ...{ seller, end, usd, paid },
    ...(detail !== undefined && { detail }),
    ...(receipt !== undefined && { receipt }),
    ...(witnessed !== undefined && { witnessed }),
  })
  if (answer.response.status !== 402)
    return holdAgainstReceipt(turn, await judge(turn, row, answer, told))
  await leave(answer)
  return told('payment_asked_again', 'it asked for money again after it was paid')
}

/** Ends the time limit too: it would keep the process of a finished command alive. */
async function leave({ response, stop }: Sent): Promise<void> {
  await response.body?.cancel().catch(() => undefined)
  stop()
}

/** Verdicts on an answer that may have the task's shape but still does not deliver. */
const NO_DELIVERY = new Set(['canned', 'empty', 'error_in_200'])

/** The directory has seen other callers' answers: a copy of one looks right to this caller. */
async function holdAgainstReceipt({ baseUrl, options }: Turn, outcome: Outcome): Promise<Outcome> {
  const { end, seller, witnessed } = outcome
  if (end !== 'delivered' || witnessed === undefined) return outcome
  const seen = await readVerdict(baseUrl, { id: witnessed.id, seller }, options.fetch)
  if (seen === undefined) return outcome
  const judged = { ...outcome, witnessed: { ...witnessed, verdict: seen.verdict } }
  if (!NO_DELIVERY.has(seen.verdict)) return judged
  const { output: _, ...rest } = judged
  return { ...rest, end: 'wrong_answer', detail: seen.reason }
}

function isHeader(value: unknown): value is { name: string; value: string } {
  return typeof value === 'object' && value !== null && !(value instanceof Error)
}

async function judge(
  { contract }: Turn,
  { output: paths }: PlanRow,
  { response, stop }: Sent,
  toOutcome: (end: AttemptEnd, detail?: string) => Outcome,
): Promise<Outcome> {
  try {
    if (!response.ok) {
      await response.body?.cancel()
      return toOutcome('refused', `status ${response.status}`)
    }
    const read = await judgeAnswer(response, contract, paths)
    if ('fault' in read) return toOutcome('wrong_answer', read.fault)
    return { ...toOutcome('delivered'), output: read.output }
  } catch (error) {
    return toOutcome('cut_off', error instanceof Error ? error.message : String(error))
  } finally {
    stop()
  }
}
