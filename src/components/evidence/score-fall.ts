import type { ScorePart } from '../../compiled.ts'
import { toCountText, toSumText } from '../../domain/listing/price-text.ts'
import { pointsOf, type TrustVerdict } from '../../domain/trust/trust.ts'

/** The explanation of a score; empty without one. */
export function toScoreParts(trust: TrustVerdict): ScorePart[] {
  if (trust.evidence !== 'verified_non_wash_payments') return []
  const { input, measured } = trust
  const points = pointsOf(input)
  const among = input.sharers > 1 ? `, shared by ${input.sharers}` : ''
  const labels = {
    buyers: toCountText(Math.round(input.buyers), 'buyer'),
    settlements: `${toCountText(Math.round(input.settlements), 'settlement')}${among}`,
    volume: `${toSumText(input.volumeUsd)} volume${among}`,
    share: `Largest buyer ${Math.round(input.topBuyerShare * 100)} %`,
    recency: `Last paid ${(measured.last_settlement_at ?? measured.as_of).slice(0, 10)}`,
    sample: `Sample of ${toCountText(Math.round(input.buyers), 'buyer')}`,
  }
  const parts = RULES.map((rule) => ({ rule, label: labels[rule], points: points[rule] }))
  return toSum(trust.score, parts)
}

/** In the order of the formula. */
const RULES = ['buyers', 'settlements', 'volume', 'share', 'recency', 'sample'] as const

/** The score is whole and parts have a decimal: the rounding difference goes to the last part. */
function toSum(score: number, parts: readonly ScorePart[]): ScorePart[] {
  const rounded = parts.map((part) => ({ ...part, points: roundTo(part.points) }))
  const rest = roundTo(score - rounded.reduce((sum, { points }) => sum + points, 0))
  return rounded.map((part, index) =>
    index === rounded.length - 1 ? { ...part, points: roundTo(part.points + rest) } : part,
  )
}

function roundTo(points: number): number {
  return Math.round(points * 10) / 10
}
