import { isJsonObject } from '../../src/domain/wire/parse-json.ts'
import { evidenceFileOf, membersOf, renderJson } from '../content/machine-files.ts'
import { hashValue } from '../content/seed-lock.ts'
import type { Seed } from '../facts/seed-facts.ts'
import { type Draft, plannedText, planRemoval, planText } from './seeding-plan.ts'

const WITHDRAWN = 'withdrawn_at_source'

/** Puts a source's members into the evidence file beside a listing, the others untouched. */
export function planEvidence(draft: Draft, listing: string, seed: Seed): void {
  const file = evidenceFileOf(listing)
  const members = withMembers(membersOf(plannedText(draft, file)), seed.evidence ?? {})
  removeNotice(members)
  if (Object.keys(members).length === 0) planRemoval(draft, file)
  else if (isChanged(draft, file, members)) planText(draft, file, renderJson(members))
}

/** Evidence comes back, or moves, with its listing. */
export function carryEvidence(draft: Draft, listing: string, evidence: unknown): void {
  if (!isJsonObject(evidence) || Object.keys(evidence).length === 0) return
  const file = evidenceFileOf(listing)
  const members = withMembers(evidence, membersOf(plannedText(draft, file)))
  planText(draft, file, renderJson(members))
}

function withMembers(known: Record<string, unknown>, told: Readonly<Record<string, unknown>>) {
  const united = Object.entries(told).map(([name, value]) => [name, unite(known[name], value)])
  return { ...known, ...Object.fromEntries(united) }
}

/**
 * A member that says the same as before keeps its time, so that a second run changes nothing; and
 * what a catalogue says of a seller never replaces what the seller said itself.
 */
function unite(known: unknown, value: unknown): unknown {
  const stays = isSaidAlready(known, value) || isFromSeller(known, value)
  return stays ? known : uniteTools(known, value)
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

/** Two catalogues may know different tools of a server; of one tool what either knows, parameters of the richer. */
function uniteTools(known: unknown, value: unknown): unknown {
  if (!isJsonObject(known) || !isJsonObject(value)) return value
  const isBoth = known.from === 'catalog' && value.from === 'catalog'
  if (!isBoth || !Array.isArray(known.tools) || !Array.isArray(value.tools)) return value
  const byName = new Map<string, Record<string, unknown>>()
  for (const tool of [...known.tools, ...value.tools].filter(isJsonObject)) {
    const other = byName.get(String(tool.name)) ?? {}
    const isRicher = richness(tool) > richness(other)
    byName.set(String(tool.name), isRicher ? { ...other, ...tool } : { ...tool, ...other })
  }
  const tools = [...byName].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, tool]) => tool)
  const united = { ...value, tools }
  return isSaidAlready(known, united) ? known : united
}

/** Longest first, then by its text: the same one stays in whatever order they are read. */
function richness(tool: Record<string, unknown>): string {
  const schema = JSON.stringify(tool.input_schema ?? {})
  return `${String(schema.length).padStart(8, '0')} ${JSON.stringify(tool)}`
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
