import { lowestPriceOf } from '../listing/pricing.ts'
import { toCountText, toUsd } from '../operation/price-text.ts'
import type { ListingView } from './listing-view.ts'

/** What the embeddable badge of a listing says; `tone` is a colour by meaning. */
export interface BadgeView {
  label: string
  message: string
  tone: BadgeTone
}

/** White letters of 11 px on them have a contrast of at least 4.5:1. */
export const BADGE_COLORS = {
  /** Earned. */
  accent: '1d6b49',
  /** The highest tier. */
  strong: '14492f',
  /** Known, and nothing more; or earned from few. */
  neutral: '4f6257',
  money: '2457a6',
  /** Something expected is missing. */
  missing: '7a5210',
} as const
export type BadgeTone = keyof typeof BADGE_COLORS

type BadgeSubject = Pick<ListingView, 'tiers' | 'trust' | 'first_party' | 'pricing'>

/**
 * A listing's highest achievement in a few words, a score only with its buyers; without one its
 * price, or else only that it is listed: no evidence is not a bad sign.
 *
 * @example toBadgeView(listing, 'Acme') → { label: 'Acme', message: 'Trusted · trust 62, 12 vouched buyers', tone: 'strong' }
 */
export function toBadgeView(subject: BadgeSubject, label: string): BadgeView {
  return { label, ...toState(subject) }
}

function toState({ tiers, trust, first_party, pricing }: BadgeSubject): Omit<BadgeView, 'label'> {
  const label = tiers.tier_label ?? (tiers.earned.includes('live_tested') ? 'Live-Tested' : null)
  const stated = trust.score === null ? null : toTrustWords(trust)
  if (label !== null || stated !== null) {
    const isWeak = label === null && stated?.isWeak === true
    const tone = tiers.tier === 'trusted' ? 'strong' : isWeak ? 'neutral' : 'accent'
    return { message: [label, stated?.text].filter((part) => part != null).join(' · '), tone }
  }
  if (first_party) return { message: 'first-party kit', tone: 'neutral' }
  if (trust.evidence !== 'no_payment_data')
    return { message: 'no independent buyers yet', tone: 'missing' }
  const price = lowestPriceOf(pricing)
  if (price === null) return { message: 'listed', tone: 'neutral' }
  return { message: price === 0 ? 'free' : `from ${toUsd(price)}`, tone: 'money' }
}

type Scored = Extract<BadgeSubject['trust'], { evidence: 'verified_non_wash_payments' }>

function toTrustWords({ score, sample, verified_buyers_30d, unknown_buyers_30d }: Scored) {
  const isVouched = unknown_buyers_30d !== undefined
  const who = toCountText(verified_buyers_30d, isVouched ? 'vouched buyer' : 'unvouched buyer')
  return { text: `trust ${score}, ${who}`, isWeak: sample === 'low' || !isVouched }
}

/** The badge as data, in the endpoint schema that badge services such as Shields read. */
export function toBadgeEndpoint({ label, message, tone }: BadgeView) {
  return { schemaVersion: 1, label, message, color: BADGE_COLORS[tone] } as const
}
