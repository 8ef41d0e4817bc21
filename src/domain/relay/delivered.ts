import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import * as v from 'valibot'
import { normalizePayout } from '../listing/networks.ts'
import { toCountText } from '../listing/pricing.ts'
import { HashSchema } from '../trust/evm-payments.ts'
import type { JudgedCall, LedgerPayment } from '../trust/ledger-facts.ts'
import { FULL, isVouchedSale, type ListingScore } from '../trust/score-listings.ts'
import { readSolanaTransfer, tokenAccountOf } from '../trust/solana-payments.ts'
import { toCaip2 } from '../trust/usd-assets.ts'
import { normalizeWallet } from '../trust/wash.ts'
import { memberOf, parseBase64Json } from '../wire/json.ts'
import { count } from '../wire/shapes.ts'
import { DELIVERY_VERDICTS, VERDICT_WORDS } from '../wire/vocabulary.ts'
import { readSignedPayee } from './pins.ts'
import { paymentsIn, type RawHeaders, valuesOf } from './relayed-headers.ts'

const figures = { delivered: count, paid_calls: count, buyers: count }
const OthersSchema = v.partial(
  v.object(Object.fromEntries(DELIVERY_VERDICTS.map((verdict) => [verdict, count]))),
)

/** Deliveries for accepted payments, in 30 days. They are not part of the score. */
export const DeliveredSchema = v.object({
  ...figures,
  days: v.literal(30),
  /** The number of calls for each of the other verdicts. */
  others: OthersSchema,
  operations: v.array(
    v.object({ method: v.string(), url: v.string(), ...figures, others: OthersSchema }),
  ),
})
export type Delivered = v.InferOutput<typeof DeliveredSchema>

/** How many calls are counted for one buyer, the same as the limit for its settlements. */
const MAX_CALLS = 10
/** How long after a call its payment may settle: an offer's lifetime, plus drift (milliseconds). */
const SETTLES_WITHIN_MS = 15 * 60_000
const CLOCKS_APART_MS = 15_000
/** How long before a block's timestamp some of its contents can already be seen (milliseconds, Base). */
const PUBLIC_BEFORE_MS = 2_000
/** Requirements of the badge. */
export const DELIVERS = { calls: 10, buyers: 3, share: 0.95 } as const

/**
 * The deliveries for a listing's accepted payments. A call is counted with its buyer's weight, which is zero if nobody
 * vouches for the buyer. If the vouching rule does not apply, no deliveries are shown.
 *
 * A caller alone can cause a refusal by sending nonsense, or a second 402 by sending one payment twice. These outcomes
 * are counted only if the seller's own answer names the payment, or if two buyers got them.
 *
 * Known limits: if an answer names no transaction, its call can be found only by the nonce of an EIP-3009
 * authorisation, and only if the call came two seconds before the block; under other schemes the call is not counted. A
 * seller that got payments directly may send them again through the relay, and answer them well there.
 */
export function countDelivered(
  calls: readonly JudgedCall[],
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
  call: JudgedCall
  payer: string
  isNamed: boolean
}

/** Signs that a call belongs to a payment, the surest first. */
const SIGNS: readonly ((call: JudgedCall, payment: LedgerPayment) => boolean)[] = [
  ({ isNamed, transaction }, payment) => isNamed && transaction === payment.transaction,
  // The payer had signed the nonce, and nobody could have copied it from the chain.
  (call, payment) =>
    call.settled === payment.transaction && call.called_at <= payment.at - PUBLIC_BEFORE_MS,
  // The answer names a transaction: even if that is not this payment's, this payment may have paid for the call.
  ({ isNamed }) => isNamed,
]

/**
 * For each payment, the earliest call it can belong to: a later call with that payment changes
 * nothing. A header alone proves nothing: anybody can send a payment with a buyer's name in it.
 */
