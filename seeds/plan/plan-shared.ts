import type { ExistingListing } from '../content/existing-listing.ts'
import { parseListingFields, renderListing } from '../content/listing-text.ts'
import { hashValue, type LockEntry, type SeedMemory } from '../content/seed-lock.ts'
import { OWNED_FIELDS, type SeedFacts } from '../facts/seed-facts.ts'
import { uniteFacts } from '../facts/unite-facts.ts'
import {
  leaveSources,
  type MergedListing,
  mergeListing,
  toSaidFacts,
  toSeedFacts,
} from './merge-listing.ts'
import type { Draft, Sharer, Sharers } from './seeding-plan.ts'

export function indexSharers(memories: ReadonlyMap<string, SeedMemory>): Sharers {
  const sharers: Sharers = new Map()
  for (const [importer, { listings }] of memories)
    for (const [key, { file, withdrawn, joined, said }] of listings)
      if (withdrawn !== true && (joined !== true || said !== undefined))
        addSharer(sharers, file, { importer, key })
  return sharers
}

function addSharer(sharers: Sharers, file: string, sharer: Sharer): void {
  const known = sharers.get(file)
  if (known === undefined) sharers.set(file, [sharer])
  else if (!known.some(({ importer, key }) => importer === sharer.importer && key === sharer.key))
    known.push(sharer)
}

/** True where a source beside this seed's writes the file too, or did not join it as a person's. */
export function isShared(draft: Draft, file: string, key: string): boolean {
  const { id } = draft.input.source
  return (draft.sharers.get(file) ?? []).some(
    (sharer) => sharer.importer !== id || sharer.key !== key,
  )
}

/**
 * The file as all its sources together say it. What each said is remembered, so that a source that
 * changes its mind, or goes, takes back its own facts alone.
 *
 * @param said what this run's source says under `key`; null where it says nothing any more
 */
export function planShared(
  draft: Draft,
  there: ExistingListing,
  { key, said }: { key: string; said: SeedFacts | null },
): MergedListing | null {
  const { file } = there
  const text = draft.files.get(file) ?? there.text
  const fields = text === null ? null : parseListingFields(text)
  if (text === null || fields === null) return null
  const own = { importer: draft.input.source.id, key }
  if (said !== null) addSharer(draft.sharers, file, own)
  const entries = rank(draft, file).flatMap((sharer) => {
    const isOwn = sharer.importer === own.importer && sharer.key === key
    const entry = entryOf(draft, sharer)
    const facts = isOwn ? said : toSaidFacts(entry?.said ?? fields)
    return facts === null ? [] : [{ sharer, facts, wrote: entry?.wrote ?? {} }]
  })
  const [first, ...others] = entries
  if (first === undefined) return null
  const united = uniteFacts([first.facts, ...others.map(({ facts }) => facts)])
  const base = baseOf(
    entries.map(({ wrote }) => wrote),
    fields,
  )
  const left =
    said === null ? leaveSources(text, fields, new Set(draft.input.source.sourceIds)) : text
  const merged = mergeListing(
    { text: left, fields: parseListingFields(left) ?? fields },
    base,
    united,
  )
  for (const { sharer, facts } of entries) {
    const joined = sharer === first.sharer ? {} : { joined: true as const }
    remember(draft, sharer, { file, wrote: merged.wrote, said: inOrder(facts), ...joined })
  }
  return { ...merged, text: asRendered(text) === text ? asRendered(merged.text) : merged.text }
}

/** A file that no person touched has its fields in one order, whoever added which. */
function asRendered(text: string): string {
  const fields = parseListingFields(text)
  const facts = fields === null ? null : toSeedFacts(fields)
  const added = fields?.get('added')
  return facts === null || typeof added !== 'string' ? text : renderListing(facts, added)
}

/** The memories stand in the order of precedence, and keys have one of their own. */
function rank(draft: Draft, file: string): Sharer[] {
  const order = [...draft.input.memories.keys()]
  return (draft.sharers.get(file) ?? []).toSorted(
    (a, b) => order.indexOf(a.importer) - order.indexOf(b.importer) || (a.key < b.key ? -1 : 1),
  )
}

function entryOf(draft: Draft, { importer, key }: Sharer): LockEntry | undefined {
  return listingsOf(draft, importer).get(key)
}

function listingsOf(draft: Draft, importer: string): ReadonlyMap<string, LockEntry> {
  if (importer === draft.input.source.id) return draft.listings
  const memory = draft.others.get(importer) ?? draft.input.memories.get(importer)
  return memory?.listings ?? new Map()
}

function remember(draft: Draft, { importer, key }: Sharer, entry: LockEntry): void {
  if (importer === draft.input.source.id) {
    draft.listings.set(key, entry)
    return
  }
  const memory = draft.others.get(importer) ?? draft.input.memories.get(importer)
  if (memory === undefined) return
  const listings = new Map(memory.listings)
  listings.set(key, entry)
  draft.others.set(importer, { ...memory, listings })
}

/**
 * What was written last, field by field. A run that was killed may have told one source and not the
 * other: a field that holds what any of them remembers is nobody's edit.
 */
function baseOf(
  wrote: readonly Readonly<Record<string, string>>[],
  fields: ReadonlyMap<string, unknown>,
): Record<string, string> {
  const base: Record<string, string> = {}
  for (const each of wrote.toReversed()) Object.assign(base, each)
  for (const field of OWNED_FIELDS) {
    const current = fields.has(field) ? hashValue(fields.get(field)) : null
    const known = wrote.find((each) => each[field] === current)?.[field]
    if (known !== undefined) base[field] = known
  }
  return base
}

/** In the order of a file, so that the same word is the same text. */
function inOrder(facts: SeedFacts): Record<string, unknown> {
  return Object.fromEntries(
    (['kind', ...OWNED_FIELDS] as const).flatMap((name) =>
      facts[name] === undefined ? [] : [[name, facts[name]]],
    ),
  )
}
