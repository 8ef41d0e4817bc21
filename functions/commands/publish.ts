import { resolve } from 'node:path'
import * as v from 'valibot'
import { OperatorError } from '../../src/domain/wire/operator-error.ts'
import { readCommandLine, runMain, wrongCommand } from '../operations/run-main.ts'
import { parseConfig, releaseStore } from '../ports/config.ts'
import { openBucket } from '../releases/bucket.ts'
import { inParallel } from '../releases/in-parallel.ts'
import { pushRelease } from '../releases/push-release.ts'

const HELP = `Usage: npm run publish -- [s3://bucket/prefix] [--prune]
  --prune   also removes what neither this release nor the one before needs`

const PURGED_AT_ONCE = 500
const PURGE_PATIENCE_MS = 30_000

/**
 * `npm run publish -- s3://bucket/prefix`: puts the current release into an S3-compatible store,
 * for servers with `RELEASES` set to it. Addresses a CDN must purge go to `PURGE_URL`, or are
 * printed.
 */
await runMain(async () => {
  const config = parseConfig(process.env)
  const { values, words } = readCommandLine(HELP, { prune: { type: 'boolean' } } as const, 1)
  const [address = config.RELEASES] = words
  if (!v.is(releaseStore, address))
    throw wrongCommand(
      HELP,
      `got ${address ?? 'no store'}, expected s3://bucket/prefix as its argument or in RELEASES`,
    )
  const bucket = openBucket(address, config)
  const pushed = await pushRelease(bucket, resolve(config.OUT_DIR), new Date())
  const { release, objects, bytes, changed, idle } = pushed
  console.log(
    `release ${release} is in ${address}: ${objects} new objects, ${Math.ceil(bytes / 1024)} KiB`,
  )
  if (values.prune === true) {
    await inParallel(idle, (key) => bucket.remove(key))
    console.log(`${idle.length} old objects removed`)
  }
  const urls = changed.map((path) => `${config.BASE_URL}${path}`)
  if (config.PURGE_URL === undefined) for (const url of urls) console.log(`changed ${url}`)
  else await purge(config.PURGE_URL, urls)
})

/** @throws OperatorError when the CDN refuses: the release is published, caches live on for an hour */
async function purge(to: string, urls: readonly string[]): Promise<void> {
  for (let from = 0; from < urls.length; from += PURGED_AT_ONCE) {
    const response = await fetch(to, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ urls: urls.slice(from, from + PURGED_AT_ONCE) }),
      signal: AbortSignal.timeout(PURGE_PATIENCE_MS),
    })
    await response.body?.cancel()
    if (!response.ok)
      throw new OperatorError(
        `PURGE_URL answered ${response.status}. The release is published; caches may keep ${urls.length - from} addresses for up to an hour.`,
      )
  }
  console.log(`${urls.length} addresses purged`)
}
