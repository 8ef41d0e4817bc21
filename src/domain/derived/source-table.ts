import * as v from 'valibot'
import { OWN_EVIDENCE } from '../trust/evidence.ts'
import { textLike } from '../wire/shapes.ts'
import { SOURCE_DECISIONS } from '../wire/vocabulary.ts'

const line = v.pipe(v.string(), v.maxLength(600))
const webUrl = textLike(/^(?:https:\/\/|\{base_url\})/, 'expected an https URL')

/** One row of `tables/sources.yaml`: where listing data comes from, and on what terms. */
export const SourceRowSchema = v.strictObject({
  id: textLike(/^[A-Za-z0-9_-]{1,60}$/, 'expected an identifier such as mcp_registry'),
  name: line,
  url: webUrl,
  license: line,
  /** Shown wherever the data is; empty where none is required. */
  attribution: v.optional(line, ''),
  decision: v.picklist(SOURCE_DECISIONS, `expected one of ${SOURCE_DECISIONS.join(', ')}`),
  reason: line,
})
export type SourceRow = v.InferOutput<typeof SourceRowSchema>

const OWN_ATTRIBUTION = 'Settlements this directory verified on-chain'

/** Attribution text of a source's evidence; its name where the table has none. */
export function attributionOf(sources: ReadonlyMap<string, SourceRow>, id: string): string {
  if (id === OWN_EVIDENCE) return OWN_ATTRIBUTION
  const row = sources.get(id)
  if (row === undefined) return id
  return row.attribution === '' ? row.name : row.attribution
}
