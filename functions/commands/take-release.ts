import { resolve } from 'node:path'
import { OperatorError } from '../../src/domain/wire/operator-error.ts'
import { runMain } from '../operations/run-main.ts'
import { parseConfig } from '../ports/config.ts'
import { openBucket } from '../releases/bucket.ts'
import { pullRelease } from '../releases/pull-release.ts'

/** Takes the release that `RELEASES` holds into `OUT_DIR`, once. A server runs it when there is one. */
await runMain(async () => {
  const config = parseConfig(process.env)
  if (config.RELEASES === undefined) throw new OperatorError('RELEASES names no store.')
  await pullRelease(openBucket(config.RELEASES, config), resolve(config.OUT_DIR))
})
