import * as v from 'valibot'
import type { Measured } from '../trust/evidence.ts'
import { judgeTrust, TRUST } from '../trust/trust.ts'
import { CAP_MICRO, GIVEN_AWAY } from './given-away.ts'

/** `content/tables/independent_operators.yaml`: seeds of independence, by registrable domain. */
export const IndependentOperatorSchema = v.strictObject({
  domain: v.pipe(
    v.string(),
    v.regex(
      /^(?:[a-z0-9]+(?:-+[a-z0-9]+)*\.)+[a-z0-9]+(?:-+[a-z0-9]+)*$/,
      'expected a registrable domain in lower case such as shop.example',
    ),
  ),
  name: v.pipe(v.string(), v.minLength(1), v.maxLength(80)),
  /** How anybody can see that it is nobody's front. */
  why: v.pipe(v.string(), v.minLength(1), v.maxLength(200)),
})

export const TRUST_V02 = 'hub-trust-v0.2'

/** What the buyers of one listing did elsewhere; only where payments are known one by one. */
export interface Independence {
  /** Dollars, rounded down to the millionth: faking this would have cost at least so much. */
  cost_to_fake_usd: number
  /** Buyers, each weighted by what it gave away elsewhere: 1 at the cap, 0 for nothing. */
  weighted_buyers: number
  /** `hub-trust-v0.2`; null where nothing is known of what its buyers spend elsewhere. */
  score: number | null
}

const MICRO = 1_000_000

const { buyers, settlements, volumeUsd } = TRUST.saturation
/**
 * What one buyer of full weight stands for: the measure at which the formula is full of all three.
 * More than that a cheat gets for nothing, since what it turns over comes back; and payments of buyers
 * without weight never take anything from those that have some.
 */
export const PER_BUYER = { settlements: settlements / buyers, volumeUsd: volumeUsd / buyers }

/**
 * `hub-trust-v0.2`: the formula of v0.1 with buyers counted by what they gave away elsewhere, and
 * settlements and volume no further than such buyers stand for.
 *
 * @param given millionths of a dollar, of `measureGivenAway`
 * @param sharers as for v0.1
 */
export function judgeIndependence(
  measured: Measured,
  given: number,
  sharers: number,
): Independence {
  const weighted = Math.min(measured.verified_buyers_30d, given / CAP_MICRO)
  const fees = Math.floor(measured.settlements_30d * GIVEN_AWAY.feeUsd * MICRO)
  const backed = {
    ...measured,
    verified_buyers_30d: weighted,
    settlements_30d: Math.min(measured.settlements_30d, weighted * PER_BUYER.settlements),
    volume_usd_30d: Math.min(measured.volume_usd_30d, weighted * PER_BUYER.volumeUsd),
  }
  const verdict = judgeTrust(backed, sharers)
  return {
    cost_to_fake_usd: (given + fees) / MICRO,
    weighted_buyers: Math.floor(weighted * 100) / 100,
    score: verdict.evidence === 'verified_non_wash_payments' ? verdict.score : null,
  }
}
