import * as v from 'valibot'
import { createListingFactsSchema } from '../../src/domain/listing/listing-facts.ts'
import { OWNED_FIELDS, type SeedFacts } from '../facts/seed-facts.ts'

const schema = createListingFactsSchema({ allowPrivate: false })

/** What a source said, as its lock remembers it, or what its file says; null for no listing. */
export function toSaidFacts(said: ReadonlyMap<string, unknown> | object): SeedFacts | null {
  const fields = said instanceof Map ? said : new Map(Object.entries(said))
  return toSeedFacts(new Map([...fields, ['added', '2000-01-01']]))
}

/** What a file says, in its own order, as an importer would have said it; null for no listing. */
export function toSeedFacts(fields: ReadonlyMap<string, unknown>): SeedFacts | null {
  if (!v.is(schema, Object.fromEntries(fields))) return null
  const names = ['kind', ...OWNED_FIELDS].filter((name) => fields.has(name))
  // Checked by the schema above; parsing would reorder what the file says.
  return Object.fromEntries(names.map((name) => [name, fields.get(name)])) as unknown as SeedFacts
}
