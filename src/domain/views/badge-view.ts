import type { ListingView } from './listing-view.ts'

/** What the embeddable badge of a listing says; `tone` is a colour by meaning. */
export interface BadgeView {
  label: string
  message: string
  tone: 'accent' | 'strong' | 'neutral'
}

/** Colours of badge services by tone; the same as in our own image. */
const COLORS = { accent: '0b6b50', strong: '084c39', neutral: '5a6057' } as const

type BadgeSubject = Pick<ListingView, 'tiers' | 'trust' | 'first_party'>

/**
 * The highest thing a listing has earned, in a few words. A listing without evidence says that it
 * is listed and nothing else: no evidence is not a bad sign.
 *
 * @example toBadgeView(listing) → { label: 'Waypost', message: 'Trusted · trust 62', tone: 'strong' }
 */
export function toBadgeView({ tiers, trust, first_party }: BadgeSubject): BadgeView {
  const label = 'Waypost'
  const earned = [
    tiers.tier_label ?? (tiers.earned.includes('live_tested') ? 'Live-Tested' : null),
    trust.score === null ? null : toTrustWords(trust),
  ].filter((part) => part !== null)
  if (earned.length === 0)
    return { label, message: first_party ? 'first-party kit' : 'listed', tone: 'neutral' }
  return {
    label,
    message: earned.join(' · '),
    tone: tiers.tier === 'trusted' ? 'strong' : 'accent',
  }
}

/** The badge as data, in the endpoint schema that badge services such as Shields read. */
export function toBadgeEndpoint({ label, message, tone }: BadgeView) {
  return { schemaVersion: 1, label, message, color: COLORS[tone] } as const
}

function toTrustWords(trust: ListingView['trust']): string {
  const isSmall = trust.evidence === 'verified_non_wash_payments' && trust.sample === 'low'
  return `trust ${trust.score}${isSmall ? ' (low sample)' : ''}`
}
