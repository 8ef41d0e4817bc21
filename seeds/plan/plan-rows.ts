import type { NamedRow, SourceFile, SourceRow } from '../../src/domain/sources/source-row.ts'
import { SOURCE_FIELDS } from '../../src/domain/sources/source-row.ts'
import { ageOf, hasPrices } from '../../src/domain/trust/age.ts'
import { isJsonObject, memberOf, present, toCanonicalJson } from '../../src/domain/wire/json.ts'
import { findHandsOff, type HandsOff } from '../content/content-files.ts'
import type { ChosenSeeds, Seed, SeedSource } from '../facts/map-rows.ts'
import type { Refusal } from '../facts/refusal.ts'

/** A row missing from two full runs this far apart is gone (milliseconds). */
const MISSING_FOR = 24 * 3_600_000

/** A row's placement, once all rows of all sources have found their listings. */
export interface TakenRow {
  listing: string
  /** What losing it means for the listing: its last fact, its last source, or one of several. */
  end: 'tombstone' | 'notice' | 'other_source'
}

export interface RowsInput {
  source: Pick<SeedSource, 'id' | 'promisesAll'>
  chosen: ChosenSeeds
  known: SourceFile
  /** The importer's rows that belong to a listing, by key. */
  place(rows: SourceFile): ReadonlyMap<string, TakenRow>
  parse(row: object): SourceRow
  handsOff: HandsOff
  now: string
  /** False for a partial run: it can't know what is missing. */
  isComplete: boolean
  /** False where the run stops before the end of the source: it may see half of a change. */
  showsDeleted: boolean
  /** True where a run only accepts rows of existing listings. */
  isListedOnly: boolean
}

export type RowOutcome = 'added' | 'merged' | 'changed' | 'unchanged' | 'returned' | 'kept'

export interface RowsPlan {
  file: SourceFile
  outcomes: { key: string; listing: string | null; outcome: RowOutcome; rows: number }[]
  refused: Refusal[]
  withdrawn: { key: string; listing: string; how: TakenRow['end'] }[]
  /** Rows that wait for a reviewer. */
  waiting: number
}

/**
 * The new content of an importer's file: rows that the source shows are updated, the others stay.
 * Pure, so that a dry run and a run can't differ.
 */
export function planRows(input: RowsInput): RowsPlan {
  const { chosen, known, isComplete, isListedOnly } = input
  const rows = new Map(Object.entries(known.rows))
  const plan: Omit<RowsPlan, 'file' | 'waiting'> = { outcomes: [], refused: [], withdrawn: [] }
  const reported = chosen.seeds.filter((seed) => isReported(input, seed, plan, rows))
  for (const seed of reported) rows.set(seed.key, toRow(input, seed))
  for (const seed of isListedOnly ? [] : chosen.held)
    if (known.rows[seed.key]?.held !== undefined || !rows.has(seed.key))
      rows.set(seed.key, toRow(input, seed))
  const gone = findGone(input, rows)
  const placed = input.place({ rows: Object.fromEntries(rows) })
  for (const seed of reported) settle(input, seed, { plan, rows, taken: placed.get(seed.key) })
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

/** @returns false for rows that people keep out or manage themselves. */
function isReported({ handsOff, now }: RowsInput, seed: Seed, plan: Draft, rows: Rows): boolean {
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

/** An unchanged row stays the same object. */
function toRow({ known, parse, now }: RowsInput, seed: Seed): SourceRow {
  const before = known.rows[seed.key]
  const { id, facts, published, evidence, skill, suspicious, withheld = [] } = seed
  const of = seed.adds ? id : before?.of
  const today = now.slice(0, 10)
  const row = parse({
    id,
    ...present({ of }),
    added: published ?? before?.added ?? today,
    facts: Object.fromEntries(
      SOURCE_FIELDS.flatMap((field) =>
        facts[field] === undefined || withheld.includes(field) ? [] : [[field, facts[field]]],
      ),
    ),
    ...(evidence !== undefined && { evidence: withTimes(evidence, before?.evidence, today) }),
    ...(seed.payees !== undefined && seed.payees.length > 0 && { payees: seed.payees }),
    ...(skill !== undefined && { skill }),
    ...present({ deprecated: seed.deprecated, held: suspicious }),
  })
  const { read: _, ...same } = before ?? {}
  const isSame = toCanonicalJson(same) === toCanonicalJson(row)
  const isPriced = hasPrices(row.facts)
  if (before !== undefined && isSame && !(isPriced && isAged(before.read ?? before.added, today)))
    return before
  return isPriced && row.added !== today ? parse({ ...row, read: today }) : row
}

/** An unchanged fact keeps its day this long, so that a second run changes nothing. */
const RENEWED_DAYS = 30

function isAged(day: string | undefined, today: string): boolean {
  return day === undefined || ageOf(day, today) >= RENEWED_DAYS
}

function withTimes(evidence: object, before: object = {}, today: string): object {
  const known = new Map<string, unknown>(Object.entries(before))
  const isSame = (name: string, value: unknown) =>
    toCanonicalJson(withoutTime(known.get(name))) === toCanonicalJson(withoutTime(value)) &&
    !isAged(timeOf(known.get(name)), today)
  return Object.fromEntries(
    Object.entries(evidence).map(([name, value]) => [
      name,
      isSame(name, value) ? known.get(name) : value,
    ]),
  )
}

function timeOf(value: unknown): string | undefined {
  const time = memberOf(value, 'at') ?? memberOf(value, 'as_of')
  return typeof time === 'string' ? time : undefined
}

function withoutTime(value: unknown): unknown {
  if (!isJsonObject(value)) return value
  const { at: _at, as_of: _asOf, ...rest } = value
  return rest
}

/** Marks rows the source withdrew, explicitly or by missing from two full runs a day apart. */
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

/** The outcome of a seed: each row has exactly one, or is refused. */
function settle(
  { known, isListedOnly }: RowsInput,
  { key, rows: count }: Seed,
  { plan, rows, taken }: { plan: Draft; rows: Rows; taken: TakenRow | undefined },
) {
  const before = known.rows[key]
  if (isListedOnly && before === undefined && taken === undefined) {
    rows.delete(key)
    const detail = 'expected a listing that is there'
    plan.refused.push({ reason: 'not_listed', name: key, detail, rows: count })
    return
  }
  let outcome: RowOutcome = before === rows.get(key) ? 'unchanged' : 'changed'
  if (before === undefined) outcome = taken === undefined ? 'added' : 'merged'
  else if (before.withdrawn !== undefined) outcome = 'returned'
  plan.outcomes.push({ key, listing: taken?.listing ?? null, outcome, rows: count })
}

/** What losing this row would mean among the rows of its listing. */
export function toEnd(rows: readonly NamedRow[], isWords: boolean): TakenRow['end'] {
  if (rows.some(({ row }) => row.withdrawn === undefined)) return 'other_source'
  return isWords ? 'tombstone' : 'notice'
}
