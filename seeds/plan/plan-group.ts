import { type ExistingListing, parseListingFields, renderListing } from '../content/listing-text.ts'
import { membersOf, tombstoneFileOf } from '../content/machine-files.ts'
import { hashValue, type LockEntry } from '../content/seed-lock.ts'
import { inOrder, namesOf, OWNED_FIELDS, type Seed, type SeedFacts } from '../facts/seed-facts.ts'
import { uniteFacts } from '../facts/unite-facts.ts'
import { isOwnRender } from './list-tellers.ts'
import {
  joinSources,
  leaveSources,
  type MergedListing,
  mergeListing,
  toSeedFacts,
} from './merge-listing.ts'
import type { Group, Teller } from './place-tellers.ts'
import { carryEvidence, planEvidence } from './plan-evidence.ts'
import {
  type Draft,
  type KeptListing,
  keep,
  planRemoval,
  refuse,
  type SeedOutcome,
  settle,
} from './seeding-plan.ts'

/** A teller whose word is a listing. */
interface Said extends Pick<Teller, 'importer' | 'key' | 'seed' | 'own' | 'at' | 'wrote'> {
  facts: SeedFacts
}

/** Rows that stood in a file for somebody who tells of it no more. */
export interface LeftRows {
  file: string
  sources: SeedFacts['sources']
}

/**
 * Plans a listing as everybody who tells of it says it together, over what people wrote. What each
 * said is remembered, so that a source that changes its mind, or goes, takes back its own word alone.
 */
export function planGroup(draft: Draft, group: Group, left: readonly LeftRows[]): void {
  const { existing } = draft.input
  const there = existing.get(group.file)
  const obstacle = findObstacle(draft, group, there)
  if (obstacle !== null) {
    for (const { seed } of group.tellers)
      if (seed !== null) leaveOut(draft, seed, group.file, obstacle)
    return
  }
  const said = group.tellers.flatMap(({ facts, ...teller }): Said[] => {
    const own = facts()
    return own === null ? [] : [{ ...teller, facts: own }]
  })
  const [first, ...others] = said
  if (first === undefined) return
  const outcome = group.isHandMade
    ? joinPeople(draft, group.file, said)
    : planSaid(draft, group.file, [first, ...others], left)
  for (const teller of said) {
    if (teller.seed === null) continue
    planEvidence(draft, group.file, teller.seed)
    settle(draft, teller.seed, group.file, teller === first ? outcome : 'merged')
  }
}

type Obstacle = KeptListing['why'] | 'slug_taken' | 'not_listed'

function leaveOut(draft: Draft, seed: Seed, file: string, obstacle: Obstacle): void {
  if (obstacle === 'slug_taken')
    refuse(draft, seed, obstacle, `expected no ${file}, or one that lists the same`)
  else if (obstacle === 'not_listed') refuse(draft, seed, obstacle, `expected a listing at ${file}`)
  else keep(draft, seed, file, obstacle)
}

/** What keeps a file from being planned: people's decisions, or another service of that name. */
function findObstacle(
  { input }: Draft,
  { file, isHandMade, tellers }: Group,
  there: ExistingListing | undefined,
): Obstacle | null {
  if (there !== undefined) {
    const isTheirs = isHandMade || tellers.some(({ at }) => at === file)
    const isAdopted =
      there.fields !== null && tellers.some(({ seed }) => seed !== null && isOwnRender(there, seed))
    if (!isTheirs && !isAdopted) return 'slug_taken'
    return there.text === null || there.fields === null ? 'left_as_is' : null
  }
  if (input.isListedOnly) return 'not_listed'
  const { id, by, replaced_by } = membersOf(input.machine.get(tombstoneFileOf(file)))
  const isMoved = replaced_by !== undefined && input.memories.has(String(by))
  const isBack = by === input.source.id && tellers.some(({ seed }) => seed !== null)
  return id === undefined || isMoved || isBack ? null : 'removed_by_people'
}

/**
 * A person's listing gets a row under `sources`. One that a person took out again stays out. What the
 * source says of it is remembered to be compared, and no sentence of it.
 */
function joinPeople(draft: Draft, file: string, said: readonly Said[]): SeedOutcome {
  for (const teller of said) {
    const { seed, at, facts } = teller
    if (seed === null) continue
    const text = draft.files.get(file) ?? draft.input.existing.get(file)?.text ?? ''
    const fields = parseListingFields(text)
    if (at === null && fields !== null) {
      const joined = joinSources({ text, fields }, facts)
      if (joined !== text) draft.files.set(file, joined)
    }
    const { sources, pricing, http } = facts
    remember(draft, teller, {
      file,
      wrote: { sources: hashValue(sources) },
      told: { sources, pricing, http: http?.map(({ url }) => ({ url })), ...namesOf(seed) },
    })
  }
  return 'merged'
}

