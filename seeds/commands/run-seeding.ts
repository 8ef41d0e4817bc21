import { sourceFileOf } from '../../src/content/read.ts'
import {
  createRowParser,
  renderSourceFile,
  type SourceFile,
} from '../../src/domain/sources/source-row.ts'
import { createTaskFinder } from '../../src/search/words/operation-tasks.ts'
import { type HandsOff, openContent, readHandsOff, readTables } from '../content/content-files.ts'
import { type Listed, readListed } from '../content/listed.ts'
import type { ChosenSeeds, Seed, SeedSource } from '../facts/map-rows.ts'
import { withTasks } from '../facts/map-rows.ts'
import type { Refusal, RefusalReason } from '../facts/refusal.ts'
import {
  createProgress,
  type ProgressStream,
  type ReadRows,
  readSource,
} from '../fetch/read-source.ts'
import { planRows, type TakenRow, toEnd } from '../plan/plan-rows.ts'
import { SOURCE_IDS, SOURCES } from '../sources/sources.ts'
import type { SeedOptions } from './seed-options.ts'

/** A source that lost more than this share of its listings at once is broken, not shrinking. */
const LEAST_SHARE = 0.5

/** A page that only names removed or old rows is not a sign of an error. */
const HONEST: readonly RefusalReason[] = ['deleted', 'inactive', 'not_latest', 'opted_out']

export interface SeedingPorts {
  progress: ProgressStream
  now: () => number
  retryMs: number
  /** For trials with fictional sellers. */
  allowPlaceholders: boolean
  /** Lets rows name sellers on this machine; for trials. */
  allowPrivate?: boolean
}

export type SeedingResult = Awaited<ReturnType<typeof runSeeding>>

export type RunOptions = Omit<SeedOptions, 'importers' | 'report' | 'json'> & { importer: string }

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
