import * as v from 'valibot'
import { count } from '../wire/shapes.ts'
import { InstantSchema } from './instant.ts'
import { LedgerPayeeSchema } from './ledger-payment.ts'

const text = v.pipe(v.string(), v.minLength(1), v.maxLength(200))

/** `GET /api/v1/trust/payees.json`: with the rows of the payments, all that a score is made from. */
export const TrustPayeesSchema = v.object({
  /** End of the window. */
  as_of: InstantSchema,
  /** Domains of sellers whose buyers are known: an owner among them vouches. */
  seeds: v.array(text),
  /** Sellers that people chose as independent, and why; those that sell what is as good as money are no seeds. */
  operators: v.array(v.object({ domain: text, name: text, why: text })),
  payees: v.array(LedgerPayeeSchema),
})
export type TrustPayees = v.InferOutput<typeof TrustPayeesSchema>

const FileSchema = v.object({ url: v.string(), bytes: count, sha256: v.string() })

/** Where the rows are, in `/api/v1/stats`. */
export const TrustLedgerSchema = v.object({
  as_of: InstantSchema,
  payments: count,
  ndjson: FileSchema,
  gz: FileSchema,
  payees: FileSchema,
})
export type TrustLedgerFacts = v.InferOutput<typeof TrustLedgerSchema>