function planSaid(
  draft: Draft,
  file: string,
  said: readonly [Said, ...Said[]],
  left: readonly LeftRows[],
): SeedOutcome {
  const [first, ...others] = said
  const { existing, today } = draft.input
  const { text: there } = existing.get(file) ?? {}
  const tombstone = membersOf(draft.input.machine.get(tombstoneFileOf(file)))
  // A run that was killed between a tombstone and its listing left both.
  planRemoval(draft, tombstoneFileOf(file))
  // The tombstone keeps the file as it was: what comes back is that file, brought up to date.
  const before = there ?? tombstone.listing
  const facts =
    others.length > 0 ? uniteFacts([first.facts, ...others.map((each) => each.facts)]) : first.facts
  const merged = typeof before === 'string' ? mergeSaid(before, { file, said, facts, left }) : null
  const text = merged?.text ?? renderListing(facts, first.seed?.published ?? today)
  const isAlone = others.length === 0 && merged !== null
  const final = isAlone ? text : withEarlierDay(draft, { file, text, said })
  if (final !== there) draft.files.set(file, final)
  for (const teller of said)
    remember(draft, teller, {
      file,
      wrote: merged?.wrote ?? hashFields(facts),
      ...(teller.own !== file && { own: teller.own }),
      ...(others.length > 0 && { said: inOrder(teller.facts) }),
    })
  noteEdits(draft, first, { file, fields: merged?.kept ?? [] })
  if (typeof there === 'string') return final === there ? 'unchanged' : 'changed'
  if (before === undefined) return 'added'
  carryEvidence(draft, file, tombstone.evidence)
  return 'returned'
}

function noteEdits(
  draft: Draft,
  { seed, key }: Said,
  edits: Omit<Draft['editedFields'][number], 'key'>,
): void {
  if (seed !== null && edits.fields.length > 0) draft.editedFields.push({ key, ...edits })
}

/** Over what people wrote, and without the rows of those who tell of it no more. */
function mergeSaid(
  before: string,
  about: { file: string; said: readonly Said[]; facts: SeedFacts; left: readonly LeftRows[] },
): MergedListing | null {
  const { file, said, facts, left } = about
  const rows = left.filter((each) => each.file === file)
  const text = withoutRows(before, facts, rows)
  const fields = parseListingFields(text)
  if (fields === null) return null
  const merged = mergeListing({ text, fields }, baseOf(said, fields), facts)
  return asRendered(text) === text ? { ...merged, text: asRendered(merged.text) } : merged
}

/** Takes out the rows of those who tell of it no more, unless somebody else says the same. */
function withoutRows(text: string, facts: SeedFacts, left: readonly LeftRows[]): string {
  const fields = parseListingFields(text)
  const nameOf = ({ source, ref }: { source: string; ref: string }) => `${source} ${ref}`
  const leaving = new Set(left.flatMap(({ sources }) => sources.map(nameOf)))
  for (const row of facts.sources) leaving.delete(nameOf(row))
  return fields === null ? text : leaveSources(text, fields, (row) => leaving.has(nameOf(row)))
}

/** Whichever source was read first: a listing is as old as the oldest of them says. */
function withEarlierDay(
  { input }: Draft,
  { file, text, said }: { file: string; text: string; said: readonly Said[] },
): string {
  const days = said.flatMap(({ seed, at }) => {
    const moved = at === null || at === file ? null : input.existing.get(at)?.fields?.get('added')
    return [seed?.published, moved].filter((day) => typeof day === 'string')
  })
  return text.replace(
    /^added: (\d{4}-\d\d-\d\d)$/m,
    (_, day: string) => `added: ${[day, ...days].sort()[0]}`,
  )
}

/** A file that no person touched has its fields in one order, no matter which source added them. */
function asRendered(text: string): string {
  const fields = parseListingFields(text)
  const facts = fields === null ? null : toSeedFacts(fields)
  const added = fields?.get('added')
  return facts === null || typeof added !== 'string' ? text : renderListing(facts, added)
}

/** The same word is the same entry, so that only memories that change are written. */
function remember(
  draft: Draft,
  { importer, key, seed }: Pick<Teller, 'importer' | 'key' | 'seed'>,
  entry: LockEntry,
): void {
  const entries = draft.entries.get(importer)
  const known = entries?.get(key)
  const { missing_since } = importer === draft.input.source.id ? {} : (known ?? {})
  const names = seed === null ? (known?.told ?? {}) : namesOf(seed)
  const next = {
    ...(Object.keys(names).length > 0 && { told: names }),
    ...entry,
    ...(missing_since !== undefined && { missing_since }),
  }
  if (known === undefined || hashValue(known) !== hashValue(next)) entries?.set(key, next)
}

/**
 * What was written last, field by field. A run that was killed may have told one source and not the
 * other: a field that holds what any of them remembers is nobody's edit.
 */
function baseOf(said: readonly Said[], fields: ReadonlyMap<string, unknown>) {
  const base: Record<string, string> = {}
  for (const { wrote } of said.toReversed()) Object.assign(base, wrote)
  for (const field of OWNED_FIELDS) {
    const current = fields.has(field) ? hashValue(fields.get(field)) : null
    const known = said.find(({ wrote }) => wrote[field] === current)?.wrote[field]
    if (known !== undefined) base[field] = known
  }
  return base
}

function hashFields(facts: SeedFacts): Record<string, string> {
  const { kind: _, ...owned } = inOrder(facts)
  return Object.fromEntries(Object.entries(owned).map(([name, value]) => [name, hashValue(value)]))
}
