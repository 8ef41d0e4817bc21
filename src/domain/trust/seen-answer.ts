import * as v from 'valibot'
import { PayoutSchema } from '../listing/networks.ts'
import { NetworkSchema, PriceSchema } from '../listing/pricing.ts'
import { InstantSchema } from '../wire/dates.ts'
import { textLike, whole } from '../wire/shapes.ts'
import { DELIVERY_VERDICTS, PROBE_OUTCOMES } from '../wire/vocabulary.ts'

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

const shortWord = textLike(
  /^[\x21-\x7e]{1,200}$/,
  'expected at most 200 characters, without blanks',
)
const shortLine = textLike(/^[\x20-\x7e]{1,200}$/, 'expected one line of at most 200 characters')
/** Members of `extra` that are kept; an offer with more, or with members inside members, is not kept. */
const MAX_EXTRA = 10

/** An offer of a 402 with everything a payer signs, in the words of x402 version 2. */
export const AcceptSchema = v.strictObject({
  scheme: shortWord,
  /** CAIP-2, also where the 402 wrote a name. */
  network: NetworkSchema,
  asset: shortWord,
  /** Atomic units of the asset. */
  amount: textLike(/^\d{1,40}$/, 'expected a whole number of atomic units'),
  payTo: shortWord,
  maxTimeoutSeconds: whole(1, 1_000_000),
  extra: v.optional(
    v.pipe(
      v.record(shortLine, v.union([shortLine, v.pipe(v.number(), v.finite()), v.boolean()])),
      v.check((extra) => Object.keys(extra).length <= MAX_EXTRA),
    ),
  ),
})
export type Accept = v.InferOutput<typeof AcceptSchema>

/** Result of our probe's call of one operation: evidence member `interface.operations[].seen`. */
export const SeenAnswerSchema = v.strictObject({
  /** Absent where it equals the interface's time, so that a run without news changes one line. */
  at: v.optional(InstantSchema),
  outcome: OutcomeSchema,
  status: v.optional(StatusSchema),
  /** The price of one call in its last 402, cheapest and most expensive offer (USD). */
  min_usd: v.optional(PriceSchema),
  max_usd: v.optional(PriceSchema),
  /** The payees of its last 402, CAIP-10. */
  pay_to: v.optional(v.pipe(v.array(PayoutSchema), v.maxLength(MAX_PAY_TO))),
  /** The complete offers of its last 402, only x402. */
  accepts: v.optional(v.pipe(v.array(AcceptSchema), v.maxLength(MAX_PAY_TO))),
  saw: v.optional(SawSchema),
  /** For a free answer: the verdict a paid call would get. */
  verdict: v.optional(v.picklist(DELIVERY_VERDICTS)),
})
export type SeenAnswer = v.InferOutput<typeof SeenAnswerSchema>
