import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openStore } from '../../../functions/store/open-store.ts'
import { startObservedRelay } from '../../receipts/observed-relay.ts'
import { silentLog } from '../../support/stores.ts'

/** A relay that judges paid calls and keeps their receipts, or does not: `node observing-process.ts <seller> on|off`. */
const [seller = '', isOn = 'on'] = process.argv.slice(2)
const dir = mkdtempSync(join(tmpdir(), 'waypost-observed-'))
const store = await openStore({ STATE_DIR: dir, DATABASE_URL: undefined }, silentLog)
const example = { temperature_c: 7.5, place: 'somewhere', at: '2026-11-20T00:00:00Z' }
const row = {
  ...{ listing_id: 'x402.seller', digest: 'digest', method: 'GET' as const, url: `${seller}/` },
  response: {
    content_type: 'application/json',
    schema: {
      type: 'object',
      properties: { temperature_c: { type: 'number' }, place: { type: 'string' } },
      required: ['temperature_c', 'place'],
    },
    example,
  },
}
const most = Number.MAX_SAFE_INTEGER
const bounds = { ofClient: most, ofListing: most, inAll: most }
const env = { RECEIPTS: isOn, RATE_LIMITS: '{"call":"999999999/60"}' }
const { port } = await startObservedRelay(store, [row], env, bounds)
process.once('SIGINT', () => {
  rmSync(dir, { recursive: true, force: true })
  process.exit(0)
})
console.log(port)
