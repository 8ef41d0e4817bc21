import * as v from 'valibot'
import type { ListingSummary } from '../views/summary-view.ts'
import { KINDS, RAILS } from '../wire/vocabulary.ts'

/** A result in the fewest bytes that still let an agent choose (`view=compact`). */
export const CompactRowSchema = v.object({
  id: v.string(),
  name: v.string(),
  kind: v.picklist(KINDS),
  summary: v.string(),
  price: v.nullable(v.object({ min_usd: v.number(), max_usd: v.number() })),
  rails: v.array(v.picklist(RAILS)),
  auth: v.string(),
  trust: v.nullable(v.number()),
  call: v.boolean(),
})
export type CompactRow = v.InferOutput<typeof CompactRowSchema>

export function toCompactRow(summary: ListingSummary): CompactRow {
  const { pricing } = summary
  return {
    id: summary.id,
    name: summary.name,
    kind: summary.kind,
    summary: summary.summary,
    price:
      pricing.model === 'per_call' ? { min_usd: pricing.min_usd, max_usd: pricing.max_usd } : null,
    rails: pricing.model === 'per_call' ? pricing.rails : [],
    auth: 'unknown',
    trust: summary.trust.score,
    call: summary.buy === 'relay_x402',
  }
}
