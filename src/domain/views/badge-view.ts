import { lowestPriceOf } from '../listing/pricing.ts'
import { toUsd } from '../operation/price-text.ts'
import type { ListingView } from './listing-view.ts'

/** What the embeddable badge of a listing says; `tone` is a colour by meaning. */
export interface BadgeView {
  label: string
  message: string
  tone: BadgeTone
}

/**
 * Colours by tone, of our own image and of badge services alike: dark enough that white letters of
 * 11 px on them have a contrast of at least 4.5:1.
 */
export const BADGE_COLORS = {
  /** Earned. */
  accent: '1d6b49',
  /** The highest tier. */
  strong: '14492f',
  /** Known, and nothing more; or earned from few. */
  neutral: '4f6257',
  /** A price. */
  money: '2457a6',
  /** Something is missing that was looked for. */
  missing: '7a5210',
} as const
export type BadgeTone = keyof typeof BADGE_COLORS

type BadgeSubject = Pick<ListingView, 'tiers' | 'trust' | 'first_party' | 'pricing'>

/**
 * The highest thing a listing has earned, in a few words; without one its price, and without that
 * only that it is listed: no evidence is not a bad sign.
 *
 * @example toBadgeView(listing, 'Acme') → { label: 'Acme', message: 'Trusted · trust 62', tone: 'strong' }
 */
export function toBadgeView(subject: BadgeSubject, label: string): BadgeView {
  return { label, ...toState(subject) }
}

function toState({ tiers, trust, first_party, pricing }: BadgeSubject): Omit<BadgeView, 'label'> {
  const isLow = trust.evidence === 'verified_non_wash_payments' && trust.sample === 'low'
  const earned = [
    tiers.tier_label ?? (tiers.earned.includes('live_tested') ? 'Live-Tested' : null),
    trust.score === null ? null : `trust ${trust.score}${isLow ? ', few buyers' : ''}`,
  ].filter((part) => part !== null)
  if (earned.length > 0) {
    const isFew = isLow && earned.length === 1
    const tone = tiers.tier === 'trusted' ? 'strong' : isFew ? 'neutral' : 'accent'
    return { message: earned.join(' · '), tone }
  }
  if (first_party) return { message: 'first-party kit', tone: 'neutral' }
  if (trust.evidence !== 'no_payment_data')
    return { message: 'no independent buyers yet', tone: 'missing' }
  const price = lowestPriceOf(pricing)
  if (price === null) return { message: 'listed', tone: 'neutral' }
  return { message: price === 0 ? 'free' : `from ${toUsd(price)}`, tone: 'money' }
}

/** The badge as data, in the endpoint schema that badge services such as Shields read. */
export function toBadgeEndpoint({ label, message, tone }: BadgeView) {
  return { schemaVersion: 1, label, message, color: BADGE_COLORS[tone] } as const
}
