import type { NamedRow, SourceFile, SourceRow } from '../../src/domain/sources/source-row.ts'
import { SOURCE_FIELDS } from '../../src/domain/sources/source-row.ts'
import { toCanonicalJson } from '../../src/domain/wire/canonical-json.ts'
import { isJsonObject } from '../../src/domain/wire/parse-json.ts'
import { findHandsOff, type HandsOff } from '../content/hands-off.ts'
import type { Refusal } from '../facts/refusal.ts'
import { payeesOf, type Seed } from '../facts/seed-facts.ts'
import type { ChosenSeeds, SeedSource } from '../facts/seed-source.ts'

/** What two whole runs this far apart don't show is gone (milliseconds). */
const MISSING_FOR = 24 * 3_600_000

/** Where a row is, once all rows of all sources have found their listings. */
export interface TakenRow {
  /** Id of the listing that takes it. */
  listing: string
  /** What its end is for the listing: the last thing known of it, its last source, or one of several. */
  end: 'tombstone' | 'notice' | 'other_source'
}

export interface RowsInput {
  source: Pick<SeedSource, 'id' | 'promisesAll'>
  chosen: ChosenSeeds
  /** What the importer wrote last. */
  known: SourceFile
  /** Of the importer's rows, by key, those that a listing takes. */
  place(rows: SourceFile): ReadonlyMap<string, TakenRow>
  /** A row as its file has it. */
  parse(row: object): SourceRow
  handsOff: HandsOff
  /** ISO 8601. */
  now: string
  /** False for a run over a part of the source: it can't know what is missing. */
  isComplete: boolean
  /** False where the run stops before the end of the source, so that it may show one half of a change. */
  showsDeleted: boolean
  /** True where a run takes rows of listings that are there and no others. */
  isListedOnly: boolean
}

export type RowOutcome = 'added' | 'merged' | 'changed' | 'unchanged' | 'returned' | 'kept'

export interface RowsPlan {
  file: SourceFile
  outcomes: { key: string; listing: string | null; outcome: RowOutcome; rows: number }[]
  refused: Refusal[]
  withdrawn: { key: string; listing: string; how: TakenRow['end'] }[]
  /** Rows that wait for a person. */
  waiting: number
}

/**
 * What an importer's file becomes: rows that the source shows as it shows them, the others as they
 * were. Pure, so that a dry run and a run can't differ.
 */
export function planRows(input: RowsInput): RowsPlan {
  const { chosen, known, isComplete, isListedOnly } = input
  const rows = new Map(Object.entries(known.rows))
  const plan: Omit<RowsPlan, 'file' | 'waiting'> = { outcomes: [], refused: [], withdrawn: [] }
  const told = chosen.seeds.filter((seed) => isTold(input, seed, plan, rows))
  for (const seed of told) rows.set(seed.key, toRow(input, seed))
  for (const seed of isListedOnly ? [] : chosen.held)
    if (known.rows[seed.key]?.held !== undefined || !rows.has(seed.key))
      rows.set(seed.key, toRow(input, seed))
  const gone = findGone(input, rows)
  const placed = input.place({ rows: Object.fromEntries(rows) })
  for (const seed of told) settle(input, seed, { plan, rows, taken: placed.get(seed.key) })
  for (const key of gone) {
    const taken = placed.get(key)
    if (taken === undefined) rows.delete(key)
    else plan.withdrawn.push({ key, listing: taken.listing, how: taken.end })
  }
  const taken = isComplete ? chosen.seeds.length : known.taken
  const file = { ...(taken !== undefined && { taken }), rows: Object.fromEntries(rows) }
  const waiting = [...rows].filter(
    ([key, { withdrawn }]) => withdrawn === undefined && !placed.has(key),
  ).length
  return { ...plan, file, waiting }
}

type Rows = Map<string, SourceRow>
type Draft = Omit<RowsPlan, 'file' | 'waiting'>

/** @returns false for what people keep out or keep to themselves. */
function isTold({ handsOff, now }: RowsInput, seed: Seed, plan: Draft, rows: Rows): boolean {
  const { key, rows: count } = seed
  const rule = findHandsOff(handsOff, seed)
  if (rule === undefined) return true
  if (rule.rule === 'leave_as_is')
    plan.outcomes.push({ key, listing: null, outcome: 'kept', rows: count })
  else {
    plan.refused.push({ reason: 'opted_out', name: key, detail: rule.reason, rows: count })
    const there = rows.get(key)
    if (there !== undefined) rows.set(key, { ...there, withdrawn: there.withdrawn ?? now })
  }
  return false
}

