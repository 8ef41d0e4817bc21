import * as v from 'valibot'
import { BUY, HTTP_METHODS, KINDS, PROBE_OUTCOMES, STATUSES } from '../wire/vocabulary.ts'
import { PricingSchema } from './pricing.ts'

/** Enough to relay a call, redirect a click and judge a claim. The build writes one per listing. */
export const LiveListingSchema = v.strictObject({
  id: v.string(),
  name: v.string(),
  digest: v.string(),
  kind: v.picklist(KINDS),
  /** The listing's own URL; also the relay's default endpoint. */
  url: v.string(),
  status: v.picklist(STATUSES),
  first_party: v.boolean(),
  /** Path of the brand's mark, where it has one. */
  mark: v.exactOptional(v.string()),
  buy: v.picklist(BUY),
  /** Why the relay cannot call it; null when it can. */
  not_relayable_reason: v.nullable(v.string()),
  /** Methods of the listing's documented HTTP endpoints; empty when none is documented. */
  methods: v.array(v.picklist(HTTP_METHODS)),
  pricing: PricingSchema,
  /** What our newest probe that says something found, if any. */
  probe: v.exactOptional(v.picklist(PROBE_OUTCOMES)),
  /** Whether an accepted dispute stands against it. */
  disputed: v.exactOptional(v.literal(true)),
  /** Payout addresses whose payments are all this listing's, CAIP-10; the meter reads them. */
  payout: v.array(v.string()),
  /** Payouts that count for nobody until their holder proves them, if any. */
  payout_contested: v.exactOptional(v.array(v.string())),
  /** Operations callable through the relay that declare a good answer, if any. */
  declared: v.exactOptional(
    v.array(
      v.strictObject({ method: v.picklist(HTTP_METHODS), url: v.string(), digest: v.string() }),
    ),
  ),
})

export type LiveListing = v.InferOutput<typeof LiveListingSchema>

/** A listing its seller removed from the directory: enough to claim it and bring it back. */
export const OptedOutListingSchema = v.strictObject({ id: v.string(), url: v.string() })
export type OptedOutListing = v.InferOutput<typeof OptedOutListingSchema>
