import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type RunOptions, runSeeding } from '../../seeds/commands/run-seeding.ts'
import type { SeedingPlan } from '../../seeds/plan/seeding-plan.ts'

export const FIXTURES = new URL('../fixtures/mcp-registry/', import.meta.url).pathname

/** What happened to the listings that a plan's seeds stand for. */
export function outcomesOf(plan: SeedingPlan): string[] {
  return plan.outcomes.map(({ outcome }) => outcome)
}

/** A content folder with the real tables and no listing, in a folder of its own. */
export function createContentFixture() {
  const root = mkdtempSync(join(tmpdir(), 'waypost-seeds-'))
  const contentDir = join(root, 'content')
  mkdirSync(join(contentDir, 'listings/mcp'), { recursive: true })
  cpSync(new URL('../../content/tables', import.meta.url).pathname, join(contentDir, 'tables'), {
    recursive: true,
  })
  return {
    root,
    contentDir,
    read: (file: string) => readFileSync(join(contentDir, file), 'utf8'),
    write(file: string, text: string) {
      mkdirSync(join(contentDir, file, '..'), { recursive: true })
      writeFileSync(join(contentDir, file), text)
    },
    remove: (file: string) => rmSync(join(contentDir, file)),
    /** Every file with its text: what "nothing changed" is measured by. */
    snapshot(): Record<string, string> {
      const files = readdirSync(root, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name))
      return Object.fromEntries(files.sort().map((file) => [file, readFileSync(file, 'utf8')]))
    },
    seed(options: SeedFixtureOptions) {
      return seedFixture({ contentDir, ...options })
    },
    /** Rows as a saved file; returns its path. */
    save(rows: readonly unknown[]): string {
      const file = join(root, 'rows.ndjson')
      writeFileSync(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
      return file
    },
    cleanUp: () => rmSync(root, { recursive: true }),
  }
}

export type SeedFixtureOptions = Partial<RunOptions> & { today?: string; ports?: object }

async function seedFixture({
  today,
  ports,
  ...options
}: SeedFixtureOptions & { contentDir: string }) {
  return runSeeding(
    {
      importer: 'mcp-registry',
      from: join(FIXTURES, 'page-1.json'),
      limit: null,
      dryRun: false,
      listed: false,
      since: null,
      force: false,
      now: `${today ?? '2026-11-20'}T00:00:00.000Z`,
      ...options,
    },
    {
      progress: { write: () => true },
      now: () => 0,
      retryMs: 1,
      allowPlaceholders: true,
      ...ports,
    },
  )
}