function matchPayments(
  calls: readonly JudgedCall[],
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

/** Whether a payment settled at this time can be the one that a call carried. */
export function isInTime(
  { called_at }: Pick<JudgedCall, 'called_at'>,
  { at }: Pick<LedgerPayment, 'at'>,
): boolean {
  return called_at <= at + CLOCKS_APART_MS && called_at >= at - SETTLES_WITHIN_MS
}

/** The newest calls of each buyer. */
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
  const refused = matched.filter(isRefused)
  return new Set(refused.map(({ payer }) => payer)).size < 2
    ? matched.filter((one) => !isRefused(one))
    : [...matched]
}

/** Rounds: a buyer may be counted as a fraction. A call that could not be judged was not delivered. */
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

/** Whether enough buyers made enough calls, and nearly all of the calls were delivered. */
export function earnsDelivers(delivered: Delivered | undefined): boolean {
  if (delivered === undefined) return false
  const { delivered: good, paid_calls: all, buyers } = delivered
  return buyers >= DELIVERS.buyers && isKnownToDeliver(good, all)
}

/** Whether at least `DELIVERS.calls` answers were good, and at least `DELIVERS.share` of all answers. */
export function isKnownToDeliver(good: number, all: number): boolean {
  return good >= DELIVERS.calls && good >= all * DELIVERS.share
}

/** @example toDeliveredText(figures) → 'Delivered 41 of 43 paid calls of 7 buyers (30 days)' */
export function toDeliveredText({
  delivered,
  paid_calls,
  buyers,
}: Pick<Delivered, 'delivered' | 'paid_calls' | 'buyers'>): string {
  return `Delivered ${delivered} of ${toCountText(paid_calls, 'paid call')} of ${toCountText(buyers, 'buyer')} (30 days)`
}

/** Outcomes of the other calls. @example 'Of the others, 2 were cut off, 1 was too large to judge.' */
export function toOthersText({ others }: Pick<Delivered, 'others'>): string {
  const parts = DELIVERY_VERDICTS.flatMap((verdict) => {
    const number = others[verdict] ?? 0
    return number > 0
      ? [`${number} ${number === 1 ? 'was' : 'were'} ${VERDICT_WORDS[verdict]}`]
      : []
  })
  return parts.length === 0 ? '' : `Of the others, ${parts.join(', ')}.`
}

/** Marks of the payments in a request, used to find them again among the payments that the meter reads. */
export type PaymentMarks = NonNullable<ReturnType<typeof readMarks>>

/**
 * Null if payer and payee cannot be read, or if a request names two payers, in two payments or in
 * two members of one payment: one of them really pays, and the other could be anybody.
 */
export function toPaymentMarks(payments: readonly object[]): PaymentMarks | null {
  const [first, ...others] = payments.map(readMarks)
  const isSame = (marks: PaymentMarks | null) =>
    marks?.payment === first?.payment && marks?.authorization === first?.authorization
  return others.every(isSame) ? (first ?? null) : null
}

/** Members of a payload that name the payer; each scheme uses one of them. */
const PAYING = ['authorization', 'permit2Authorization', 'channelConfig', 'from', 'transaction']

function readMarks(payment: object) {
  const payload = memberOf(payment, 'payload')
  const [paying, ...others] = PAYING.filter((name) => memberOf(payload, name) !== undefined)
  if (paying === undefined || others.length > 0) return null
  const payer = paying === 'transaction' ? null : readPayer(memberOf(payload, paying))
  const payee = payer === null ? null : readSignedPayee(payment)
  if (payer !== null && payee !== null) {
    const mark = toMark(payee, payer)
    const nonce = readNonce(payload)
    return {
      /** The mark for payer and payee, which anybody can write. */
      payment: mark,
      /**
       * The same mark with the nonce that the payer signed (EIP-3009); null under other schemes.
       * Until the payment is on its chain, only its payer and its seller know the nonce.
       */
      authorization: nonce === null ? null : `${mark} ${nonce}`,
    }
  }
  const transfer = readSolanaTransfer(memberOf(payload, 'transaction'))
  if (transfer === null) return null
  const network = memberOf(memberOf(payment, 'accepted') ?? payment, 'network')
  const account = `${toCaip2(String(network))}:${transfer.destination}`
  return { payment: toMark(account, transfer.authority), authorization: null }
}

