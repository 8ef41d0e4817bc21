import * as v from 'valibot'
import { count } from '../wire/shapes.ts'
import { InstantSchema } from './instant.ts'
import { LedgerPayeeSchema, type LedgerPayment } from './ledger-payment.ts'
import { windowOf } from './score-listings.ts'

const text = v.pipe(v.string(), v.minLength(1), v.maxLength(200))

/** `GET /api/v1/trust/payees.json`: with the payment rows, everything a score is computed from. */
export const TrustPayeesSchema = v.object({
  /** End of the window; null without a meter. */
  as_of: v.nullable(InstantSchema),
  /** Domains of the known sellers: payments to them vouch. Without sellers of money equivalents. */
  seeds: v.array(text),
  payees: v.array(LedgerPayeeSchema),
})
export type TrustPayees = v.InferOutput<typeof TrustPayeesSchema>

/** Both files: exactly the data a score is computed from. */
export interface LedgerFiles extends Omit<TrustPayees, 'as_of'> {
  as_of: string
  payments: readonly LedgerPayment[]
}

const FileSchema = v.object({ url: v.string(), bytes: count, sha256: v.string() })

/** The location of the rows, in `/api/v1/stats`. */
export const TrustLedgerSchema = v.object({
  as_of: v.nullable(InstantSchema),
  payments: count,
  ndjson: FileSchema,
  gz: FileSchema,
  payees: FileSchema,
})
export type TrustLedgerFacts = v.InferOutput<typeof TrustLedgerSchema>

/** Payments that a page shows of its listing; the published file has all of them. */
export const SHOWN_PAYMENTS = 20

/** The newest payments of the window by listing id, counted or not. */
export function findNewest({
  asOf,
  payments,
}: {
  asOf: number
  payments: readonly LedgerPayment[]
}): Map<string, LedgerPayment[]> {
  const newest = new Map<string, LedgerPayment[]>()
  const inOrder = payments.filter(({ at }) => windowOf(at, asOf) === 0).sort(byNewest)
  for (const payment of inOrder)
    for (const id of payment.listings) {
      const own = newest.get(id) ?? []
      if (own.length < SHOWN_PAYMENTS) own.push(payment)
      newest.set(id, own)
    }
  return newest
}

function byNewest(one: LedgerPayment, other: LedgerPayment): number {
  if (one.at !== other.at) return other.at - one.at
  if (one.transaction !== other.transaction) return one.transaction < other.transaction ? -1 : 1
  return one.log - other.log
}
