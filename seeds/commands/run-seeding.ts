import { sourceFileOf } from '../../src/content/read.ts'
import { sampleAddress } from '../../src/domain/listing/invoke.ts'
import { toAsciiAddress } from '../../src/domain/listing/target-url.ts'
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
import { DAY_MS } from '../../src/domain/wire/shapes.ts'
import { createTaskFinder } from '../../src/search/words/operation-tasks.ts'
import {
  type HandsOff,
  type Listed,
  openContent,
  readHandsOff,
  readListed,
  readTables,
} from '../content/content-files.ts'
import {
  type ChosenSeeds,
  type Refusal,
  type RefusalReason,
  type Seed,
  withTasks,
} from '../facts/map-rows.ts'
import { createSellerReader } from '../fetch/read-sellers.ts'
import { type ReadRows, readSource, type SeedSource } from '../fetch/read-source.ts'
import { SOURCE_IDS, SOURCES } from '../sources/sources.ts'

/** A source that lost more than this share of its listings at once is probably broken. */
const LEAST_SHARE = 0.5

/** Reasons that don't suggest an error: a page may consist only of removed or old rows. */
const HONEST: readonly RefusalReason[] = ['deleted', 'inactive', 'not_latest', 'opted_out']

/** The options described in the help of `npm run seed`; null if left out. */
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
  /** The first pause before a page is read again (milliseconds). */
  retryMs: number
  /** For trials with fictional sellers. */
  allowPlaceholders?: boolean
  /** Lets rows name sellers on this machine; for trials. */
  allowPrivate?: boolean
}

/**
 * Reads a source, plans, and writes its one file, unless this is a dry run or looks wrong. A run
 * killed at any time leaves either the old file or the new file.
 * @throws Error if the source or the content can't be read, or the disk fails
 */
export async function runSeeding(options: RunOptions) {
  const started = Date.now()
  const { contentDir, importer, allowPrivate = false } = options
  const source = SOURCES.find(({ id }) => id === importer)
  if (source === undefined) throw new Error(`expected one of ${SOURCE_IDS.join(', ')}`)
  // The lock is taken before anything is read: concurrent runs would undo each other's writes.
  const writer = options.dryRun ? null : await openContent(contentDir)
  try {
    const listed = readListed(contentDir, { allowPrivate })
    const read = await readChosen(source, options, listed)
    const result = judge(source, read, options, listed)
    const text = renderSourceFile(result.plan.file)
    const isChanged = text !== renderSourceFile(result.known)
    if (writer !== null && result.suspicion === null && isChanged)
      await writer.write(sourceFileOf(source.id), text)
    return { ...result, isChanged, seconds: (Date.now() - started) / 1000 }
  } finally {
    await writer?.release()
  }
}

