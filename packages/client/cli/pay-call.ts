import { toSentences } from '../../../src/domain/pins/offer.ts'
import { judgePinned, type LockEntry, pinnedIn } from '../src/lock.ts'
import { type CallReply, type CallRequest, PAID_TIMEOUT, toUnsure } from '../src/relayed-call.ts'
import { type PayRules, type Quote, readQuotes, receiptIn } from '../src/seller-quote.ts'
import type { Waypost } from '../src/waypost.ts'
import { WaypostError } from '../src/waypost-error.ts'
import { toPrintable } from './printable.ts'

export interface CallBudget extends PayRules {
  /** The most the call may cost, in US dollars. */
  maxUsd: number
}

/**
 * A call that the wallet pays on the seller's cheapest rail: what `waypost.call` does only for
 * x402. It is sent once, and once more with the payment.
 *
 * @throws WaypostError `changed`, `over-budget` or `wallet-refused` before anything is sent, `payment-unsure`
 *   where an answer to the paid call never came
 */
export async function callPaying(
  waypost: Waypost,
  id: string,
  request: CallRequest,
  budget: CallBudget,
): Promise<CallReply> {
  const first = await waypost.call(id, request)
  if (first.response.status !== 402) return first
  const quotes = await readQuotes(first.response, budget)
  const quote = chooseQuote(quotes, budget.maxUsd, request.lock && pinnedIn(request.lock, id))
  console.error(toPrintable(`pays $${quote.usd} by ${quote.rail} to ${quote.payee ?? 'its payee'}`))
  const payment = await quote.sign()
  await first.response.body?.cancel()
  const headers = withPayment(request.headers ?? {}, payment)
  const paid = { ...request, headers, timeoutMs: PAID_TIMEOUT }
  const reply = await waypost.call(id, paid).catch((cause: unknown) => {
    // A call to something that changed was not forwarded.
    throw cause instanceof WaypostError && cause.code === 'changed' ? cause : toUnsure(cause)
  })
  return { ...reply, paid: true, receipt: receiptIn(reply.response) }
}

function chooseQuote(
  quotes: readonly Quote[],
  maxUsd: number,
  pinned: LockEntry | undefined,
): Quote {
  const faults = quotes.map((quote) => (pinned === undefined ? [] : judgePinned(pinned, quote)))
  const allowed = quotes.filter((_, at) => faults[at]?.length === 0)
  const [cheapest] = allowed
  if (cheapest !== undefined && cheapest.usd <= maxUsd) return cheapest
  const [fault] = faults
  if (allowed.length === 0 && fault !== undefined)
    throw refuse('changed', `${toSentences(fault)} Nothing was signed.`)
  throw refuse(
    'over-budget',
    cheapest === undefined
      ? 'The seller accepts no dollar coin that the wallet can sign; nothing was signed.'
      : `The seller asks for $${cheapest.usd}, the budget is $${maxUsd}; nothing was signed.`,
  )
}

function refuse(code: string, detail: string): WaypostError {
  return new WaypostError(code, detail, { status: 402 })
}

/** MPP pays in `Authorization`: two of them would be invalid. */
function withPayment(
  headers: Record<string, string>,
  { name, value }: { name: string; value: string },
): Record<string, string> {
  const others = Object.entries(headers).filter(([own]) => own.toLowerCase() !== name.toLowerCase())
  return { ...Object.fromEntries(others), [name]: value }
}
