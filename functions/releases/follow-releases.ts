import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { OperatorError } from '../../src/domain/wire/operator-error.ts'
import type { Config } from '../ports/config.ts'
import type { Log } from '../ports/log.ts'
import { openBucket } from './bucket.ts'
import { POINTER } from './pointer.ts'

/** How often the store's pointer is read (milliseconds). */
const LOOK_EVERY = 10_000

/**
 * Takes the release of `RELEASES` now, and each later one within ten seconds. The release holder
 * sees the switch. A store that is down or damaged is logged; the present release is still served.
 *
 * @throws OperatorError when there is nothing to serve at all
 */
export async function followReleases(address: string, config: Config, log: Log): Promise<void> {
  const bucket = openBucket(address, config)
  let etag: string | undefined
  const look = async () => {
    const found = await bucket.get(POINTER, etag)
    if (found === 'same') return
    await takeRelease(config)
    etag = found?.etag
    log.info('release.taken', {})
  }
  const onFailure = (error: unknown) =>
    log.error('release.not-taken', { reason: error instanceof Error ? error.message : 'unknown' })
  await look().catch((error: unknown) => {
    if (!existsSync(join(resolve(config.OUT_DIR), 'current'))) throw error
    onFailure(error)
  })
  const again = () =>
    setTimeout(() => void look().catch(onFailure).finally(again), LOOK_EVERY).unref()
  again()
}

/**
 * In a process of its own: reading and linking 90,000 files would keep every request waiting.
 *
 * @throws OperatorError with that process's message
 */
async function takeRelease({ OUT_DIR }: Config): Promise<void> {
  const command = fileURLToPath(new URL('../commands/take-release.ts', import.meta.url))
  const env = { ...process.env, OUT_DIR: resolve(OUT_DIR) }
  const child = spawn(process.execPath, [command], { env, stdio: ['ignore', 'inherit', 'pipe'] })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = `${said}${text}`.slice(0, 2000)
  })
  const [code] = await once(child, 'close')
  if (code !== 0) throw new OperatorError(said.trim() || `take-release ended with ${code}.`)
}
