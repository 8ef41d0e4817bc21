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

/** Deliveries for payments that count, in 30 days. Not part of the score. */
export const DeliveredSchema = v.object({
  ...figures,
  days: v.literal(30),
  /** How many calls got each other verdict. */
  others: OthersSchema,
  operations: v.array(
    v.object({ method: v.string(), url: v.string(), ...figures, others: OthersSchema }),
  ),
})
export type Delivered = v.InferOutput<typeof DeliveredSchema>

/** Most calls of one buyer that count, like its settlements. */
const MAX_CALLS = 10
/** How long after a call its payment may settle: an offer's time, plus drift (milliseconds). */
const SETTLES_WITHIN_MS = 15 * 60_000
const CLOCKS_APART_MS = 15_000
/** How long before its time parts of a block can be seen (milliseconds, Base). */
const PUBLIC_BEFORE_MS = 2_000
/** Requirements of the badge. */
export const DELIVERS = { calls: 10, buyers: 3, share: 0.95 } as const

/**
 * The deliveries of a listing's counted payments. A call counts like its buyer; a buyer without a
 * voucher counts nothing, and where nobody can be vouched for nothing is shown.
 *
 * A caller alone can cause a refusal and a second 402, by nonsense or one payment sent twice: they
 * count where the seller's own answer names the payment, or two buyers got them. So can a canned
 * answer, by another name for a common query: it counts if two buyers got one, or only one exists.
 *
 * Known limits: where an answer names no transaction, its call is only found by the nonce of an
 * EIP-3009 authorisation, and only if it came two seconds before the block; under other schemes it
 * counts nothing. A seller may replay payments it received directly through the relay, and answer
 * them well there.
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

/** Whether a call belongs to a payment, the surest sign first. */
const SIGNS: readonly ((call: WitnessedCall, payment: LedgerPayment) => boolean)[] = [
  (call, payment) => call.transaction === payment.transaction,
  // The payer had signed it, and nobody could have copied that from the chain.
  (call, payment) =>
    call.settled === payment.transaction && call.called_at <= payment.at - PUBLIC_BEFORE_MS,
  // The seller names the transaction: a call that names another one may still be paid by this.
  ({ transaction }) => transaction !== null,
]

/**
 * For each payment the earliest call it can belong to: sending it again later changes nothing. A
 * header alone proves nothing, since anybody can write that a buyer pays.
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

/** Buyers count fractionally, rounded on the wire. A call that could not be judged was not delivered. */
function toFigures(matched: readonly Matched[], weights: ReadonlyMap<string, number>) {
  const weigh = (rows: readonly { payer: string }[]) =>
    Math.round(rows.reduce((sum, { payer }) => sum + (weights.get(payer) ?? 0), 0) / FULL)
  const buyers = [...new Set(matched.map(({ payer }) => payer))].map((payer) => ({ payer }))
  const byVerdict = Map.groupBy(matched, ({ call }) => call.verdict)
  const others = DELIVERY_VERDICTS.flatMap((verdict) => {
    const number = verdict === 'as_declared' ? 0 : weigh(byVerdict.get(verdict) ?? [])
    return number > 0 ? [[verdict, number] as const] : []
  })
  return {
    delivered: weigh(byVerdict.get('as_declared') ?? []),
    paid_calls: weigh(matched),
    buyers: weigh(buyers),
    others: Object.fromEntries(others),
  }
}

/** Enough calls of enough buyers, and nearly all delivered. */
export function earnsDelivers(delivered: Delivered | undefined): boolean {
  if (delivered === undefined) return false
  const { delivered: good, paid_calls: all, buyers } = delivered
  return buyers >= DELIVERS.buyers && isKnownToDeliver(good, all)
}

/** Judged are at least as many as were answered as declared: both bounds hold for them. */
export function isKnownToDeliver(good: number, all: number): boolean {
  return good >= DELIVERS.calls && good >= all * DELIVERS.share
}
