import { countRequests, REQUEST_CASES } from '../meter/count-requests.ts'
import { openMeterStore } from '../meter/meter-world.ts'

/**
 * Requests the meter makes for thirty days of a chain with a block every two seconds, by payouts, over
 * nodes of three kinds. In memory: what is counted is requests, not time.
 */
const PAYOUTS = [1, 100, 10_000]

const ledger = await openMeterStore()
console.log(`| A node that takes | ${PAYOUTS.map((n) => `${n} payouts`).join(' | ')} |`)
console.log(`|---|${PAYOUTS.map(() => '---').join('|')}|`)
for (const one of REQUEST_CASES) {
  const counts: number[] = []
  for (const payouts of PAYOUTS) {
    await ledger.empty()
    counts.push(await countRequests(ledger.store, one, { payouts, days: 30 }))
  }
  console.log(`| ${one.name} | ${counts.join(' | ')} |`)
}
await ledger.close()
