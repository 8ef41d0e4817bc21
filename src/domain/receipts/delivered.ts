import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import * as v from 'valibot'
import { FULL } from '../independence/weigh-buyer.ts'
import type { WitnessedCall } from '../trust/ledger-facts.ts'
import type { LedgerPayment } from '../trust/ledger-payment.ts'
import { isVouchedSale, type ListingScore } from '../trust/score-listings.ts'
import { count } from '../wire/shapes.ts'
import { DELIVERY_VERDICTS } from '../wire/vocabulary.ts'
import { createPaymentMarks } from './payment-mark.ts'

const figures = { delivered: count, paid_calls: count, buyers: count }
const OthersSchema = v.partial(
  v.object(Object.fromEntries(DELIVERY_VERDICTS.map((verdict) => [verdict, count]))),
)

/** What came back for payments that count, in 30 days. It is not part of the score. */
export const DeliveredSchema = v.object({
  ...figures,
  days: v.literal(30),
  /** How many calls of each other verdict. */
  others: OthersSchema,
  operations: v.array(
    v.object({ method: v.string(), url: v.string(), ...figures, others: OthersSchema }),
  ),
})
export type Delivered = v.InferOutput<typeof DeliveredSchema>

/** Of one buyer so many calls count, as so many settlements do. */
const MAX_CALLS = 10
/** A seller settles within what an offer allows; clocks of chains are some seconds off (milliseconds). */
const SETTLES_WITHIN_MS = 15 * 60_000
const CLOCKS_APART_MS = 15_000
/** A block is seen in parts while it is built, up to so long before its time (milliseconds, Base). */
const PUBLIC_BEFORE_MS = 2_000
/** What the badge takes. */
export const DELIVERS = { calls: 10, buyers: 3, share: 0.95 } as const

/**
 * Which of a listing's payments that count came with what. A call counts as its buyer does; who is not
 * vouched for counts nothing, and where nobody can be vouched for nothing is shown.
 *
 * A refusal and a second 402 can be brought about by a caller alone, who sends nonsense or one payment twice:
 * they count where the seller's own answer names the payment, or two buyers met them. So can a canned answer,
 * by another name of what others ask for: it counts where two buyers met one, or there is but one.
 *
 * Known limits: where an answer names no transaction, its call is found by the nonce of an EIP-3009
 * authorisation alone, and only if it came two seconds before the block; under other schemes it counts
 * nothing. A seller may pass payments that came to it directly through the relay itself, and answer them well
 * there.
 */
export function countDelivered(
  calls: readonly WitnessedCall[],
  payments: readonly LedgerPayment[],
  scores: ReadonlyMap<string, ListingScore>,
): Map<string, Delivered> {
  const counted = new Map<string, Delivered>()
  const markOf = createPaymentMarks()
  for (const [id, own] of Map.groupBy(calls, ({ listing_id }) => listing_id)) {
    const score = scores.get(id)
    const paid = payments.filter((row) => row.listings.includes(id) && isVouchedSale(row, score))
    if (score === undefined || paid.length === 0) continue
    const matched = dropWhatOneBuyerCaused(limitBuyers(matchPayments(own, paid, markOf)))
    const all = toFigures(matched, score.buyers)
    if (all.buyers === 0 || all.paid_calls === 0) continue
    const byCall = Map.groupBy(matched, ({ call }) => call.call)
    const operations = [...byCall]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([call, rows]) => {
        const [method = '', url = ''] = call.split(' ')
        return { method, url, ...toFigures(rows, score.buyers) }
      })
    counted.set(id, { ...all, days: 30, operations })
  }
  return counted
}

interface Matched {
  call: WitnessedCall
  payer: string
  isNamed: boolean
}

/** Whether a call is of a payment, the surest sign first. */
const SIGNS: readonly ((call: WitnessedCall, payment: LedgerPayment) => boolean)[] = [
  (call, payment) => call.transaction === payment.transaction,
  // The payer had signed it, and nobody could have copied that from the chain.
  (call, payment) =>
    call.settled === payment.transaction && call.called_at <= payment.at - PUBLIC_BEFORE_MS,
  // A seller writes what a call names: one that names something else is not beyond being paid for.
  ({ transaction }) => transaction !== null,
]

