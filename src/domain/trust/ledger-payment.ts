import * as v from 'valibot'
import { normalizePayout, PayoutSchema } from '../listing/caip-account.ts'
import { COUNTED_SCHEMES } from '../settlement/schemes/schemes.ts'
import { WASH_FLAGS } from '../wash/wash.ts'
import { count, textLike } from '../wire/shapes.ts'
import { InstantSchema } from './instant.ts'

/**
 * The verdict on a payment: it counts, or why it does not. Limits for one buyer's payments are not
 * a verdict, since the score itself applies them.
 */
export const VERDICTS = [
  'counted',
  ...WASH_FLAGS,
  /** Anybody can make a transfer of zero in anybody's name. */
  'nothing_paid',
  /** No seller proved the payee, and nobody published it for a known seller. */
  'payee_not_owned',
  /** The source of the payer's money has not been traced yet. */
  'payer_untraced',
] as const

const text = v.pipe(v.string(), v.minLength(1), v.maxLength(200))
const listings = v.array(text)

/** One payment that the meter read: a line of the published ledger. */
export const LedgerPaymentSchema = v.strictObject({
  network: text,
  transaction: text,
  /** Index of the transfer's log; 0 where a chain has none. */
  log: count,
  /** ISO 8601 in the file, milliseconds here: a month may have a million. */
  at: v.pipe(InstantSchema, v.transform(Date.parse)),
  /** Contract or mint of the coin. */
  asset: text,
  /** Smallest units of the coin. */
  amount: textLike(/^\d{1,78}$/, 'expected a whole number in decimal digits'),
  /** Millionths of a US dollar. */
  usd_micro: count,
  /** EVM addresses in lower case. */
  payer: text,
  payee: text,
  /** Null where an older version wrote the payment down. */
  scheme: v.nullable(v.picklist(COUNTED_SCHEMES)),
  /** The listings that it is a payment for: one where the relay's notes name it. */
  listings,
  verdict: v.picklist(VERDICTS),
})

/** Whose a payee is: a line of the published payees. */
export const LedgerPayeeSchema = v.strictObject({
  payee: PayoutSchema,
  /** The seller's domain. */
  owner: text,
  proof: v.picklist(['signature', 'published']),
  listings,
})

export type Verdict = (typeof VERDICTS)[number]
export type LedgerPayment = v.InferOutput<typeof LedgerPaymentSchema>
export type LedgerPayee = v.InferOutput<typeof LedgerPayeeSchema>

/** As the file has it: its members in order, and no others. */
export function toPublishedPayment(row: LedgerPayment): v.InferInput<typeof LedgerPaymentSchema> {
  return {
    network: row.network,
    transaction: row.transaction,
    log: row.log,
    at: new Date(row.at).toISOString(),
    asset: row.asset,
    amount: row.amount,
    usd_micro: row.usd_micro,
    payer: row.payer,
    payee: row.payee,
    scheme: row.scheme,
    listings: row.listings,
    verdict: row.verdict,
  }
}

/** By network first: a text put together for each of a million payments would be hashed each time. */
export function createPayeeLookup(payees: readonly LedgerPayee[]) {
  const networks = new Map<string, Map<string, LedgerPayee>>()
  for (const row of payees) {
    const account = normalizePayout(row.payee)
    const at = account.lastIndexOf(':')
    const network = account.slice(0, at)
    const own = networks.get(network) ?? new Map<string, LedgerPayee>()
    networks.set(network, own.set(account.slice(at + 1), row))
  }
  return ({ network, payee }: Pick<LedgerPayment, 'network' | 'payee'>): LedgerPayee | undefined =>
    networks.get(network)?.get(payee)
}
