import * as v from 'valibot'
import { type EarnedTiers, EarnedTiersSchema } from '../derived/tiers.ts'
import { badgePath, pagePath } from '../wire/links.ts'

/** spec: Tiers on the wire; the URLs are absolute. */
export const TiersSchema = v.object({
  ...EarnedTiersSchema.entries,
  badge_svg: v.string(),
  page: v.string(),
  embed_markdown: v.string(),
  tiers_doc: v.string(),
})
export type TiersView = v.InferOutput<typeof TiersSchema>

interface TiersSubject {
  id: string
  name: string
  tiers: EarnedTiers
}

export function toTiersView({ id, name, tiers }: TiersSubject, baseUrl: string): TiersView {
  const badge_svg = `${baseUrl}${badgePath(id)}`
  const page = `${baseUrl}${pagePath(id)}`
  return {
    ...tiers,
    badge_svg,
    page,
    embed_markdown: `[![${escapeMarkdown(`${name} on ${new URL(baseUrl).hostname}`)}](${badge_svg})](${page})`,
    tiers_doc: `${baseUrl}/badges`,
  }
}

/** A name such as `](javascript:alert(1))` must not close the image text, nor `&lpar;` become a bracket. */
function escapeMarkdown(text: string): string {
  return text.replace(/[\\`*_{}[\]()<>#+!|~&]/g, '\\$&')
}
