import { mkdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { lazy } from '../../src/compile/files/build-cache.ts'
import { buildRelease } from '../../src/compile/release/build-release.ts'
import { recordChanges } from '../../src/compile/release/record-changes.ts'
import { nameRelease } from '../../src/compile/release/release-name.ts'
import { readMoves } from '../../src/content/check.ts'
import { formatFault } from '../../src/content/faults.ts'
import { readContent, readTombstones } from '../../src/content/read.ts'
import { readPayees } from '../../src/derive/payouts.ts'
import {
  type LedgerFacts,
  NO_LEDGER_FACTS,
  type OwnerFacts,
} from '../../src/domain/trust/ledger-facts.ts'
import { OperatorError } from '../../src/domain/wire/operator-error.ts'
import { layOut } from '../../src/store/lay-out.ts'
import {
  findObjects,
  type Look,
  readCurrent,
  removeLeftovers,
  switchTo,
} from '../../src/store/releases.ts'
import { type FileLock, takeFileLock } from '../operations/file-lock.ts'
import { createStderrLog, readCommandLine, runMain } from '../operations/run-main.ts'
import { type Config, ConfigError, parseConfig } from '../ports/config.ts'
import { hasLedger } from '../store/sqlite/ledger-file.ts'

/** How often a waiting build checks again (milliseconds). */
const LOOK_EVERY = 200

const HELP = `Usage: npm run build -- [--no-public] [--lengths]
  --no-public   keeps no plain folders for other hosts: our own server needs none
  --lengths     looks at the lengths of objects alone, for a start that must be quick`

/**
 * `npm run build`: compiles the content into a release and publishes it, and keeps `OUT_DIR/public`
 * in step with it. An existing release that is complete and undamaged is left as it is.
 */
await runMain(async () => {
  const config = parseConfig(process.env)
  const { values } = readCommandLine(HELP, {
    lengths: { type: 'boolean' },
    'no-public': { type: 'boolean' },
  } as const)
  const outDir = resolve(config.OUT_DIR)
  using _lock = await lockBuilds(outDir)
  removeLeftovers(outDir)
  await publish(config, outDir, values.lengths === true ? 'lengths' : 'bytes')
  if (values['no-public'] !== true) {
    const start = performance.now()
    const changed = await layOut(outDir)
    if (changed > 0)
      console.log(`${changed} files of public changed in ${seconds(performance.now() - start)}`)
  }
})

async function publish(config: Config, outDir: string, look: Look): Promise<void> {
  const { CONTENT_DIR: contentDir, BASE_URL: baseUrl, OIDC_ISSUER: issuer, AS_OF: asOf } = config
  const allowPrivate = config.PRIVATE_TARGETS
  const readOnce = lazy(() => readContent(contentDir, { allowPrivate }))
  const ledger = await readLedger(config, readOnce)
  const name = nameRelease({ contentDir, baseUrl, allowPrivate, issuer, asOf, ledger })
  const there = findObjects(outDir, name, look)
  if (there?.isComplete === true) {
    if (readCurrent(outDir) !== name) switchTo(outDir, name)
    // A build that was killed after it switched left this undone.
    recordChanges(outDir, name, new Date())
    return console.log(`release ${name} is current`)
  }
  const onStage = createStageLog()
  const start = performance.now()
  const { content, faults, counts } = readOnce()
  for (const fault of faults) console.log(formatFault(fault, contentDir))
  if (content === null)
    throw new OperatorError(
      'The content has errors, so nothing was built; the previous release is still served.',
    )
  onStage(`read ${counts.listings} listings`, performance.now() - start)
  const known = (there ?? findObjects(outDir, readCurrent(outDir), 'lengths'))?.sound ?? new Set()
  const options = { name, content, outDir, baseUrl, allowPrivate, issuer, asOf, ledger }
  await buildRelease({ ...options, known, onStage })
  const peak = Math.round(process.resourceUsage().maxRSS / 1024)
  console.log(
    `release ${name} built in ${seconds(performance.now() - start)}, peak memory ${peak} MiB (without Astro and Pagefind)`,
  )
}

/** What reads a ledger is loaded where there is one; the content is read for it only where it has settlements. */
async function readLedger(
  config: Config,
  read: () => ReturnType<typeof readContent>,
): Promise<LedgerFacts> {
  if (!hasLedger(config)) return NO_LEDGER_FACTS
  const { readFactsForBuild } = await import('../operations/read-facts.ts')
  const readOwned = (facts: OwnerFacts) => {
    const { content } = read()
    return content === null ? [] : readPayees(content, facts, config.BASE_URL)
  }
  const moves = readMoves(readTombstones(config.CONTENT_DIR, new Set()).values)
  return readFactsForBuild(config, createStderrLog(), moves, readOwned).catch((error: unknown) => {
    if (error instanceof OperatorError) throw error
    const reason = error instanceof Error ? error.message : String(error)
    throw new OperatorError(`The ledger cannot be read, so nothing was built (${reason}).`)
  })
}

/**
 * Prints CPU time too: on a shared machine only that says what a stage costs. It covers the main
 * thread only, not other threads or the processes of Astro and Pagefind.
 */
function createStageLog() {
  let before = process.threadCpuUsage()
  return function onStage(stage: string, ms: number, files = 0): void {
    const { user, system } = process.threadCpuUsage(before)
    before = process.threadCpuUsage()
    const cpu = `${seconds((user + system) / 1000)} CPU`
    console.log(
      `${seconds(ms).padStart(8)} ${cpu.padStart(12)}  ${stage}${files > 0 ? ` (${files} files)` : ''}`,
    )
  }
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(2)} s`
}

/**
 * One build at a time in an `OUT_DIR`: a second one waits for the first, and then usually has
 * nothing left to do.
 *
 * @throws ConfigError when the folder cannot be used
 */
async function lockBuilds(outDir: string): Promise<FileLock> {
  for (let looks = 0; ; looks += 1) {
    const lock = await tryLock(outDir)
    if (lock !== null) return lock
    if (looks === 0) console.log(`another build is running in ${outDir}: waiting for it`)
    await sleep(LOOK_EVERY)
  }
}

async function tryLock(outDir: string): Promise<FileLock | null> {
  try {
    await mkdir(outDir, { recursive: true })
    return takeFileLock(join(outDir, 'build.lock'))
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new ConfigError(
      `OUT_DIR ${outDir} cannot be used (${reason}). It must be a folder this user can write to, on a disk with room.`,
    )
  }
}
