import * as v from 'valibot'
import { createListingFactsSchema } from '../../src/domain/listing/listing-facts.ts'
import { isJsonObject } from '../../src/domain/wire/parse-json.ts'
import { hasComment, replaceField } from '../content/listing-text.ts'
import { hashValue } from '../content/seed-lock.ts'
import { OWNED_FIELDS, type OwnedField, type SeedFacts } from '../facts/seed-facts.ts'

type Fields = ReadonlyMap<string, unknown>

export interface MergedListing {
  text: string
  wrote: Readonly<Record<string, string>>
  /** Fields that differ from the source and stay, because a person wrote them. */
  kept: readonly OwnedField[]
}

/**
 * A three-way merge, field by field: what the importer wrote last is the base. A field that still
 * holds the base takes the source's new value; a field that holds anything else is a person's and
 * stays, a removed one too. `sources` adds up: rows of other sources are no edit.
 */
export function mergeListing(
  { text, fields }: { text: string; fields: Fields },
  base: Readonly<Record<string, string>>,
  facts: SeedFacts,
): MergedListing {
  const wrote: Record<string, string> = {}
  const kept: OwnedField[] = []
  let merged = text
  for (const field of OWNED_FIELDS) {
    const incoming = facts[field]
    const known = base[field] ?? null
    if (incoming === undefined && known === null) continue
    const current = field === 'sources' ? ownRows(fields, facts) : fields.get(field)
    const isSame = hashOf(current) === hashOf(incoming)
    if (!isSame && (hashOf(current) !== known || hasComment(text, field))) {
      kept.push(field)
      if (known !== null) wrote[field] = known
      continue
    }
    if (!isSame) merged = replaceField(merged, field, withOthers(field, fields, facts))
    if (incoming !== undefined) wrote[field] = hashValue(incoming)
  }
  return { text: merged, wrote, kept }
}

/** Adds a source's rows to a listing that another source or a person keeps. */
export function joinSources(
  { text, fields }: { text: string; fields: Fields },
  facts: Pick<SeedFacts, 'sources'>,
): string {
  const rows = sourceRows(fields)
  const named = new Set(rows.map(sourceOf))
  const added = facts.sources.filter(({ source }) => !named.has(source))
  if (added.length === 0 || hasComment(text, 'sources')) return text
  return replaceField(text, 'sources', [...rows, ...added])
}

/** Takes rows out again, unless nothing would be left. */
export function leaveSources(
  text: string,
  fields: Fields,
  isLeaving: (row: { source: string; ref: string }) => boolean,
): string {
  const rows = sourceRows(fields)
  const rest = rows.filter(
    (row) => !isLeaving({ source: textOf(row, 'source'), ref: textOf(row, 'ref') }),
  )
  return rest.length === 0 || rest.length === rows.length
    ? text
    : replaceField(text, 'sources', rest)
}

function withOthers(field: OwnedField, fields: Fields, facts: SeedFacts): unknown {
  if (field !== 'sources') return facts[field]
  const own = new Set(facts.sources.map(({ source }) => source))
  return [...facts.sources, ...sourceRows(fields).filter((row) => !own.has(sourceOf(row)))]
}

/** The rows with ids that this source uses; all rows if it uses none. */
function ownRows(fields: Fields, facts: SeedFacts): unknown {
  if (!Array.isArray(fields.get('sources'))) return fields.get('sources')
  const own = new Set(facts.sources.map(({ source }) => source))
  const rows = sourceRows(fields).filter((row) => own.has(sourceOf(row)))
  return rows.length === 0 ? fields.get('sources') : rows
}

function sourceRows(fields: Fields): unknown[] {
  const rows: unknown = fields.get('sources')
  return Array.isArray(rows) ? rows : []
}

function sourceOf(row: unknown): string {
  return textOf(row, 'source')
}

function textOf(row: unknown, name: string): string {
  return isJsonObject(row) && name in row ? String(row[name]) : ''
}

function hashOf(value: unknown): string | null {
  return value === undefined ? null : hashValue(value)
}

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
