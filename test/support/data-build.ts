import { resolve } from 'node:path'
import { type Config, parseConfig } from '../../functions/ports/config.ts'
import { readFactsForBuild } from '../../functions/service/ledger-facts.ts'
import { hasLedger } from '../../functions/store/sqlite.ts'
import { build } from '../../src/build/build.ts'
import { readMoves } from '../../src/content/check.ts'
import { readTombstones } from '../../src/content/read.ts'
import { NO_LEDGER_FACTS } from '../../src/domain/trust/ledger-facts.ts'
import { silentLog } from './stores.ts'

/**
 * A release with everything but pages, made in this process: they take four fifths of a build, and what
 * most tests look at after one is in its data, in JSON and in searches.
 */
export function buildData(
  env: Readonly<Record<string, string>>,
  log: (line: string) => void = () => {},
): Promise<void> {
  return buildHere(env, log, () => {})
}

/** A whole release, made in this process. */
export async function buildHere(
  env: Readonly<Record<string, string>>,
  log: (line: string) => void = () => {},
  onData?: () => void,
): Promise<void> {
  const config: Config = parseConfig(env)
  const moves = readMoves(readTombstones(config.CONTENT_DIR, new Set()).values)
  await build({
    contentDir: config.CONTENT_DIR,
    baseUrl: config.BASE_URL,
    allowPrivate: config.PRIVATE_TARGETS,
    issuer: config.OIDC_ISSUER,
    asOf: config.AS_OF,
    outDir: resolve(config.OUT_DIR),
    readLedger: async (payeesOf) =>
      hasLedger(config) ? readFactsForBuild(config, silentLog, moves, payeesOf) : NO_LEDGER_FACTS,
    ...(onData !== undefined && { onData }),
    log,
  })
}
