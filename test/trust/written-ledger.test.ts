import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { noCache } from '../../src/compile/files/build-cache.ts'
import { createReleaseFiles, type ReleaseFiles } from '../../src/compile/files/release-files.ts'
import { writeTrustLedger } from '../../src/compile/release/write-trust-ledger.ts'
import { type LedgerPayment, toPublishedPayment } from '../../src/domain/trust/ledger-payment.ts'
import { openObjects, readObjectSync } from '../../src/store/objects.ts'
import { NETWORK, NOON, TOKEN, wallet } from '../settlements/samples.ts'

/** The ledger of a large market is longer than the memory: rows are text only while they are written. */
const PAYEES = { as_of: new Date(NOON).toISOString(), seeds: [], payees: [] }
const PLAIN = 'api/v1/trust/payments.ndjson'
let outDir = ''
beforeAll(() => {
  outDir = mkdtempSync(join(tmpdir(), 'waypost-ledger-'))
})
afterAll(() => rmSync(outDir, { recursive: true }))

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

/** Says of each file how many rows were asked for, but are not written yet, when a part is written. */
function watch(files: ReleaseFiles, asked: () => number) {
  const waiting: number[] = []
  const begin: ReleaseFiles['begin'] = (file) => {
    const { write, finish } = files.begin(file)
    let rows = 0
    return {
      finish,
      write(part) {
        if (file === PLAIN) {
          waiting.push(asked() - rows)
          rows += Buffer.from(part).toString().split('\n').length - 1
        }
        write(part)
      },
    }
  }
  return { waiting, files: { ...files, begin } }
}

test.each([0, 1, 2_000, 9_001])(
  '%s rows are written in parts, and are the same in both files',
  (count) => {
    let asked = 0
    function* rows() {
      for (; asked < count; ) {
        asked += 1
        yield toRow(asked)
      }
    }
    const release = createReleaseFiles(openObjects(outDir, new Set()), noCache())
    const { waiting, files } = watch(release.in('public'), () => asked)
    const facts = writeTrustLedger(files, rows(), PAYEES)
    expect(facts.payments).toBe(count)
    expect(Math.max(0, ...waiting)).toBeLessThanOrEqual(2_000)
    const read = (file: string) => readObjectSync(outDir, files.stored(file))
    const plain = read(PLAIN)
    expect(plain.toString()).toBe(
      Array.from(
        { length: count },
        (_, n) => `${JSON.stringify(toPublishedPayment(toRow(n + 1)))}\n`,
      ).join(''),
    )
    // Compared as text: a byte each, megabytes take half a minute.
    expect(gunzipSync(read(`${PLAIN}.gz`)).toString()).toBe(plain.toString())
    expect(facts.ndjson).toEqual({
      url: `/${PLAIN}`,
      bytes: plain.length,
      sha256: files.stored(PLAIN).digest,
    })
  },
)
