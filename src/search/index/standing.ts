import { rankMultiplier } from '../../domain/search/search-rank.ts'

/**
 * The multiplier of a row's score, as one byte: the trust score (`NO_TRUST` for none), and above it
 * a bit for Live-Tested.
 */
export const NO_TRUST = 127
const LIVE_TESTED = 128

/** The multiplier of each standing. */
const MULTIPLIERS = Float64Array.from({ length: 256 }, (_, standing) => {
  const trust = standing & NO_TRUST
  return rankMultiplier(trust === NO_TRUST ? null : trust, standing >= LIVE_TESTED)
})

export function toStanding(trustScore: number | null, liveTested: boolean): number {
  return (trustScore ?? NO_TRUST) | (liveTested ? LIVE_TESTED : 0)
}

/** The trust score of a standing, `NO_TRUST` for none. */
export function trustOf(standing: number): number {
  return standing & NO_TRUST
}

export function isLiveTested(standing: number): boolean {
  return standing >= LIVE_TESTED
}

export function multiplierOf(standing: number): number {
  return MULTIPLIERS[standing] ?? 1
}