/** The mark `authorization`, for a payment that a chain shows with its authorisation. */
export function authorizationMarkOf(
  { network, payee, payer }: Pick<LedgerPayment, 'network' | 'payee' | 'payer'>,
  nonce: string,
): string {
  return `${toMark(`${network}:${payee}`, payer)} ${nonce.toLowerCase()}`
}

/**
 * The mark `payment` for payments that the meter read. On Solana a client signs for the payee's
 * token account, which takes a while to compute.
 */
export function createPaymentMarks(): (payment: LedgerPayment) => string {
  const accounts = new Map<string, string | null>()
  return ({ network, asset, payee, payer }) => {
    if (!network.startsWith('solana:')) return toMark(`${network}:${payee}`, payer)
    const key = `${payee} ${asset}`
    const account = accounts.get(key) ?? tokenAccountOf(payee, asset)
    accounts.set(key, account)
    return toMark(`${network}:${account}`, payer)
  }
}

function toMark(payee: string, payer: string): string {
  return `${normalizePayout(payee)} ${normalizeWallet(payer)}`
}

/** @param paying an x402 authorisation or permit, or the address itself, as MPP states it */
function readPayer(paying: unknown): string | null {
  const payer = typeof paying === 'string' ? paying : memberOf(paying, 'from')
  return typeof payer === 'string' && /^\w{20,100}$/.test(payer) ? payer : null
}

/** The nonce in an x402 payload, or in an MPP payload, which has no member around the authorisation. */
function readNonce(payload: unknown): string | null {
  const nonce = memberOf(memberOf(payload, 'authorization') ?? payload, 'nonce')
  return typeof nonce === 'string' && /^0x[\da-f]{64}$/i.test(nonce) ? nonce.toLowerCase() : null
}

const word = v.pipe(v.string(), v.minLength(1))
const terms = { scheme: word, network: word }

/** The required members of each protocol's payments, whatever scheme, method or network. */
const AnyPaymentSchema = v.union([
  v.object({ x402Version: v.literal(1), ...terms, payload: v.looseObject({}) }),
  v.object({
    x402Version: v.literal(2),
    accepted: v.object({ ...terms, amount: word, payTo: word }),
    payload: v.looseObject({}),
  }),
  // An MPP payment: the challenge as it was posed, and what answers it.
  v.object({
    challenge: v.object({ id: word, method: word, intent: word, request: word }),
    payload: v.looseObject({}),
  }),
])

/** Anything that parses as an x402 or MPP payment; the seller judges whether it is valid. */
export function decodePayments(raw: RawHeaders): object[] {
  return paymentsIn(raw)
    .map((payment) => parseBase64Json(payment))
    .filter((payment) => v.is(AnyPaymentSchema, payment))
}

/** Longest header that is decoded; a settlement is a few hundred bytes. */
const MAX_HEADER_LENGTH = 64 * 1024

/** 0x and 64 hex digits in lower case, or a Solana signature. */
const transaction = v.union([
  HashSchema,
  v.pipe(v.string(), v.regex(/^[1-9A-HJ-NP-Za-km-z]{64,90}$/)),
])

/** The seller's report on the settlement, in x402 and in MPP. */
const NamedSchema = v.union([
  v.pipe(
    v.object({ success: v.literal(true), transaction }),
    v.transform((settled) => settled.transaction),
  ),
  v.pipe(
    v.object({ status: v.literal('success'), reference: transaction }),
    v.transform((receipt) => receipt.reference),
  ),
])

/**
 * The transaction that a seller's answer names as its payment, in x402 or MPP. It is only the
 * seller's claim: it tells the meter where to look.
 * @returns null if the answer names no transaction, as for an unpaid call, a voucher or a card
 */
export function readSettledTransaction(response: RawHeaders): string | null {
  for (const name of ['payment-response', 'x-payment-response', 'payment-receipt']) {
    const [value] = valuesOf(response, name)
    if (value === undefined) continue
    const read = v.safeParse(NamedSchema, parseBase64Json(value, MAX_HEADER_LENGTH))
    if (read.success) return read.output
  }
  return null
}
