import { hash } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { writeTrustLedger } from '../../src/build/rows.ts'
import { type LedgerPayment, toPublishedPayment } from '../../src/domain/trust/ledger-facts.ts'
import { NETWORK, NOON, TOKEN, wallet } from '../settlements/samples.ts'
import { createKeptFiles } from '../support/kept-files.ts'

/** The ledger of a large market is longer than the memory: rows are text only while they are written. */
const PAYEES = { as_of: new Date(NOON).toISOString(), seeds: [], payees: [] }
const PLAIN = 'public/api/v1/trust/payments.ndjson'
const toRow = (n: number): LedgerPayment => ({
  network: NETWORK,
  transaction: `0x${n.toString(16).padStart(64, '0')}`,
  log: n % 7,
  at: NOON - n,
  asset: TOKEN,
  amount: String(n),
  usd_micro: n,
  payer: wallet(n),
  payee: wallet(1),
  scheme: 'eip3009',
  listings: ['x402.one'],
  verdict: 'counted',
})

/** Says how many rows were asked for, but are not written yet, when a part is written. */
function watch(folder: Kept['folder'], requested: () => number) {
  const waiting: number[] = []
  const begin: Kept['folder']['begin'] = (file) => {
    const { write, finish } = folder.begin(file)
    let rows = 0
    return {
      finish,
      write(part) {
        if (file === PLAIN) {
          waiting.push(requested() - rows)
          rows += Buffer.from(part).toString().split('\n').length - 1
        }
        write(part)
      },
    }
  }
  return { waiting, folder: { ...folder, begin } }
}
type Kept = ReturnType<typeof createKeptFiles>

test.each([0, 1, 2_000, 9_001])(
  '%s rows are written in parts, and are the same in both files',
  (count) => {
    let requested = 0
    function* rows() {
      for (; requested < count; ) {
        requested += 1
        yield toRow(requested)
      }
    }
    const kept = createKeptFiles()
    const { waiting, folder } = watch(kept.folder, () => requested)
    const facts = writeTrustLedger(folder, { payments: rows(), receiptDays: [] }, PAYEES)
    expect(facts.payments).toBe(count)
    expect(Math.max(0, ...waiting)).toBeLessThanOrEqual(5_000)
    const plain = kept.read(PLAIN)
    expect(plain.toString()).toBe(
      Array.from(
        { length: count },
        (_, n) => `${JSON.stringify(toPublishedPayment(toRow(n + 1)))}\n`,
      ).join(''),
    )
    // Compared as text: a byte each, megabytes take half a minute.
    expect(gunzipSync(kept.read(`${PLAIN}.gz`)).toString()).toBe(plain.toString())
    expect(facts.ndjson).toEqual({
      url: PLAIN.slice('public'.length),
      bytes: plain.length,
      sha256: hash('sha256', plain),
    })
  },
)
