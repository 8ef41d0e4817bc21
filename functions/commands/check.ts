import { execFileSync } from 'node:child_process'
import { findStale, readMoves } from '../../src/content/check.ts'
import { type Fault, faultOf, formatFault } from '../../src/content/faults.ts'
import { type ContentReport, readContent, readTombstones } from '../../src/content/read.ts'
import { type Config, parseConfig } from '../ports/config.ts'
import { createStderrLog, readCommandLine, runMain, UsageError } from '../ports/run-main.ts'
import { hasLedger } from '../store/sqlite.ts'

const HELP = 'Usage: npm run check -- [--changed-from <a git ref such as origin/main>]'
const OPTIONS = { 'changed-from': { type: 'string' } } as const

/**
 * `npm run check`: validates the content and reports every problem in one run; with a ref, only
 * those of files changed since then.
 * Exit: 0 sound, 1 errors, 2 usage error.
 */
if (import.meta.main)
  await runMain(async () => {
    if (!(await check(process.argv.slice(2)))) process.exitCode = 1
  })

/** @param args as of `npm run check`. @returns whether the content is sound */
export async function check(args: readonly string[]): Promise<boolean> {
  const { 'changed-from': since } = readCommandLine(HELP, OPTIONS, 0, args).values
  const config = parseConfig(process.env)
  const root = config.CONTENT_DIR
  const changes = since === undefined ? null : readChanges(root, since)
  const start = performance.now()
  const read = readContent(root, { allowPrivate: config.PRIVATE_TARGETS }, config.AS_OF)
  const moved = await findOptedOutMoves(config)
  const isSound = report({ ...read, faults: [...read.faults, ...moved] }, changes, {
    root,
    start,
    asOf: config.AS_OF,
  })
  return isSound
}

/** Sellers who asked to be left out choose the id they move to; the ledger knows both. */
async function findOptedOutMoves(config: Config): Promise<Fault[]> {
  const moves = readMoves(readTombstones(config.CONTENT_DIR, new Set()).values)
  if (moves.size === 0 || !hasLedger(config)) return []
  const { openStore } = await import('../store/open-store.ts')
  const { readLedgerFacts } = await import('../service/ledger-facts.ts')
  await using store = await openStore(config, createStderrLog())
  const facts = await readLedgerFacts(store, Date.parse(config.AS_OF))
  return [...moves.keys()]
    .filter((id) => facts.optedOut.has(id) && !facts.moved.has(id))
    .map((id) =>
      faultOf(
        `tombstones/${id.replace('.', '/')}.json`,
        `moved_to: the owner of ${id} asked not to be listed, so it cannot move: remove ${moves.get(id)} too`,
      ),
    )
}

function report(
  read: ContentReport,
  changes: Changes | null,
  { root, start, asOf }: { root: string; start: number; asOf: string },
): boolean {
  const stale = findStale(read.seen.listings, read.seen.evidence, asOf)
  const all = [...read.faults, ...stale]
  const faults = changes === null ? all : all.filter(({ file }) => changes.files.has(file))
  for (const fault of faults) console.log(formatFault(fault, root))
  const { added = [], removed = [] } = changes ?? {}
  if (added.length > 0) console.log(`added: ${added.join(', ')}`)
  if (removed.length > 0) console.log(`removed: ${removed.join(', ')}`)
  const errors = faults.filter(isError).length
  const seconds = ((performance.now() - start) / 1000).toFixed(1)
  const { listings, evidence, pages } = read.counts
  console.log(
    `${listings} listings, ${evidence} evidence files and ${pages} comparison pages read in ${seconds} s: ${errors} errors, ${faults.length - errors} warnings${changes === null ? '' : `; files changed: ${changes.files.size}`}`,
  )
  const elsewhere = all.filter(isError).length - errors
  if (read.waiting.length > 0)
    console.log(`${read.waiting.length} rows of sources wait for a person: npm run review`)
  if (elsewhere > 0) console.log(`${elsewhere} errors in files that did not change: npm run check`)
  // A removed id may break a page that nobody changed: the build would still fail.
  return !all.some(isError)
}

function isError({ severity }: Fault): boolean {
  return severity === 'error'
}

type Changes = ReturnType<typeof readChanges>

/**
 * Content files that differ from a git ref, untracked ones included; and the ids of listings that
 * were added and removed, sorted.
 *
 * @throws UsageError with git's message where the ref or the repository does not exist
 */
function readChanges(contentDir: string, ref: string) {
  if (ref.startsWith('-'))
    throw new UsageError(`expected a git ref such as origin/main, got ${ref}`)
  try {
    const base = git(contentDir, 'merge-base', ref, 'HEAD').trim()
    const diff = git(contentDir, 'diff', '--relative', '--name-status', '--no-renames', '-z', base)
    const rows = toRows(diff.split('\0'))
    const untracked = git(contentDir, 'ls-files', '--others', '--exclude-standard', '-z')
    for (const file of untracked.split('\0')) if (file !== '') rows.push({ status: 'A', file })
    const idsOf = (status: string) =>
      rows.flatMap((row) => (row.status === status ? (toId(row.file) ?? []) : [])).sort()
    return {
      files: new Set(rows.map(({ file }) => file)),
      added: idsOf('A'),
      removed: idsOf('D'),
    }
  } catch (error) {
    const stated = error instanceof Error ? (error.message.split('\n')[1] ?? error.message) : ''
    throw new UsageError(`expected a git ref that this repository has, got ${ref}: ${stated}`)
  }
}

function git(cwd: string, ...args: string[]): string {
  return execFileSync('git', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
}

/** `-z` output: status and path take turns. */
function toRows(parts: readonly string[]): { status: string; file: string }[] {
  return parts.flatMap((status, i) => {
    const file = parts[i + 1]
    return i % 2 === 0 && file !== undefined ? [{ status, file }] : []
  })
}

function toId(file: string): string | null {
  const [, prefix, slug] = /^listings\/([^/]+)\/(.+)\.md$/.exec(file) ?? []
  return prefix === undefined || slug === undefined ? null : `${prefix}.${slug}`
}
