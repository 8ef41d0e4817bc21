import { mkdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { build } from '../../src/build/build.ts'
import { readMoves } from '../../src/content/check.ts'
import { readTombstones } from '../../src/content/read.ts'
import type { LedgerPayee } from '../../src/domain/trust/ledger-facts.ts'
import {
  type LedgerFacts,
  NO_LEDGER_FACTS,
  type OwnerFacts,
} from '../../src/domain/trust/ledger-facts.ts'
import { OperatorError } from '../../src/domain/wire/problems.ts'
import { type Config, ConfigError, parseConfig } from '../ports/config.ts'
import { createStderrLog, readCommandLine, runMain } from '../ports/run-main.ts'
import { type FileLock, hasLedger, takeFileLock } from '../store/sqlite.ts'

/** How often a waiting build checks again (milliseconds). */
const LOOK_EVERY = 200

/** `npm run build`: makes a release, unless the current release is sound and has the same content. */
await runMain(async () => {
  readCommandLine('Usage: npm run build', {} as const)
  const config = parseConfig(process.env)
  const outDir = resolve(config.OUT_DIR)
  using _lock = await lockBuilds(outDir)
  await build({
    contentDir: config.CONTENT_DIR,
    baseUrl: config.BASE_URL,
    allowPrivate: config.PRIVATE_TARGETS,
    issuer: config.OIDC_ISSUER,
    asOf: config.AS_OF,
    outDir,
    readLedger: (payeesOf) => readLedger(config, payeesOf),
    log: console.log,
  })
})

/** The code that reads a ledger is loaded only if there is a ledger. */
async function readLedger(
  config: Config,
  payeesOf: (facts: OwnerFacts) => readonly LedgerPayee[],
): Promise<LedgerFacts> {
  if (!hasLedger(config)) return NO_LEDGER_FACTS
  const { readFactsForBuild } = await import('../service/ledger-facts.ts')
  const moves = readMoves(readTombstones(config.CONTENT_DIR, new Set()).values)
  return readFactsForBuild(config, createStderrLog(), moves, payeesOf).catch((error: unknown) => {
    if (error instanceof OperatorError) throw error
    const reason = error instanceof Error ? error.message : String(error)
    throw new OperatorError(`The ledger cannot be read, so nothing was built (${reason}).`)
  })
}

/**
 * One build at a time in an `OUT_DIR`: a second build waits for the first, and then usually has
 * nothing to do.
 * @throws ConfigError if the folder cannot be used
 */
async function lockBuilds(outDir: string): Promise<FileLock> {
  for (let looks = 0; ; looks += 1) {
    const lock = await tryLock(outDir)
    if (lock !== null) return lock
    if (looks === 0) console.log(`waiting for another build in ${outDir}`)
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
      `OUT_DIR ${outDir} cannot be used (${reason}). It must be a folder that this user can write to, on a disk with free space.`,
    )
  }
}
