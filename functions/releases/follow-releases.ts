import { resolve } from 'node:path'
import { readCurrent } from '../../src/compile/release/publish-release.ts'
import type { Config } from '../ports/config.ts'
import type { Log } from '../ports/log.ts'
import { openBucket } from './bucket.ts'
import { type Pulled, pullRelease } from './pull-release.ts'

/** How often the store's pointer is asked for (milliseconds). */
const LOOK_EVERY = 10_000

/**
 * Takes the release of `RELEASES` now, and each later one within ten seconds. The holder
 * of the release being served sees the switch. A store that is down or damaged is logged; what is
 * there goes on being served.
 *
 * @throws OperatorError when there is nothing to serve at all
 */
export async function followReleases(address: string, config: Config, log: Log): Promise<void> {
  const bucket = openBucket(address, config)
  const outDir = resolve(config.OUT_DIR)
  let seen: Pulled | null = null
  const look = async () => {
    const before = seen?.etag
    seen = await pullRelease(bucket, outDir, seen)
    if (seen !== null && seen.etag !== before) log.info('release.taken', { release: seen.release })
  }
  const onFailure = (error: unknown) =>
    log.error('release.not-taken', { reason: error instanceof Error ? error.message : 'unknown' })
  await look().catch((error: unknown) => {
    if (readCurrent(outDir) === null) throw error
    onFailure(error)
  })
  const again = () =>
    setTimeout(() => void look().catch(onFailure).finally(again), LOOK_EVERY).unref()
  again()
}