/**
 * For each payment the earliest call that it can be of: a caller who sends it again later changes nothing.
 * A header alone proves nothing, since anybody can write that a buyer pays.
 */
function matchPayments(
  calls: readonly WitnessedCall[],
  payments: readonly LedgerPayment[],
  markOf: (payment: LedgerPayment) => string,
): Matched[] {
  const open = Map.groupBy(
    calls.toSorted((a, b) => a.called_at - b.called_at),
    ({ payment }) => payment,
  )
  const matched: Matched[] = []
  let left = payments
    .toSorted((a, b) => a.at - b.at)
    .flatMap((payment) => {
      const mine = open.get(bytesToHex(sha256(utf8ToBytes(markOf(payment)))))
      return mine === undefined ? [] : [{ payment, mine }]
    })
  for (const [rank, isOf] of SIGNS.entries())
    left = left.filter(({ payment, mine }) => {
      const call = mine.find((one) => isInTime(one, payment) && isOf(one, payment))
      if (call === undefined) return true
      mine.splice(mine.indexOf(call), 1)
      matched.push({ call, payer: payment.payer, isNamed: rank === 0 })
      return false
    })
  return matched
}

/** Whether a payment of this time can be the one that a call carried. */
export function isInTime(
  { called_at }: Pick<WitnessedCall, 'called_at'>,
  { at }: Pick<LedgerPayment, 'at'>,
): boolean {
  return called_at <= at + CLOCKS_APART_MS && called_at >= at - SETTLES_WITHIN_MS
}

/** The newest of each buyer. */
function limitBuyers(matched: readonly Matched[]): Matched[] {
  const byBuyer = Map.groupBy(
    matched.toSorted((a, b) => b.call.called_at - a.call.called_at),
    ({ payer }) => payer,
  )
  return [...byBuyer.values()].flatMap((own) => own.slice(0, MAX_CALLS))
}

function dropWhatOneBuyerCaused(matched: readonly Matched[]): Matched[] {
  const isRefused = ({ call, isNamed }: Matched) =>
    !isNamed && (call.verdict === 'refused' || call.verdict === 'payment_asked_again')
  const isCanned = ({ call }: Matched) => call.verdict === 'canned'
  const countPayers = (some: readonly Matched[]) => new Set(some.map(({ payer }) => payer)).size
  const isAlone = countPayers(matched) === 1
  const dropped = [isRefused, ...(isAlone ? [] : [isCanned])].filter(
    (isOpen) => countPayers(matched.filter(isOpen)) < 2,
  )
  return matched.filter((one) => !dropped.some((isOpen) => isOpen(one)))
}

/** Buyers count in part; the wire has whole ones. What was not judged is neither delivered nor not, and named. */
function toFigures(matched: readonly Matched[], weights: ReadonlyMap<string, number>) {
  const judged = matched.filter(({ call }) => call.verdict !== 'too_large_to_judge')
  const weigh = (rows: readonly { payer: string }[]) =>
    Math.round(rows.reduce((sum, { payer }) => sum + (weights.get(payer) ?? 0), 0) / FULL)
  const buyers = [...new Set(judged.map(({ payer }) => payer))].map((payer) => ({ payer }))
  const byVerdict = Map.groupBy(matched, ({ call }) => call.verdict)
  const others = DELIVERY_VERDICTS.flatMap((verdict) => {
    const number = verdict === 'as_declared' ? 0 : weigh(byVerdict.get(verdict) ?? [])
    return number > 0 ? [[verdict, number] as const] : []
  })
  return {
    delivered: weigh(byVerdict.get('as_declared') ?? []),
    paid_calls: weigh(judged),
    buyers: weigh(buyers),
    others: Object.fromEntries(others),
  }
}

/** Enough calls of enough buyers, and nearly all delivered: what nobody could judge was not seen to be. */
export function earnsDelivers(delivered: Delivered | undefined): boolean {
  if (delivered === undefined) return false
  const { delivered: good, paid_calls: judged, buyers, others } = delivered
  const all = judged + (others.too_large_to_judge ?? 0)
  return judged >= DELIVERS.calls && buyers >= DELIVERS.buyers && good >= all * DELIVERS.share
}
