import { openStore } from '../../../functions/store/open-store.ts'
import { aListing, startRelay } from '../../call/relay-world.ts'
import { startObservedRelay } from '../../receipts/observed-relay.ts'
import { silentLog } from '../../support/stores.ts'
import { tempFolder } from '../../support/temp-folder.ts'

/**
 * The service's own server with nothing behind it but the relay: `node relay-process.ts <seller> [on|off]`. With
 * `on` it judges paid calls and keeps their receipts, with `off` it could.
 */
const [seller = '', receipts] = process.argv.slice(2)
const RATE_LIMITS = '{"call":"999999999/60"}'
const world = receipts === undefined ? await startPlain() : await startObserved(receipts)
process.once('SIGINT', () => process.exit(0))
console.log(world.port)

async function startPlain() {
  // Each stream of the memory test is another client's, as named by its proxy.
  const env = { TRUST_PROXY: '1', RATE_LIMITS }
  const relay = await startRelay({ listings: [aListing(seller)], env })
  // One line a call is written, as in service; where it goes is the machine's business.
  setInterval(() => relay.logged.splice(0), 100)
  return relay
}

async function startObserved(isOn: string) {
  const place = { STATE_DIR: tempFolder('observed'), DATABASE_URL: undefined }
  const schema = {
    type: 'object',
    properties: { temperature_c: { type: 'number' }, place: { type: 'string' } },
    required: ['temperature_c', 'place'],
  }
  const example = { temperature_c: 7.5, place: 'somewhere', at: '2026-11-20T00:00:00Z' }
  const row = {
    ...{ listing_id: 'x402.seller', digest: 'digest', method: 'GET' as const, url: `${seller}/` },
    response: { content_type: 'application/json', schema, example },
  }
  const most = Number.MAX_SAFE_INTEGER
  const bounds = { ofClient: most, ofListing: most, inAll: most }
  const store = await openStore(place, silentLog)
  return startObservedRelay(store, [row], { RECEIPTS: isOn, RATE_LIMITS }, bounds)
}