/** A row that says the same as before is the row that was there. */
function toRow({ known, parse, now }: RowsInput, seed: Seed): SourceRow {
  const before = known.rows[seed.key]
  const { prefix, slug, facts, published, evidence, skill, suspicious, withheld = [] } = seed
  const payees = payeesOf(seed)
  const of = seed.into ?? before?.of
  // Who reads a seller tells of its files; the listing is there already.
  const isReader = seed.into !== undefined
  const row = parse({
    id: `${prefix}.${slug}`,
    ...(of !== undefined && { of }),
    added: published ?? before?.added ?? now.slice(0, 10),
    facts: Object.fromEntries(
      SOURCE_FIELDS.flatMap((field) =>
        facts[field] === undefined ||
        withheld.includes(field) ||
        (isReader && field !== 'discovery')
          ? []
          : [[field, facts[field]]],
      ),
    ),
    ...(evidence !== undefined && { evidence: withTimes(evidence, before?.evidence) }),
    ...(payees.length > 0 && { names: { payees } }),
    ...(skill !== undefined && { skill }),
    ...(suspicious !== undefined && { held: suspicious }),
  })
  return before !== undefined && toCanonicalJson(before) === toCanonicalJson(row) ? before : row
}

/** A member that says the same as before keeps its time, so that a second run changes nothing. */
function withTimes(evidence: object, before: object = {}): object {
  const known = new Map<string, unknown>(Object.entries(before))
  const isSame = (name: string, value: unknown) =>
    toCanonicalJson(withoutTime(known.get(name))) === toCanonicalJson(withoutTime(value))
  return Object.fromEntries(
    Object.entries(evidence).map(([name, value]) => [
      name,
      isSame(name, value) ? known.get(name) : value,
    ]),
  )
}

function withoutTime(value: unknown): unknown {
  if (!isJsonObject(value)) return value
  const { at: _at, as_of: _asOf, ...rest } = value
  return rest
}

/** Marks what the source withdrew, at its word or because two whole runs a day apart don't have it. */
function findGone(input: RowsInput, rows: Rows): string[] {
  const { source, chosen, isComplete, showsDeleted, now } = input
  const shown = new Set([...chosen.seeds, ...chosen.held].map(({ key }) => key))
  const refused = new Set(chosen.refused.map(({ name }) => name))
  const deleted = new Set(showsDeleted ? chosen.deleted : [])
  return [...rows].flatMap(([key, row]) => {
    if (row.withdrawn !== undefined || shown.has(key)) return []
    const { missing_since: since, ...there } = row
    const isMissing = isComplete && source.promisesAll && !refused.has(key)
    if (refused.has(key)) rows.set(key, there)
    else if (isMissing && since === undefined) rows.set(key, { ...row, missing_since: now })
    const isOverdue = since !== undefined && Date.parse(now) - Date.parse(since) >= MISSING_FOR
    if (!deleted.has(key) && !(isMissing && isOverdue)) return []
    rows.set(key, { ...there, withdrawn: now })
    return [key]
  })
}

interface Settling {
  plan: Draft
  rows: Rows
  taken: TakenRow | undefined
}

/** What becomes of a seed: each row ends in exactly one outcome, or is refused. */
function settle({ known, isListedOnly }: RowsInput, seed: Seed, { plan, rows, taken }: Settling) {
  const { key, rows: count } = seed
  const before = known.rows[key]
  if (isListedOnly && before === undefined && taken === undefined) {
    rows.delete(key)
    const detail = 'expected a listing that is there'
    plan.refused.push({ reason: 'not_listed', name: key, detail, rows: count })
    return
  }
  const outcome = toOutcome(before, rows.get(key), taken)
  plan.outcomes.push({ key, listing: taken?.listing ?? null, outcome, rows: count })
}

function toOutcome(
  before: SourceRow | undefined,
  row: SourceRow | undefined,
  taken: TakenRow | undefined,
): RowOutcome {
  if (before === undefined) return taken === undefined ? 'added' : 'merged'
  if (before.withdrawn !== undefined) return 'returned'
  return before === row ? 'unchanged' : 'changed'
}

/** Of the rows that a listing takes, what the end of this one would be. */
export function toEnd(rows: readonly NamedRow[], isWords: boolean): TakenRow['end'] {
  if (rows.some(({ row }) => row.withdrawn === undefined)) return 'other_source'
  return isWords ? 'tombstone' : 'notice'
}
