import { sourceFileOf } from '../../src/content/read.ts'
import {
  createRowParser,
  type NamedRow,
  renderSourceFile,
  SOURCE_FIELDS,
  type SourceFile,
  type SourceRow,
} from '../../src/domain/sources/source-row.ts'
import { hasPrices } from '../../src/domain/trust/age.ts'
import { ageOf } from '../../src/domain/trust/trust.ts'
import { isJsonObject, memberOf, present, toCanonicalJson } from '../../src/domain/wire/json.ts'
import { createTaskFinder } from '../../src/search/words/operation-tasks.ts'
import {
  findHandsOff,
  type HandsOff,
  type Listed,
  openContent,
  readHandsOff,
  readListed,
  readTables,
} from '../content/content-files.ts'
import { type ChosenSeeds, type Seed, type SeedSource, withTasks } from '../facts/map-rows.ts'
import type { Refusal, RefusalReason } from '../facts/refusal.ts'
import {
  createProgress,
  type ProgressStream,
  type ReadRows,
  readSource,
} from '../fetch/read-source.ts'
import { SOURCE_IDS, SOURCES } from '../sources/sources.ts'

/** A source that lost more than this share of its listings at once is broken, not shrinking. */
const LEAST_SHARE = 0.5

/** A page that only names removed or old rows is not a sign of an error. */
const HONEST: readonly RefusalReason[] = ['deleted', 'inactive', 'not_latest', 'opted_out']

interface SeedingPorts {
  progress: ProgressStream
  now: () => number
  retryMs: number
  /** For trials with fictional sellers. */
  allowPlaceholders: boolean
  /** Lets rows name sellers on this machine; for trials. */
  allowPrivate?: boolean
}

/** As in the help of `npm run seed`; null where one is left out. */
export interface RunOptions {
  importer: string
  from: string | null
  contentDir: string
  limit: number | null
  dryRun: boolean
  listed: boolean
  force: boolean
  /** ISO 8601, as `since`. */
  now: string
  since: string | null
}

/**
 * Reads a source, plans, and writes its one file unless this is a dry run or looks wrong: a run
 * killed at any time leaves the old file or the new one.
 *
 * @throws Error when the source or the content can't be read, or the disk fails.
 */
export async function runSeeding(options: RunOptions, ports: SeedingPorts) {
  const started = ports.now()
  const { contentDir, importer } = options
  const source = SOURCES.find(({ id }) => id === importer)
  if (source === undefined) throw new Error(`expected one of ${SOURCE_IDS.join(', ')}`)
  // Taken before anything is read: two runs at once would each undo what the other wrote.
  const writer = options.dryRun ? null : await openContent(contentDir)
  try {
    const rules = { allowPrivate: ports.allowPrivate ?? false }
    const content: Content = {
      listed: readListed(contentDir, rules),
      parse: createRowParser(rules),
      handsOff: readHandsOff(contentDir),
    }
    const read = await readChosen(source, options, ports, content)
    const result = judge(source, read, options, content)
    if (writer !== null && result.suspicion === null && result.isChanged)
      await writer.write(sourceFileOf(source.id), renderSourceFile(result.plan.file))
    return { ...result, seconds: (ports.now() - started) / 1000 }
  } finally {
    await writer?.release()
  }
}

interface Content {
  listed: Listed
  parse: ReturnType<typeof createRowParser>
  handsOff: HandsOff
}

async function readChosen(
  source: SeedSource,
  options: RunOptions,
  ports: SeedingPorts,
  { listed }: Content,
) {
  const { contentDir, limit, now } = options
  const { tasks, ...tables } = readTables(contentDir)
  const from = sourceAddress(source, options)
  const progress = createProgress(ports.progress, ports.now)
  const own = from === '' ? source.fromContent?.(toFacts(listed)) : undefined
  const first =
    own === undefined
      ? await readSource({ source, from, limit, retryMs: ports.retryMs, progress })
      : { values: limit === null ? own : own.slice(0, limit), refused: [] }
  const rows = source.follow === undefined ? first : await followRows(source.follow, first, ports)
  const { allowPlaceholders } = ports
  const chosen = source.choose(rows.values, { ...tables, allowPlaceholders, now })
  const findTask = createTaskFinder(tasks)
  const named = (seeds: readonly Seed[]) => seeds.map((seed) => withTasks(seed, findTask))
  return {
    rows,
    chosen: { ...chosen, seeds: named(chosen.seeds), held: named(chosen.held) },
    from,
  }
}

