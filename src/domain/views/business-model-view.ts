import * as v from 'valibot'
import { type SiteTexts, SiteTextsSchema } from '../derived/tables.ts'

/** `GET /api/v1/business-model`. The money facts are constants: no table may change them. */
export const BusinessModelSchema = v.object({
  ...SiteTextsSchema.entries.business_model.entries,
  fee_usd: v.literal(0),
  custody: v.literal('none'),
  in_transaction_path: v.literal(false),
  sponsored_placements: v.literal(false),
})
export type BusinessModelView = v.InferOutput<typeof BusinessModelSchema>

export function toBusinessModelView(site: SiteTexts): BusinessModelView {
  return {
    ...site.business_model,
    fee_usd: 0,
    custody: 'none',
    in_transaction_path: false,
    sponsored_placements: false,
  }
}
