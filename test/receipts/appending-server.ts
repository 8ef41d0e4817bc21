import { openReceipts } from '../../functions/receipts/log/open-receipts.ts'
import { HEAD_EVERY_MS } from '../../functions/receipts/log/receipt-log.ts'
import { openStore } from '../../functions/store/open-store.ts'
import { silentLog } from '../support/stores.ts'
import { aReceipt, BASE } from './receipt-samples.ts'

/**
 * A server that appends until it is killed. Prints what is written and what it signed, a line each. `DIES` is where it
 * kills itself in its third turn: before it signs a head over what it wrote, or before it tells anybody of that head.
 */
const { STATE_DIR = '', DATABASE_URL, DIES } = process.env
const dieAt = (place: string, turn: number) => {
  if (DIES === place && turn === 2) process.kill(process.pid, 'SIGKILL')
}
const store = await openStore({ STATE_DIR, DATABASE_URL }, silentLog)
// Its minutes are short.
let now = Date.now()
const clock = { now: () => now }
const receipts = openReceipts({ store, clock, log: silentLog, baseUrl: BASE })
for (let n = 0; ; n += 3) {
  const batch = [aReceipt(n), aReceipt(n + 1), aReceipt(n + 2)]
  for (const each of batch) receipts.add(each)
  await receipts.written()
  dieAt('head', n / 3)
  now += HEAD_EVERY_MS + 1
  await receipts.signHead()
  dieAt('answer', n / 3)
  const head = await store.db
    .selectFrom('receipt_head')
    .select(['size', 'root'])
    .orderBy('size', 'desc')
    .limit(1)
    .executeTakeFirst()
  console.log(JSON.stringify({ ids: batch.map(({ receipt }) => receipt.id), head }))
}
