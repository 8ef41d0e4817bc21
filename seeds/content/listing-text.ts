import { stringify } from 'yaml'
import { SOURCE_FIELDS, type SourceFacts } from '../../src/domain/sources/source-row.ts'
import { present } from '../../src/domain/wire/json.ts'

const SCHEMA_LINE = '# yaml-language-server: $schema=../../schema/listing.schema.json'

/** A listing's file for a person to complete: the given fields in their order, the name first. */
export function renderListing(facts: SourceFacts, added?: string): string {
  const fields = new Set(['name', 'kind', ...SOURCE_FIELDS] as const)
  const named = Object.fromEntries([...fields].map((field) => [field, facts[field]]))
  const yaml = stringify({ ...named, ...present({ added }) }, { lineWidth: 0 })
  return `---\n${SCHEMA_LINE}\n${yaml}---\n`
}
