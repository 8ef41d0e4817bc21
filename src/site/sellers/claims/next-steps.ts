import { TIER_LABELS } from '../../../domain/derived/tiers.ts'
import type { ListingView } from '../../../domain/views/listing-view.ts'
import type { ClaimCheckResult, KnownPayout } from '../../../domain/views/seller-views.ts'

export interface NextStep {
  isDone: boolean
  text: string
}

type Standing = Pick<ListingView, 'status' | 'tiers'>

interface OwnFacts {
  payouts: readonly Pick<KnownPayout, 'proven_at'>[]
  lastCheck: Pick<ClaimCheckResult, 'verified'> | undefined
}

/**
 * What the owner of a verified claim has, and what is still to come or to do. The directory is
 * compiled: a proof of a minute ago shows after the next build.
 *
 * @param view the listing as it is published; null when it is not in the directory
 */
export function toNextSteps(view: Standing | null, { payouts, lastCheck }: OwnFacts): NextStep[] {
  const proof = toProof(lastCheck)
  if (view === null) return [proof]
  return [proof, toStatus(view), ...toTiers(view), toPayout(payouts)]
}

function toProof(lastCheck: OwnFacts['lastCheck']): NextStep {
  return lastCheck?.verified === false
    ? {
        isDone: false,
        text: 'Put the domain proof back. We check it every day, and the claim ends after a week without it.',
      }
    : {
        isDone: true,
        text: 'The domain is proven. Leave the proof in place: we check it every day and mail you if it is gone.',
      }
}

function toStatus({ status }: Standing): NextStep {
  return status === 'claimed'
    ? { isDone: true, text: 'The listing shows as claimed.' }
    : { isDone: false, text: 'The listing shows as claimed after the next build.' }
}

function toTiers({ status, tiers }: Standing): NextStep[] {
  const earned = tiers.earned.map((id) => ({
    isDone: true,
    text: `${TIER_LABELS[id]} is earned.`,
  }))
  const missing = tiers.not_yet
    // Its reason is that nobody claimed the listing, which the next build knows better.
    .filter(({ id }) => id !== 'verified' || status === 'claimed')
    .map(({ id, reason }) => ({ isDone: false, text: `${TIER_LABELS[id]}: ${reason}.` }))
  return [...earned, ...missing]
}

function toPayout(payouts: readonly Pick<KnownPayout, 'proven_at'>[]): NextStep {
  return payouts.some(({ proven_at }) => proven_at !== undefined)
    ? { isDone: true, text: 'A payout address is proven. Nobody else can claim it.' }
    : {
        isDone: false,
        text: 'Prove a payout address, so that its payments count for you.',
      }
}