async function readChosen(source: SeedSource, options: RunOptions, listed: Listed) {
  const { contentDir, limit, now, retryMs, allowPlaceholders = false } = options
  const { tasks, ...tables } = readTables(contentDir)
  const from = sourceAddress(source, options)
  const own = from === '' ? source.fromContent?.(toFacts(listed)) : undefined
  const first =
    own === undefined
      ? await readSource({ source, from, limit, retryMs })
      : { values: limit === null ? own : own.slice(0, limit), refused: [] }
  const rows = await followRows(source, first, options.allowPrivate ?? false)
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

/** Addresses in rows are read through the guard, because the operator did not choose them. */
async function followRows(
  { follow }: SeedSource,
  rows: ReadRows,
  allowPrivate: boolean,
): Promise<ReadRows> {
  if (follow === undefined) return rows
  const reader = createSellerReader(allowPrivate)
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
  { rows, chosen, from }: Awaited<ReturnType<typeof readChosen>>,
  options: RunOptions,
  listed: Listed,
) {
  const known = listed.sources.get(source.id) ?? { rows: {} }
  const isComplete = options.limit === null && options.since === null && !options.listed
  const isListedOnly = options.listed || source.addsOnly === true
  const input = { source, chosen, known, listed, options, isComplete, isListedOnly }
  const plan = planRows(input)
  const read = rows.values.length + rows.refused.length
  const refused = [...rows.refused, ...chosen.refused, ...plan.refused]
  const takenBefore = isComplete ? (known.taken ?? 0) : 0
  return {
    importer: source.id,
    from,
    rows: read,
    refused,
    dropped: chosen.seeds.flatMap(({ dropped = [] }) => dropped),
    plan,
    known,
    /** Why nothing was written, although the source could be read. */
    suspicion: options.force
      ? null
      : findSuspicion(read, refused, chosen.seeds.length, takenBefore),
  }
}

/** For each of one importer's rows, the listing that takes it once the rows of all importers are placed. */
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

/** Why a run looks wrong. @param takenBefore 0 for a partial run or the first run */
function findSuspicion(
  read: number,
  refused: readonly Refusal[],
  taken: number,
  takenBefore: number,
): string | null {
  if (taken === 0 && read > 0 && refused.some(({ reason }) => !HONEST.includes(reason)))
    return `all ${read} rows were refused`
  if (taken < takenBefore * LEAST_SHARE)
    return `this run took ${taken} listings, but the last full run took ${takenBefore}`
  return null
}

/** A row is gone if two full runs, at least this far apart (milliseconds), lack it. */
const MISSING_FOR = DAY_MS

/** Where a row belongs, once all rows from all sources have found their listings. */
interface TakenRow {
  listing: string
  /** What the listing gets after a withdrawal: a tombstone, a notice, or its facts from another source. */
  end: 'tombstone' | 'notice' | 'other_source'
}

interface RowsInput {
  source: SeedSource
  chosen: ChosenSeeds
  known: SourceFile
  listed: Listed
  options: RunOptions
  /** False for a partial run, which can't know which rows are missing. */
  isComplete: boolean
  /** True if a run only takes rows of existing listings. */
  isListedOnly: boolean
}

export type RowOutcome = 'added' | 'merged' | 'changed' | 'unchanged' | 'returned' | 'kept'

export interface RowsPlan {
  file: SourceFile
  outcomes: { key: string; listing: string | null; outcome: RowOutcome; rows: number }[]
  refused: Refusal[]
  withdrawn: { key: string; listing: string; how: TakenRow['end'] }[]
  /** Rows waiting for a reviewer. */
  waiting: number
}

/** The new content of an importer's file: rows that the source shows are updated, all others stay. */
function planRows(input: RowsInput): RowsPlan {
  const { source, chosen, known, listed, options, isComplete, isListedOnly } = input
  const handsOff = readHandsOff(options.contentDir)
  const parse = createRowParser({ allowPrivate: options.allowPrivate ?? false })
  const rowOf = (seed: Seed) => toRow(seed, known.rows[seed.key], parse, options.now.slice(0, 10))
  const rows = new Map(Object.entries(known.rows))
  const plan: Draft = { outcomes: [], refused: [], withdrawn: [] }
  const reported = chosen.seeds.filter((seed) => {
    const rule = findHandsOff(handsOff, seed)
    if (rule !== undefined) leaveAside(seed, rule, { plan, rows, now: options.now })
    return rule === undefined
  })
  for (const seed of reported) rows.set(seed.key, rowOf(seed))
  const mayWait = ({ key }: Seed) => known.rows[key]?.held !== undefined || !rows.has(key)
  for (const seed of isListedOnly ? [] : chosen.held)
    if (mayWait(seed)) rows.set(seed.key, rowOf(seed))
  const gone = findGone(input, rows)
  const placed = placeAll(listed, source.id, { rows: Object.fromEntries(rows) })
  for (const { key, rows: count } of reported) {
    const [before, taken] = [known.rows[key], placed.get(key)]
    if (isListedOnly && before === undefined && taken === undefined) {
      rows.delete(key)
      const detail = 'expected an existing listing'
      plan.refused.push({ reason: 'not_listed', name: key, detail, rows: count })
    } else {
      const outcome = toOutcome(before, rows.get(key), taken)
      plan.outcomes.push({ key, listing: taken?.listing ?? null, outcome, rows: count })
    }
  }
  for (const key of gone) {
    const taken = placed.get(key)
    if (taken === undefined) rows.delete(key)
    else plan.withdrawn.push({ key, listing: taken.listing, how: taken.end })
  }
  const taken = isComplete ? chosen.seeds.length : known.taken
  const file = { ...present({ taken }), rows: Object.fromEntries(rows) }
  const waiting = [...rows].filter(
    ([key, { withdrawn }]) => withdrawn === undefined && !placed.has(key),
  )
  return { ...plan, file, waiting: waiting.length }
}

type Rows = Map<string, SourceRow>
type Draft = Omit<RowsPlan, 'file' | 'waiting'>

/** Plans a row that people keep out or manage themselves. */
function leaveAside(
  { key, rows: count }: Seed,
  { rule, reason }: HandsOff[number],
  { plan, rows, now }: { plan: Draft; rows: Rows; now: string },
): void {
  if (rule === 'leave_as_is') {
    plan.outcomes.push({ key, listing: null, outcome: 'kept', rows: count })
    return
  }
  plan.refused.push({ reason: 'opted_out', name: key, detail: reason, rows: count })
  const there = rows.get(key)
  if (there !== undefined) rows.set(key, { ...there, withdrawn: there.withdrawn ?? now })
}

/** The row to keep; for an unchanged row, the same object. */
function toRow(
  seed: Seed,
  before: SourceRow | undefined,
  parse: ReturnType<typeof createRowParser>,
  today: string,
): SourceRow {
  const { id, facts, published, evidence = {}, skill, suspicious, withheld = [] } = seed
  const of = seed.adds ? id : before?.of
  const row = parse({
    id,
    ...present({ of }),
    added: published ?? before?.added ?? today,
    facts: Object.fromEntries(
      SOURCE_FIELDS.flatMap((field) =>
        facts[field] === undefined || withheld.includes(field) ? [] : [[field, facts[field]]],
      ),
    ),
    ...(Object.keys(evidence).length > 0 && {
      evidence: withTimes(evidence, before?.evidence, today),
    }),
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

/** For how long an unchanged fact keeps its day, so that a second run changes nothing. */
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

/** Marks rows that the source withdrew, explicitly or by their absence from two full runs a day apart. */
function findGone(input: RowsInput, rows: Rows): string[] {
  const { source, chosen, isComplete, options } = input
  const { now, limit } = options
  const shown = new Set([...chosen.seeds, ...chosen.held].map(({ key }) => key))
  const refused = new Set(chosen.refused.map(({ name }) => name))
  // A run with a limit stops early: it may see a deletion without what replaced the row.
  const isDeleted = ({ reason }: Refusal) => reason === 'deleted' && limit === null
  const deleted = new Set(chosen.refused.filter(isDeleted).map(({ name }) => name))
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

function toOutcome(
  before: SourceRow | undefined,
  now: SourceRow | undefined,
  taken: TakenRow | undefined,
): RowOutcome {
  if (before === undefined) return taken === undefined ? 'added' : 'merged'
  if (before.withdrawn !== undefined) return 'returned'
  return before === now ? 'unchanged' : 'changed'
}

/** What a listing with these rows gets after a withdrawal. */
function toEnd(rows: readonly NamedRow[], isWords: boolean): TakenRow['end'] {
  if (rows.some(({ row }) => row.withdrawn === undefined)) return 'other_source'
  return isWords ? 'tombstone' : 'notice'
}

function findHandsOff(rules: HandsOff, seed: Seed): HandsOff[number] | undefined {
  return rules.find(({ match }) => isMatch(toAsciiAddress(match.toLowerCase()), seed))
}

function isMatch(match: string, { key, facts }: Seed): boolean {
  const name = key.toLowerCase()
  if (match.endsWith('/*')) return name.startsWith(match.slice(0, -1))
  if (match.includes('/')) return name === match
  return [
    facts.url,
    ...(facts.invoke ?? []).map((entry) => (entry.kind === 'mcp' ? sampleAddress(entry) : '')),
  ].some((url) => URL.parse(url)?.hostname === match)
}
