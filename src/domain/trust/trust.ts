import { DAY_MS } from '../wire/shapes.ts'
import type { Measured } from './evidence.ts'

export const TRUST = {
  windowDays: 30,
  weights: { buyers: 0.6, settlements: 0.25, volume: 0.15 },
  /** Where each part reaches its maximum: buyers, settlements, US dollars. */
  saturation: { buyers: 100, settlements: 1000, volumeUsd: 1000 },
  /** The share of the base that a listing loses if one buyer makes all payments. */
  concentrationPenalty: 0.5,
  recency: { freshDays: 7, floor: 0.5 },
  /** The constant k of the shrinkage B / (B + k). */
  shrinkBuyers: 3,
  /** How much is counted at most for one payer. */
  perPayer: { settlements: 10, volumeUsd: 10 },
  /** With fewer buyers or settlements, `trust.sample` is `low` and the tier `trusted` cannot be earned. */
  sampleGate: { buyers: 3, settlements: 5 },
} as const

/** Inputs to the score; `sharers` is how many listings publish the same payout, at least 1. */
export interface TrustInput {
  buyers: number
  settlements: number
  volumeUsd: number
  topBuyerShare: number
  daysSinceLast: number
  sharers: number
}

export type TrustVerdict =
  | { evidence: 'no_payment_data' }
  | { evidence: 'no_independent_paid_usage_30d'; measured: Measured }
  | {
      evidence: 'verified_non_wash_payments'
      score: number
      sample: 'low' | null
      /** Whether the listing's buyers can be distinguished from invented ones: required for tiers and badges. */
      isVouched: boolean
      /** The numbers from which the score is computed. */
      input: TrustInput
      measured: Measured
    }

/**
 * Judges a measure by its age: a window that ended more than thirty days before the build proves nothing about the
 * build's day, and recency is counted from the build's day, never from the measure's.
 * @param sharers listings that publish this payout, at least 1; 2 with `shared_payout`
 * @param asOf the build's day, such as 2026-11-26
 */
export function judgeTrust(
  provided: Measured | undefined,
  sharers: number,
  asOf: string,
): TrustVerdict {
  if (provided === undefined || isPast(provided.as_of, 'measured', asOf))
    return { evidence: 'no_payment_data' }
  const sharing = Math.max(sharers, provided.shared_payout ? 2 : 1)
  const measured = { ...provided, shared_payout: sharing > 1 }
  const { verified_buyers_30d, settlements_30d, last_settlement_at: last } = measured
  const start = Date.parse(measured.as_of) - TRUST.windowDays * DAY_MS
  // Less than half a buyer is shown as none.
  const hasSales = Math.round(verified_buyers_30d) > 0 && settlements_30d > 0
  if (!hasSales || last === null || Date.parse(last) < start)
    return { evidence: 'no_independent_paid_usage_30d', measured }
  const { sampleGate: gate } = TRUST
  const input = {
    buyers: verified_buyers_30d,
    settlements: settlements_30d,
    volumeUsd: measured.volume_usd_30d,
    topBuyerShare: measured.top_buyer_share_30d,
    daysSinceLast: Math.max(0, (windowEnd(Date.parse(asOf)) - Date.parse(last)) / DAY_MS),
    sharers: sharing,
  }
  return {
    evidence: 'verified_non_wash_payments',
    score: scoreTrust(input),
    sample: verified_buyers_30d < gate.buyers || settlements_30d < gate.settlements ? 'low' : null,
    isVouched: measured.unknown_buyers_30d !== undefined,
    input,
    measured,
  }
}

/**
 * The score, 0 to 100.
 * @example scoreTrust({ buyers: 12, settlements: 340, volumeUsd: 12.5, topBuyerShare: 0.4, daysSinceLast: 0.1, sharers: 1 }) → 38
 */
export function scoreTrust(input: TrustInput): number {
  return Math.round(pointsOf(input).sum)
}

/** A score's parts, in points: the last three are deductions. `sum` is not rounded. */
export function pointsOf(input: TrustInput) {
  const { weights, saturation, concentrationPenalty, shrinkBuyers } = TRUST
  const buyers = weights.buyers * saturate(input.buyers, saturation.buyers)
  const settlements =
    weights.settlements * saturate(input.settlements / input.sharers, saturation.settlements)
  const volume = weights.volume * saturate(input.volumeUsd / input.sharers, saturation.volumeUsd)
  const base = 100 * (buyers + settlements + volume)
  const shared = base * (1 - concentrationPenalty * input.topBuyerShare)
  const recent = shared * recencyOf(input.daysSinceLast)
  const sum = recent * (input.buyers / (input.buyers + shrinkBuyers))
  return {
    buyers: 100 * buyers,
    settlements: 100 * settlements,
    volume: 100 * volume,
    share: shared - base,
    recency: recent - shared,
    sample: sum - recent,
    sum,
  }
}

/** End of the day, UTC, so that two builds on one day give the same bytes. */
export function windowEnd(now: number): number {
  return Math.ceil((now + 1) / DAY_MS) * DAY_MS - 1
}

/** 1 up to a week, then falling linearly to the floor at the window's end. */
function recencyOf(days: number): number {
  const { freshDays, floor } = TRUST.recency
  const past = Math.min(Math.max(days - freshDays, 0), TRUST.windowDays - freshDays)
  return 1 - (1 - floor) * (past / (TRUST.windowDays - freshDays))
}

function saturate(x: number, full: number): number {
  return Math.min(1, Math.log1p(x) / Math.log1p(full))
}

/**
 * For how many days a fact is shown and counted. After that, rows and pages drop it, and only the
 * full listing's JSON keeps it, with its day.
 */
export const AGE_LIMITS = {
  /** Counted from the end of a provider's window. */
  measured: 30,
  probes: 90,
  signals: 90,
  drift: 90,
  reported_use: 180,
  package_run: 180,
  /** Prices that machines read, from the seller or a catalogue. */
  prices: 180,
} as const

/**
 * Whole days from a fact's day to the build's; negative if the fact's day is yet to come.
 * @param at ISO 8601
 * @param asOf `AS_OF`, such as 2026-11-26
 */
export function ageOf(at: string, asOf: string): number {
  return (Date.parse(asOf) - Date.parse(at.slice(0, 10))) / DAY_MS
}

export function isPast(at: string, fact: keyof typeof AGE_LIMITS, asOf: string): boolean {
  return ageOf(at, asOf) > AGE_LIMITS[fact]
}
