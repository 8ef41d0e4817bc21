import * as v from 'valibot'
import { DELIVERS, type Delivered, earnsDelivers } from '../receipts/delivered.ts'
import type { Probe } from '../trust/evidence.ts'
import { TRUST, type TrustVerdict } from '../trust/trust.ts'
import {
  type BadgeId,
  EARNED,
  type EarnedId,
  type Status,
  TIERS,
  type TierId,
} from '../wire/vocabulary.ts'

const { buyers: MIN_BUYERS, settlements: MIN_SETTLEMENTS } = TRUST.sampleGate

/** The specification's reasons, spelled once. */
export const TIER_REASONS = {
  unclaimed: 'the listing is not claimed with domain proof',
  notLiveTested: 'needs the earned Live-Tested badge',
  noSales: 'no independent sales yet',
  tooFewSales: `needs ${MIN_BUYERS}+ independent buyers and ${MIN_SETTLEMENTS}+ settlements in 30 days`,
} as const

export const TIER_LABELS: Record<EarnedId, string> = {
  live_tested: 'Live-Tested',
  verified: 'Verified',
  trusted: 'Trusted',
}

export const EarnedTiersSchema = v.object({
  tier: v.nullable(v.picklist(TIERS)),
  tier_label: v.nullable(v.string()),
  highest_earned: v.nullable(v.picklist(TIERS)),
  earned: v.array(v.picklist(EARNED)),
  /** Always empty: tiers are not sold. */
  paid: v.pipe(v.array(v.never()), v.maxLength(0)),
  not_yet: v.array(v.object({ id: v.picklist(TIERS), reason: v.string() })),
})
export type EarnedTiers = v.InferOutput<typeof EarnedTiersSchema>

export interface TierFacts {
  isClaimed: boolean
  isLiveTested: boolean
  trust: TrustVerdict
}

/** spec: Tiers. Live-Tested is not a tier. `not_yet` has the first unmet reason of each tier. */
export function earnTiers(facts: TierFacts): EarnedTiers {
  const unmet: Record<TierId, string | null> = {
    verified: facts.isClaimed ? null : TIER_REASONS.unclaimed,
    trusted: findUnmetForTrusted(facts),
  }
  const tiers = TIERS.filter((id) => unmet[id] === null)
  const tier = tiers.at(-1) ?? null
  const liveTested: EarnedId[] = facts.isLiveTested ? ['live_tested'] : []
  return {
    tier,
    tier_label: tier === null ? null : TIER_LABELS[tier],
    highest_earned: tier,
    earned: [...liveTested, ...tiers],
    paid: [],
    not_yet: TIERS.flatMap((id) => (unmet[id] === null ? [] : [{ id, reason: unmet[id] }])),
  }
}

function findUnmetForTrusted({ isLiveTested, trust }: TierFacts): string | null {
  if (!isLiveTested) return TIER_REASONS.notLiveTested
  if (trust.evidence !== 'verified_non_wash_payments' || !trust.isVouched)
    return TIER_REASONS.noSales
  return trust.sample === 'low' ? TIER_REASONS.tooFewSales : null
}

type BadgeFacts = Omit<TierFacts, 'isClaimed'> & {
  status: Status
  delivered?: Delivered | undefined
}

/** spec: `badges`; `domain_verified` and `live_tested` are earned later states. */
export function earnBadges({ status, trust, isLiveTested, delivered }: BadgeFacts): BadgeId[] {
  const badges: BadgeId[] = [status === 'claimed' ? 'domain_verified' : 'unclaimed']
  if (trust.evidence === 'verified_non_wash_payments' && trust.isVouched)
    badges.push('paid_usage_verified')
  if (isLiveTested) badges.push('live_tested')
  if (earnsDelivers(delivered)) badges.push('delivers')
  return badges
}

/** What each badge means, and how to earn it: the texts of `/badges`. */
export const BADGE_TEXTS: Record<BadgeId, { label: string; earned: string }> = {
  unclaimed: {
    label: 'Unclaimed',
    earned:
      'Where every listing starts: its facts come from public metadata, and nobody has proven to own it.',
  },
  domain_verified: {
    label: 'Domain verified',
    earned:
      'A seller has proven control of the domain this listing is on, and the proof still holds.',
  },
  paid_usage_verified: {
    label: 'Paid usage verified',
    earned:
      'Buyers who also paid sellers we know to be independent paid this seller on-chain in the last 30 days. Payments that look like wash trades are not counted. Where we measure too few of those sellers to tell, or only have another provider’s word, nobody earns it.',
  },
  live_tested: {
    label: 'Live-Tested',
    earned:
      'The last three probes, over at least 24 hours, all spoke the protocol the listing advertises.',
  },
  delivers: {
    label: 'Delivers',
    earned: `At least ${DELIVERS.calls} paid calls of ${DELIVERS.buyers} vouched buyers went through the relay in 30 days, and ${DELIVERS.share * 100} of 100 were answered as declared.`,
  },
}

export const LIVE_TESTED = { probes: 3, spanHours: 24 } as const

const HOUR_MS = 3_600_000

/** The last three probes, over 24 hours, all succeeded. `unknown` was our failure: ignored. */
export function isLiveTested(probes: readonly Probe[]): boolean {
  const last = probes
    .filter(({ outcome }) => outcome !== 'unknown')
    .toSorted((a, b) => Date.parse(b.at) - Date.parse(a.at))
    .slice(0, LIVE_TESTED.probes)
  const [newest, oldest] = [last[0], last[LIVE_TESTED.probes - 1]]
  if (newest === undefined || oldest === undefined) return false
  const spanMs = Date.parse(newest.at) - Date.parse(oldest.at)
  return (
    last.every(({ outcome }) => outcome === 'spoke') && spanMs >= LIVE_TESTED.spanHours * HOUR_MS
  )
}
