import {
  lockFileOf,
  promiseFileOf,
  readExisting,
  readMachineFiles,
  readMemory,
  readTables,
} from '../content/content-folder.ts'
import { type ContentWriter, openContent } from '../content/content-writer.ts'
import { readHandsOff } from '../content/hands-off.ts'
import { recoverMemory, renderLock, type SeedMemory } from '../content/seed-lock.ts'
import type { Refusal, RefusalReason } from '../facts/refusal.ts'
import type { ChosenSeeds, SeedSource } from '../facts/seed-source.ts'
import { createProgress, type ProgressStream } from '../fetch/progress.ts'
import { type ReadRows, readSource } from '../fetch/read-source.ts'
import { planSeeding } from '../plan/plan-seeding.ts'
import type { SeedingPlan } from '../plan/seeding-plan.ts'
import type { SeedOptions } from './seed-options.ts'
import { findSeedSource, SOURCE_IDS } from './sources.ts'

/** A source that lost more than this share of its listings at once has a fault, not a bad week. */
const LEAST_SHARE = 0.5

/** A page that only says what is gone or old is no sign of a fault. */
const HONEST: readonly RefusalReason[] = ['deleted', 'deprecated', 'not_latest', 'opted_out']

export interface SeedingPorts {
  progress: ProgressStream
  /** Milliseconds. */
  now: () => number
  /** First pause before a failed page is asked for again. */
  retryMs: number
  /** For trials with fictional sellers. */
  allowPlaceholders: boolean
  /** Lets rows name sellers on this machine; for trials. */
  allowPrivate?: boolean
}

export type SeedingResult = Awaited<ReturnType<typeof runSeeding>>

export type RunOptions = Omit<SeedOptions, 'importers' | 'report' | 'json'> & { importer: string }

/**
 * Reads a source, plans, and writes what the plan says unless this is a dry run or looks wrong.
 *
 * @throws Error when the source or the content can't be read, or the disk fails.
 */
export async function runSeeding(options: RunOptions, ports: SeedingPorts) {
  const started = ports.now()
  const source = findSeedSource(options.importer)
  const { contentDir } = options
  // Taken before anything is read: another run's half would look like people's work.
  const writer = options.dryRun ? null : await openContent(contentDir)
  try {
    const content = await readContentState(contentDir, source.id)
    const read = await readChosen(source, options, ports, content)
    const result = judge(source, read, options, content)
    if (writer !== null && result.suspicion === null)
      await writePlan(writer, source.id, result.plan, ports)
    return { ...result, seconds: (ports.now() - started) / 1000 }
  } finally {
    await writer?.release()
  }
}

async function readContentState(contentDir: string, importer: string) {
  const existing = await readExisting(contentDir)
  const memories = new Map<string, SeedMemory>()
  for (const id of SOURCE_IDS) {
    const { kept, promised } = await readMemory(contentDir, id)
    memories.set(id, recoverMemory(kept, id === importer ? promised : null, existing))
  }
  const machine = await readMachineFiles(contentDir)
  return { existing, memories, machine, handsOff: await readHandsOff(contentDir) }
}

type ContentState = Awaited<ReturnType<typeof readContentState>>

async function readChosen(
  source: SeedSource,
  options: RunOptions,
  ports: SeedingPorts,
  content: ContentState,
) {
  const { contentDir, limit, now } = options
  const tables = await readTables(contentDir)
  const from = sourceAddress(source, options)
  const progress = createProgress('read', limit, ports)
  const listed = from === '' ? source.fromContent?.(content.existing.values()) : undefined
  const first =
    listed === undefined
      ? await readSource({ source, from, limit, retryMs: ports.retryMs, progress })
      : { values: limit === null ? listed : listed.slice(0, limit), refused: [] }
  progress.end()
  const rows = source.follow === undefined ? first : await followRows(source, first, ports)
  const { allowPlaceholders } = ports
  const chosen = source.choose(rows.values, { ...tables, allowPlaceholders, now })
  return { rows, chosen, from }
}

