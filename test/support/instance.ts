import { flushCompileCache } from 'node:module'
import { liveListing } from './live-listing.ts'
import { openWorld } from './world.ts'

/**
 * One instance of the service as a child process: every ledger route, over the store and mail server
 * its environment names. `LISTINGS` is a JSON map from id to URL. Prints its address once it listens.
 */
const listings: Record<string, string> = JSON.parse(process.env.LISTINGS ?? '{}')
const world = await openWorld({
  env: { ...process.env, LISTINGS: undefined },
  listings: Object.entries(listings).map(([id, url]) => liveListing(id, url)),
  realMailer: true,
})
process.stdout.write(`${world.url}\n`)
// Most are killed, which keeps nothing for the next one.
flushCompileCache()
process.once('SIGTERM', () => void world.close().then(() => process.exit(0)))