function toFacts(listed: Listed) {
  const { listings, broken } = listed.join()
  return [...listings, ...broken].sort((a, b) => (a.id < b.id ? -1 : 1))
}

/** Addresses in rows are read through the guard, whatever the operator may name himself. */
async function followRows(
  follow: NonNullable<SeedSource['follow']>,
  rows: ReadRows,
  ports: SeedingPorts,
): Promise<ReadRows> {
  // Loaded only to read sellers: a saved file needs no HTTP client.
  const { createSellerReader } = await import('../fetch/read-sellers.ts')
  const reader = createSellerReader(ports.allowPrivate ?? false)
  try {
    const { values, refused } = await follow(rows.values, reader)
    return { values, refused: [...rows.refused, ...refused] }
  } finally {
    await reader.close()
  }
}

function sourceAddress(source: SeedSource, { from, since }: RunOptions): string {
  const start = from ?? source.liveUrl
  if (start === null) throw new Error(`${source.id}: expected --from with a file`)
  const isLive = /^https?:\/\//i.test(start)
  if (since === null || !isLive || source.sinceParameter === undefined) return start
  const url = new URL(start)
  url.searchParams.set(source.sinceParameter, since)
  return url.href
}

function judge(
  source: SeedSource,
  { rows, chosen, from }: { rows: ReadRows; chosen: ChosenSeeds; from: string },
  options: RunOptions,
  { listed, handsOff, parse }: Content,
) {
  const { now, limit, since } = options
  const known = listed.sources.get(source.id) ?? { rows: {} }
  const isComplete = limit === null && since === null && !options.listed
  const plan = planRows({
    source,
    chosen,
    known,
    place: (file) => placeAll(listed, source.id, file),
    parse,
    handsOff,
    now,
    isComplete,
    showsDeleted: limit === null,
    isListedOnly: options.listed || source.addsOnly === true,
  })
  const read = rows.values.length + rows.refused.length
  const refused = [...rows.refused, ...chosen.refused, ...plan.refused]
  const taken = chosen.seeds.length
  const takenBefore = isComplete ? (known.taken ?? 0) : 0
  return {
    importer: source.id,
    from,
    rows: read,
    refused,
    dropped: chosen.dropped,
    plan,
    seeds: chosen.seeds,
    isChanged: renderSourceFile(plan.file) !== renderSourceFile(known),
    /** Why nothing was written although the source could be read. */
    suspicion: options.force ? null : findSuspicion(read, refused, taken, takenBefore),
    /** Accepted in an earlier run, refused by this one: for people to look at. */
    refusedNow: findRefusedNow(chosen, plan.file),
  }
}

/** The importer's position among all. */
function placeAll(listed: Listed, importer: string, file: SourceFile): Map<string, TakenRow> {
  const { taken } = listed.place(new Map([...listed.sources, [importer, file]]))
  return new Map(
    [...taken].flatMap(([listing, rows]) => {
      const facts = listed.written.get(listing)?.facts
      const end = toEnd(rows, facts?.url === undefined || facts.kind === undefined)
      const own = rows.filter((row) => row.importer === importer)
      return own.map(({ key }) => [key, { listing, end }] as const)
    }),
  )
}

/** Why a run should not be believed. @param takenBefore 0 for a partial run, or the first */
function findSuspicion(
  read: number,
  refused: readonly Refusal[],
  taken: number,
  takenBefore: number,
): string | null {
  if (taken === 0 && read > 0 && refused.some(({ reason }) => !HONEST.includes(reason)))
    return `every one of ${read} rows was refused`
  if (taken < takenBefore * LEAST_SHARE)
    return `${taken} listings where the last whole run took ${takenBefore}`
  return null
}

function findRefusedNow({ refused }: ChosenSeeds, { rows }: SourceFile) {
  return refused.filter(({ name, reason }) => {
    const row = rows[name]
    return row !== undefined && row.held === undefined && reason !== 'deleted'
  })
}

/** A row missing from two full runs this far apart is gone (milliseconds). */
const MISSING_FOR = 24 * 3_600_000

/** A row's placement, once all rows of all sources have found their listings. */
interface TakenRow {
  listing: string
  /** What losing it means for the listing: its last fact, its last source, or one of several. */
  end: 'tombstone' | 'notice' | 'other_source'
}

interface RowsInput {
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
function planRows(input: RowsInput): RowsPlan {
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
function toEnd(rows: readonly NamedRow[], isWords: boolean): TakenRow['end'] {
  if (rows.some(({ row }) => row.withdrawn === undefined)) return 'other_source'
  return isWords ? 'tombstone' : 'notice'
}
