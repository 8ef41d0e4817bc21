import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLog } from '../../functions/ports/log.ts'
import { openStore } from '../../functions/store/open-store.ts'
import { countRequests, REQUEST_CASES, type RequestCase } from '../meter/count-requests.ts'

/**
 * Requests the meter makes for thirty days of a chain with a block every two seconds, by payouts, over
 * nodes of three kinds. In memory: what is counted is requests, not time.
 */
const PAYOUTS = [1, 100, 10_000]

console.log(`| A node that takes | ${PAYOUTS.map((n) => `${n} payouts`).join(' | ')} |`)
console.log(`|---|${PAYOUTS.map(() => '---').join('|')}|`)
for (const one of REQUEST_CASES) {
  const counts: number[] = []
  for (const payouts of PAYOUTS) counts.push(await measureCase(one, payouts))
  console.log(`| ${one.name} | ${counts.join(' | ')} |`)
}

async function measureCase(one: RequestCase, payouts: number): Promise<number> {
  const place = mkdtempSync(join(tmpdir(), 'waypost-meter-'))
  const log = createLog(() => {}, Date.now)
  const store = await openStore({ STATE_DIR: place, DATABASE_URL: undefined }, log)
  try {
    return await countRequests(store, one, { payouts, days: 30 })
  } finally {
    await store.close()
    rmSync(place, { recursive: true })
  }
}
