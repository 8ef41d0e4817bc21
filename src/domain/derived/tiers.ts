import * as v from 'valibot'
import { TRUST, type TrustVerdict } from '../trust/trust.ts'
import { EARNED, type EarnedId, TIERS, type TierId } from '../wire/vocabulary.ts'

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
  paid: v.tuple([]),
  not_yet: v.array(v.object({ id: v.picklist(TIERS), reason: v.string() })),
})
export type EarnedTiers = v.InferOutput<typeof EarnedTiersSchema>

export interface TierFacts {
  isClaimed: boolean
  isLiveTested: boolean
  trust: TrustVerdict
}

/**
 * spec: Tiers. Live-Tested is earned but is no tier. Each tier not earned stands
 * in `not_yet` with its first unmet reason.
 */
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
  if (trust.evidence !== 'verified_non_wash_payments') return TIER_REASONS.noSales
  return trust.sample === 'low' ? TIER_REASONS.tooFewSales : null
}
