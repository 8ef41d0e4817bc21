import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import * as v from 'valibot'
import { afterEach, beforeEach } from 'vitest'
import { type RowsPlan, type RunOptions, runSeeding } from '../../seeds/commands/run-seeding.ts'
import { readListed } from '../../seeds/content/content-files.ts'
import { renderListing } from '../../seeds/content/listing-text.ts'
import { createRowQueue } from '../../seeds/review/waiting-rows.ts'
import { SOURCE_IDS } from '../../seeds/sources/sources.ts'
import { joinEvidence } from '../../src/content/join.ts'
import {
  createWrittenFactsSchema,
  type WrittenFacts,
} from '../../src/domain/listing/listing-facts.ts'
import { listingIdOf } from '../../src/domain/listing/listing-text.ts'
import { joinFacts } from '../../src/domain/sources/join-rows.ts'
import type { SourceFile } from '../../src/domain/sources/source-row.ts'
import { tempFolder } from '../support/temp-folder.ts'

export const FIXTURES = new URL('../fixtures/mcp-registry/', import.meta.url).pathname

/** What happened to the rows of a plan. */
export function outcomesOf(plan: RowsPlan): string[] {
  return plan.outcomes.map(({ outcome }) => outcome)
}

/** A content folder with the real tables, but for the long ones, and no listing, in a folder of its own. */
export function createContentFixture() {
  const root = tempFolder('seeds')
  const contentDir = join(root, 'content')
  mkdirSync(join(contentDir, 'listings/mcp'), { recursive: true })
  cpSync(new URL('../../content/tables', import.meta.url).pathname, join(contentDir, 'tables'), {
    recursive: true,
  })
  // A megabyte of YAML that no importer looks at, read at every run.
  for (const table of ['foreign-words', 'search-words', 'task-words', 'task-questions'])
    rmSync(join(contentDir, `tables/${table}.yaml`))
  writeFileSync(join(contentDir, 'tables/tasks.yaml'), '[]\n')
  return {
    root,
    contentDir,
    read: (file: string) => readFileSync(join(contentDir, file), 'utf8'),
    write(file: string, text: string) {
      mkdirSync(join(contentDir, file, '..'), { recursive: true })
      writeFileSync(join(contentDir, file), text)
    },
    remove: (file: string) => rmSync(join(contentDir, file)),
    /** What an importer's file holds. */
    rows: (importer: string): SourceFile['rows'] =>
      JSON.parse(readFileSync(join(contentDir, `sources/${importer}/rows.json`), 'utf8')).rows,
    /** A listing as people and sources say it, or as it would be once somebody takes its rows. */
    fields: (file: string) =>
      new Map<string, unknown>(Object.entries(joinedAt(contentDir, file).facts)),
    /** The same as a text of one file. */
    listing(file: string): string {
      const { facts } = joinedAt(contentDir, file)
      return renderListing(facts, facts.added)
    },
    /** What machines know of a listing, by its file. */
    evidence: (file: string) => joinedAt(contentDir, file).evidence,
    /** Takes every row that waits, as a person does with a whole list. */
    async accept() {
      const rules = { allowPrivate: false }
      const has = (importer: string) => existsSync(join(contentDir, `sources/${importer}`))
      for (const importer of SOURCE_IDS.filter(has)) {
        const listed = () => readListed(contentDir, rules)
        const place = { contentDir, ...rules }
        const now = () => '2026-11-20T00:00:00.000Z'
        const queue = createRowQueue(importer, place, { now, listed })
        const plain = (await queue.list()).filter((each) => queue.isPlain?.(each))
        await queue.settle(plain, { decision: 'accepted', reason: '' })
      }
    },
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

/** Another for each test of the file. */
export function contentForEachTest(): ReturnType<typeof createContentFixture> {
  const content = {} as ReturnType<typeof createContentFixture> // filled in before each test
  beforeEach(() => {
    Object.assign(content, createContentFixture())
  })
  afterEach(() => content.cleanUp())
  return content
}

export type SeedFixtureOptions = Partial<RunOptions> & { today?: string }

async function seedFixture({ today, ...options }: SeedFixtureOptions & { contentDir: string }) {
  return runSeeding({
    importer: 'mcp-registry',
    from: join(FIXTURES, 'page-1.json'),
    limit: null,
    dryRun: false,
    listed: false,
    since: null,
    force: false,
    now: `${today ?? '2026-11-20'}T00:00:00.000Z`,
    retryMs: 1,
    allowPlaceholders: true,
    ...options,
  })
}

const nothing = v.parse(createWrittenFactsSchema({ allowPrivate: false }), {})

function joinedAt(contentDir: string, file: string) {
  const id = listingIdOf(file)
  const listed = readListed(contentDir, { allowPrivate: true })
  const rows = listed.place(undefined, true).taken.get(id) ?? []
  const live = rows.filter(({ row }) => row.withdrawn === undefined)
  const written: WrittenFacts | undefined = listed.written.get(id)?.facts
  if (live.length === 0 && written?.url === undefined) throw new Error(`${file}: no listing`)
  const facts = joinFacts(
    written ?? nothing,
    live.map(({ row }) => row.facts),
  )
  const [first] = live.flatMap(({ row }) => row.added ?? []).sort()
  const measured = listed.join().evidence.get(id) ?? {}
  return {
    facts: { ...spokenOf(facts), added: facts.added ?? first },
    evidence: written === undefined ? joinEvidence({}, live) : measured,
  }
}

/** Without what nobody said. */
function spokenOf(facts: WrittenFacts): Partial<WrittenFacts> {
  const isStated = (value: unknown) =>
    value !== undefined &&
    value !== false &&
    JSON.stringify(value) !== '[]' &&
    JSON.stringify(value) !== '{}'
  return Object.fromEntries(Object.entries(facts).filter(([, value]) => isStated(value)))
}