/** What rows name is read through the guard, whatever the operator may name himself. */
async function followRows(source: SeedSource, rows: ReadRows, ports: SeedingPorts) {
  // Loaded by who reads sellers: a saved file needs no client for HTTP.
  const { createSellerReader } = await import('../fetch/read-sellers.ts')
  const reader = createSellerReader(ports.allowPrivate ?? false)
  try {
    const followed = await source.follow?.(rows.values, reader)
    return followed === undefined
      ? rows
      : { values: followed.values, refused: [...rows.refused, ...followed.refused] }
  } finally {
    await reader.close()
  }
}

function sourceAddress(source: SeedSource, { from, since }: RunOptions): string {
  const start = from ?? source.liveUrl
  const isLive = /^https?:\/\//i.test(start)
  return since !== null && isLive && source.since !== undefined
    ? source.since(new URL(start), since).href
    : start
}

function judge(
  source: SeedSource,
  { rows, chosen, from }: { rows: ReadRows; chosen: ChosenSeeds; from: string },
  options: RunOptions,
  content: ContentState,
) {
  const { now, limit, since, listed: isListedOnly } = options
  const isWhole = limit === null && since === null && !isListedOnly
  const plan = planSeeding({
    source,
    seeds: chosen.seeds,
    held: chosen.held,
    refusedKeys: new Set(chosen.refused.map(({ name }) => name)),
    // A part of the source says nothing of what left it.
    deleted: new Set(limit === null ? chosen.deleted : []),
    ...content,
    now,
    today: now.slice(0, 10),
    isWhole,
    isListedOnly,
  })
  const read = rows.values.length + rows.refused.length
  const refused = [...rows.refused, ...chosen.refused, ...plan.refused]
  const memory = content.memories.get(source.id)
  const taken = chosen.seeds.length
  const takenBefore = isWhole ? (memory?.taken ?? 0) : 0
  return {
    importer: source.id,
    from,
    rows: read,
    refused,
    dropped: chosen.dropped,
    plan,
    seeds: chosen.seeds,
    /** Why nothing was written although the source could be read. */
    suspicion: options.force ? null : findSuspicion(read, refused, taken, takenBefore),
    /** Listed from an earlier run, refused by this one: for people to look at. */
    refusedNow: findRefusedNow(chosen, memory, content),
  }
}

/** Why a run should not be believed. @param takenBefore 0 for a run over a part, or the first */
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

function findRefusedNow(
  { seeds, refused }: ChosenSeeds,
  memory: SeedMemory | undefined,
  { existing }: ContentState,
): { refusal: Refusal; file: string }[] {
  const listed = new Set(seeds.map(({ key }) => key))
  return refused.flatMap((refusal) => {
    const file = memory?.listings.get(refusal.name)?.file
    const isThere = file !== undefined && existing.has(file) && !listed.has(refusal.name)
    return isThere && refusal.reason !== 'deleted' ? [{ refusal, file }] : []
  })
}

/**
 * First what the importer is going to remember, then the listings, then what lies beside them, then
 * the memory in its place: a run that is killed at any moment leaves files that the next run knows
 * for its own, and no evidence of a listing that is not there.
 */
async function writePlan(
  writer: ContentWriter,
  importer: string,
  plan: SeedingPlan,
  ports: SeedingPorts,
): Promise<void> {
  const { writes, machineWrites, removes, memory, others } = plan
  const hasMemory = memory.listings.size > 0
  const total = writes.length + machineWrites.length + removes.length
  const progress = createProgress('write', total, ports)
  let done = 0
  if (hasMemory) await writer.write(promiseFileOf(importer), renderLock(memory))
  for (const { file, text } of [...writes, ...machineWrites]) {
    await writer.write(file, text)
    progress.update(++done)
  }
  for (const file of removes) {
    await writer.remove(file)
    progress.update(++done)
  }
  for (const [id, other] of others) await writer.write(lockFileOf(id), renderLock(other))
  progress.end()
  if (hasMemory) await writer.rename(promiseFileOf(importer), lockFileOf(importer))
}
