import { TIER_LABELS } from '../../../domain/derived/tiers.ts'
import type { ListingView } from '../../../domain/views/listing-view.ts'
import type { ClaimCheckResult, KnownPayout } from '../../../domain/views/seller-views.ts'
import { type KnownFact, known } from '../../listing/known-facts.ts'

type Standing = Pick<ListingView, 'status' | 'tiers'>

interface OwnFacts {
  payouts: readonly Pick<KnownPayout, 'proven_at'>[]
  lastCheck: Pick<ClaimCheckResult, 'verified'> | undefined
}

/**
 * Status of a verified claim, and the remaining steps. The directory is compiled: a proof of a
 * minute ago shows after the next build.
 *
 * @param view the listing as it is published; null when it is not in the directory
 */
export function toNextSteps(view: Standing | null, { payouts, lastCheck }: OwnFacts): KnownFact[] {
  const proof = known(
    lastCheck?.verified !== false,
    'The domain is proven. Leave the proof in place: we check it every day and mail you if it is gone.',
    'Put the domain proof back. We check it every day, and the claim ends after a week without it.',
  )
  if (view === null) return [proof]
  return [
    proof,
    known(
      view.status === 'claimed',
      'The listing shows as claimed.',
      'The listing shows as claimed after the next build.',
    ),
    ...toTiers(view),
    known(
      payouts.some(({ proven_at }) => proven_at !== undefined),
      'A payout address is proven. Nobody else can claim it.',
      'Prove a payout address, so that its payments count for you.',
    ),
  ]
}

function toTiers({ status, tiers }: Standing): KnownFact[] {
  const earned = tiers.earned.map((id) => known(true, `${TIER_LABELS[id]} is earned.`, ''))
  const missing = tiers.not_yet
    // Its reason is a missing claim, which is outdated after the next build.
    .filter(({ id }) => id !== 'verified' || status === 'claimed')
    .map(({ id, reason }) => known(false, '', `${TIER_LABELS[id]}: ${reason}.`))
  return [...earned, ...missing]
}
