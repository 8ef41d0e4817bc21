import { writeFile } from 'node:fs/promises'
import {
  lockFileOf,
  readExisting,
  readHandsOff,
  readLock,
  readTables,
  writeContentFile,
} from '../content/content-folder.ts'
import { renderLock } from '../content/seed-lock.ts'
import type { Refusal } from '../facts/refusal.ts'
import { createProgress, type ProgressStream } from '../fetch/progress.ts'
import { planSeeding, type SeedingPlan } from '../plan/plan-seeding.ts'
import { chooseSeeds } from '../sources/mcp-registry/choose-seeds.ts'
import { readRows } from '../sources/mcp-registry/read-rows.ts'
import type { SeedOptions } from './seed-options.ts'

export interface SeedingPorts {
  progress: ProgressStream
  /** Milliseconds. */
  now: () => number
  /** First pause before a failed page is asked for again. */
  retryMs: number
  /** For trials with fictional sellers. */
  allowPlaceholders: boolean
}

export interface SeedingResult {
  rows: number
  refused: Refusal[]
  dropped: Refusal[]
  plan: SeedingPlan
  /** Listed from an earlier run, refused by this one: for people to look at. */
  withdrawn: { refusal: Refusal; file: string }[]
}

/** Reads a source, plans, and writes what the plan says unless this is a dry run. */
export async function runSeeding(
  options: SeedOptions,
  { progress: stream, now, retryMs, allowPlaceholders }: SeedingPorts,
): Promise<SeedingResult> {
  const { contentDir, importer, from, limit } = options
  const tables = await readTables(contentDir)
  const [lock, handsOff] = [await readLock(contentDir, importer), await readHandsOff(contentDir)]
  const reading = createProgress('read', limit, { stream, now })
  const rows = await readRows({ from, limit, retryMs, progress: reading })
  reading.end()
  const chosen = chooseSeeds(rows.values, { ...tables, allowPlaceholders })
  const existing = await readExisting(contentDir)
  const { today } = options
  const plan = planSeeding({ seeds: chosen.seeds, existing, lock, handsOff, today })
  const refused = [...rows.refused, ...chosen.refused, ...plan.refused]
  if (!options.dryRun) {
    await writePlan(
      contentDir,
      importer,
      plan,
      createProgress('write', plan.writes.length, { stream, now }),
    )
  }
  if (options.report !== null)
    await writeFile(
      options.report,
      refused.map((refusal) => `${JSON.stringify(refusal)}\n`).join(''),
    )
  const listed = new Set(chosen.seeds.map(({ key }) => key))
  return {
    rows: rows.values.length + rows.refused.length,
    refused,
    dropped: chosen.dropped,
    plan,
    withdrawn: chosen.refused.flatMap((refusal) => {
      const file = lock.get(refusal.name)?.file
      return file !== undefined && existing.has(file) && !listed.has(refusal.name)
        ? [{ refusal, file }]
        : []
    }),
  }
}

/** The lock goes last: a run that is killed before it leaves files the next run recognises. */
async function writePlan(
  contentDir: string,
  importer: string,
  plan: SeedingPlan,
  progress: ReturnType<typeof createProgress>,
): Promise<void> {
  let done = 0
  for (const { file, text } of plan.writes) {
    await writeContentFile(contentDir, file, text)
    progress.update(++done)
  }
  progress.end()
  if (plan.lock.size > 0)
    await writeContentFile(contentDir, lockFileOf(importer), renderLock(plan.lock))
}
