import * as v from 'valibot'
import { PayoutSchema } from '../listing/caip-account.ts'
import { PriceSchema } from '../listing/pricing.ts'
import { PROBE_OUTCOMES } from '../wire/vocabulary.ts'
import { InstantSchema } from './instant.ts'

/** Payees of one operation that are kept. */
export const MAX_PAY_TO = 10

export const OutcomeSchema = v.picklist(
  PROBE_OUTCOMES,
  `expected one of ${PROBE_OUTCOMES.join(', ')}`,
)

export const StatusSchema = v.pipe(
  v.number(),
  v.integer(),
  v.minValue(100),
  v.maxValue(599, 'expected an HTTP status'),
)

export const SawSchema = v.pipe(
  v.string(),
  v.maxLength(200, 'expected at most 200 characters'),
  v.regex(/^[^\p{Cc}\p{Cf}\u2028\u2029]+$/u, 'expected one printable line'),
)

/** What our probe's own call of one operation came to: evidence member `interface.operations[].seen`. */
export const SeenAnswerSchema = v.strictObject({
  /** Absent where it is the interface's own time, so that a run that sees the same changes one line. */
  at: v.optional(InstantSchema),
  outcome: OutcomeSchema,
  status: v.optional(StatusSchema),
  /** What its last 402 asked for one call, the cheapest offer and the dearest (USD). */
  min_usd: v.optional(PriceSchema),
  max_usd: v.optional(PriceSchema),
  /** Whom its last 402 asked to pay, CAIP-10. */
  pay_to: v.optional(v.pipe(v.array(PayoutSchema), v.maxLength(MAX_PAY_TO))),
  saw: v.optional(SawSchema),
})
export type SeenAnswer = v.InferOutput<typeof SeenAnswerSchema>
