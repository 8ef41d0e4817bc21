import { hash } from 'node:crypto'
import { constants, crc32, deflateRawSync } from 'node:zlib'
import type { DayOfReceipts, TrustLedgerFacts, TrustPayees } from '../domain/trust/ledger-facts.ts'
import { type LedgerPayment, toPublishedPayment } from '../domain/trust/ledger-facts.ts'
import { ROUTES } from '../domain/wire/route-table.ts'
import type { Folder } from './folder.ts'

/** Lines that are compressed and written at once (bytes). */
const A_PART = 1 << 20

/** RFC 1952: magic, deflate, no flags, no time, written on Unix. */
const GZIP_HEADER = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3)
/** An empty last block, in fixed codes. */
const LAST_BLOCK = Uint8Array.of(3, 0)
const DEFLATE = { level: 6, finishFlush: constants.Z_FULL_FLUSH }

/**
 * Begins a file of many lines and its compressed copy, which also goes to clients that accept gzip
 * and ask for the other. A part is written
 * before the next one is made: a file may be larger than memory.
 *
 * @param urls where the two are served
 */
export function beginLines(folder: Pick<Folder, 'begin'>, urls: { ndjson: string; gz: string }) {
  const plain = folder.begin(`public${urls.ndjson}`)
  const gz = folder.begin(`public${urls.gz}`)
  let [waiting, length]: [Uint8Array[], number] = [[], 0]
  const flush = () => {
    const part = Buffer.concat(waiting)
    ;[waiting, length] = [[], 0]
    plain.write(part)
    gz.write(deflateRawSync(part, DEFLATE))
    checksum = crc32(part, checksum)
    bytes += part.length
  }
  let [checksum, bytes] = [0, 0]
  gz.write(GZIP_HEADER)
  return {
    write(part: Uint8Array): void {
      waiting.push(part)
      length += part.length
      if (length > A_PART) flush()
    },
    finish() {
      flush()
      const ending = Buffer.alloc(8)
      ending.writeUInt32LE(checksum, 0)
      ending.writeUInt32LE(bytes % 2 ** 32, 4)
      gz.write(LAST_BLOCK)
      gz.write(ending)
      return {
        ndjson: { url: urls.ndjson, ...plain.finish() },
        gz: { url: urls.gz, ...gz.finish() },
      }
    },
  }
}

/**
 * The payments behind the scores and the owners of payees, so that anybody can recompute them, and
 * the days of receipts, so that one that is taken back later is missed.
 */
export function writeTrustLedger(
  folder: Pick<Folder, 'begin' | 'write'>,
  {
    payments,
    receiptDays,
  }: { payments: Iterable<LedgerPayment>; receiptDays: readonly DayOfReceipts[] },
  payees: TrustPayees,
): TrustLedgerFacts {
  const urls = { ndjson: ROUTES.trust_payments.path, gz: ROUTES.trust_payments_gz.path }
  const lines = beginLines(folder, urls)
  let count = 0
  for (const payment of payments) {
    count += 1
    lines.write(Buffer.from(`${JSON.stringify(toPublishedPayment(payment))}\n`))
  }
  const about = Buffer.from(`${JSON.stringify(payees)}\n`)
  const { path } = ROUTES.trust_payees
  folder.write(`public${path}`, about)
  writeReceiptDays(folder, receiptDays)
  return {
    as_of: payees.as_of,
    payments: count,
    ...lines.finish(),
    payees: { url: path, bytes: about.length, sha256: hash('sha256', about) },
  }
}

function writeReceiptDays(folder: Pick<Folder, 'write'>, all: readonly DayOfReceipts[]): void {
  for (const { day, file } of all)
    folder.write(`public${ROUTES.receipt_day.path.replace(':day', day)}`, file)
  const days = all.map(({ file: _, ...day }) => day)
  folder.write(`public${ROUTES.receipt_days.path}`, `${JSON.stringify({ days })}\n`)
}
