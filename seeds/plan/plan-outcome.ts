import { isJsonObject } from '../../src/domain/wire/parse-json.ts'
import type { ExistingListing } from '../content/existing-listing.ts'
import { renderListing } from '../content/listing-text.ts'
import { evidenceFileOf, membersOf, renderJson } from '../content/machine-files.ts'
import { hashValue } from '../content/seed-lock.ts'
import { OWNED_FIELDS, type Seed } from '../facts/seed-facts.ts'
import {
  type Draft,
  type KeptListing,
  plannedText,
  planRemoval,
  planText,
  type SeedOutcome,
} from './seeding-plan.ts'

const WITHDRAWN = 'withdrawn_at_source'

/**
 * Puts a source's members into the evidence file beside a listing, the others untouched. A member
 * that says the same as before keeps its time, so that a second run changes nothing; and what a
 * catalogue says of a seller never replaces what the seller said itself.
 */
export function planEvidence(draft: Draft, listing: string, seed: Seed): void {
  const file = evidenceFileOf(listing)
  const members = membersOf(plannedText(draft, file))
  for (const [name, value] of Object.entries(seed.evidence ?? {})) {
    const known = members[name]
    if (isSaidAlready(known, value) || isFromSeller(known, value)) continue
    members[name] = uniteTools(known, value)
  }
  removeNotice(members)
  if (Object.keys(members).length === 0) planRemoval(draft, file)
  else if (isChanged(draft, file, members)) planText(draft, file, renderJson(members))
}

/** Evidence comes back with its listing. */
export function restoreEvidence(draft: Draft, listing: string, evidence: unknown): void {
  if (isJsonObject(evidence)) planText(draft, evidenceFileOf(listing), renderJson(evidence))
}

/** What a listing that people edited is told by when its source withdraws it. */
export function planWithdrawnNotice(draft: Draft, listing: string, note: string): void {
  const file = evidenceFileOf(listing)
  const members = membersOf(plannedText(draft, file))
  const notices = noticesOf(members)
  if (notices.some((notice) => isJsonObject(notice) && notice.id === WITHDRAWN)) return
  members.notices = [...notices, { id: WITHDRAWN, note, at: draft.input.now }]
  planText(draft, file, renderJson(members))
}

/** A listing its source shows again is not withdrawn any more. */
function removeNotice(members: Record<string, unknown>): void {
  const rest = noticesOf(members).filter(
    (notice) => !isJsonObject(notice) || notice.id !== WITHDRAWN,
  )
  if (rest.length === 0) delete members.notices
  else members.notices = rest
}

function noticesOf(members: Record<string, unknown>): unknown[] {
  return Array.isArray(members.notices) ? members.notices : []
}

function isChanged(draft: Draft, file: string, members: Record<string, unknown>): boolean {
  const before = membersOf(plannedText(draft, file))
  return hashValue(before) !== hashValue(members)
}

function isSaidAlready(known: unknown, value: unknown): boolean {
  return known !== undefined && hashValue(withoutTime(known)) === hashValue(withoutTime(value))
}

/** Two catalogues may know different tools of a server; of one tool the one with parameters stays. */
function uniteTools(known: unknown, value: unknown): unknown {
  if (!isJsonObject(known) || !isJsonObject(value)) return value
  const isBoth = known.from === 'catalog' && value.from === 'catalog'
  if (!isBoth || !Array.isArray(known.tools) || !Array.isArray(value.tools)) return value
  const byName = new Map<string, Record<string, unknown>>()
  for (const tool of [...known.tools, ...value.tools].filter(isJsonObject)) {
    const other = byName.get(String(tool.name))
    if (other === undefined || richness(tool) > richness(other)) byName.set(String(tool.name), tool)
  }
  const tools = [...byName].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, tool]) => tool)
  const united = { ...value, tools }
  return isSaidAlready(known, united) ? known : united
}

/** Longest first, then by its text: the same one stays in whatever order they are read. */
function richness(tool: Record<string, unknown>): string {
  const schema = JSON.stringify(tool.input_schema ?? {})
  return `${String(schema.length).padStart(8, '0')} ${schema}`
}

function isFromSeller(known: unknown, value: unknown): boolean {
  const isCatalog = isJsonObject(value) && value.from === 'catalog'
  return isCatalog && isJsonObject(known) && known.from !== 'catalog'
}

function withoutTime(value: unknown): unknown {
  if (!isJsonObject(value)) return value
  const { at: _at, as_of: _asOf, ...rest } = value
  return rest
}

/** What becomes of a seed whose listing is there. */
export function settle(
  draft: Draft,
  seed: Seed,
  there: ExistingListing,
  text: string,
  outcome: SeedOutcome,
): void {
  if (text !== there.text) draft.files.set(there.file, text)
  planEvidence(draft, there.file, seed)
  draft.outcomes.push({ key: seed.key, file: there.file, outcome, rows: seed.rows })
}

export function write(
  draft: Draft,
  seed: Seed,
  file: string,
  text: string,
  outcome: SeedOutcome,
): void {
  draft.listings.set(seed.key, { file, wrote: hashFields(seed) })
  planText(draft, file, text)
  planEvidence(draft, file, seed)
  draft.outcomes.push({ key: seed.key, file, outcome, rows: seed.rows })
}

export function keep(draft: Draft, seed: Seed, file: string, why: KeptListing['why']): void {
  draft.kept.push({ key: seed.key, file, why })
  draft.outcomes.push({ key: seed.key, file, outcome: 'kept', rows: seed.rows })
}

export function refuse(
  draft: Draft,
  seed: Seed,
  reason: 'opted_out' | 'slug_taken',
  detail: string,
) {
  draft.refused.push({ reason, name: seed.key, detail, rows: seed.rows })
}

export function isOwnRender({ text, fields }: ExistingListing, seed: Seed): boolean {
  const added = fields?.get('added')
  return typeof added === 'string' && text === renderListing(seed.facts, added)
}

export function hashFields(seed: Seed): Record<string, string> {
  return Object.fromEntries(
    OWNED_FIELDS.filter((field) => seed.facts[field] !== undefined).map((field) => [
      field,
      hashValue(seed.facts[field]),
    ]),
  )
}
