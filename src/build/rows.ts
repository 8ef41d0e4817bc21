import { hash } from 'node:crypto'
import { closeSync, openSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { constants, crc32, deflateRawSync } from 'node:zlib'
import type { RowLengths } from '../compiled.ts'
import {
  type DayOfReceipts,
  type LedgerPayment,
  type TrustLedgerFacts,
  type TrustPayees,
  toPublishedPayment,
} from '../domain/trust/ledger-facts.ts'
import { ROUTES } from '../domain/wire/routes.ts'
import type { Folder } from './folder.ts'

/** How much of the rows is compressed and written at once (bytes). */
const A_PART = 1 << 20

/** RFC 1952: magic, deflate, no flags, no time, written on Unix. */
const GZIP_HEADER = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3)
/** An empty last block, in fixed codes. */
const LAST_BLOCK = Uint8Array.of(3, 0)
const DEFLATE = { level: 6, finishFlush: constants.Z_FULL_FLUSH }

/** What a release's rows are made from, by listing: the next build copies the rows of unchanged listings. */
export interface RowMemory extends RowLengths {
  /** In row order: the id, the digest of its inputs, and the digest of the listings similar to it. */
  listings: [id: string, key: string, similar: string][]
  /** Size of each part of the dump, plain and compressed (bytes). */
  parts: [plain: number, gz: number][]
}

/** Pages read this file, so it is on disk when this returns. */
export function writeNow(folder: Pick<Folder, 'begin'>, path: string, text: string): void {
  const file = folder.begin(path)
  file.write(Buffer.from(text))
  file.finish()
}

/** A range of bytes in the previous release's file. */
interface Range {
  start: number
  end: number
}

/**
 * A file of rows, listing after listing. Each part is written before the next one is made, because
 * a file may be larger than memory.
 * @param former the previous release's row lengths
 * @param onPart takes each part, and its range in the previous file if all of it is copied from there
 */
export function beginRows(
  folder: Pick<Folder, 'begin' | 'former'>,
  path: string,
  former: readonly number[] = [],
  onPart: (part: Uint8Array, range: Range | null) => void = () => {},
) {
  const file = folder.begin(path)
  const starts = [0]
  for (const length of former) starts.push((starts.at(-1) ?? 0) + length)
  const copies = createReader(join(folder.former ?? '', path))
  const lengths: number[] = []
  let [waiting, size]: [(string | Range)[], number] = [[], 0]
  const cut = () => {
    if (size === 0) return
    const part = Buffer.allocUnsafe(size)
    let at = 0
    for (const piece of waiting)
      at += typeof piece === 'string' ? part.write(piece, at) : copies.read(piece, part, at)
    const [first] = waiting
    file.write(part)
    onPart(part, waiting.length === 1 && typeof first === 'object' ? first : null)
    ;[waiting, size] = [[], 0]
  }
  const grow = (length: number) => {
    lengths.push(length)
    size += length
  }
  return {
    add(rows: string): void {
      const last = waiting.at(-1)
      if (typeof last === 'string') waiting[waiting.length - 1] = last + rows
      else waiting.push(rows)
      grow(Buffer.byteLength(rows))
    },
    /** @param place the listing's place in the previous release */
    keep(place: number): void {
      const [start = 0, end = 0] = [starts[place], starts[place + 1]]
      const last = waiting.at(-1)
      if (typeof last === 'object' && last.end === start) last.end = end
      else waiting.push({ start, end })
      grow(end - start)
    },
    cut,
    cutWhereLong: () => void (size > A_PART && cut()),
    finish() {
      cut()
      copies.close()
      return { lengths, ...file.finish() }
    },
  }
}

function createReader(path: string) {
  let file: number | undefined
  return {
    read({ start, end }: Range, to: Buffer, at = 0): number {
      file ??= openSync(path, 'r')
      return readSync(file, to, at, end - start, start)
    },
    close: () => void (file !== undefined && closeSync(file)),
  }
}

/**
 * A file of rows and its compressed copy. The copy is also sent to clients that request the plain
 * file and accept gzip.
 * @param urls the addresses of both files
 */
export function beginLines(
  folder: Pick<Folder, 'begin' | 'former'>,
  urls: { ndjson: string; gz: string },
  former: { lengths?: readonly number[] | undefined; parts?: RowMemory['parts'] | undefined } = {},
) {
  const gz = folder.begin(`public${urls.gz}`)
  const known = toRanges(former.parts ?? [])
  const copies = createReader(join(folder.former ?? '', `public${urls.gz}`))
  const parts: RowMemory['parts'] = []
  let [checksum, bytes] = [0, 0]
  const rows = beginRows(folder, `public${urls.ndjson}`, former.lengths, (part, range) => {
    const same = range === null ? undefined : known.get(`${range.start} ${range.end}`)
    const packed =
      same === undefined ? deflateRawSync(part, DEFLATE) : Buffer.alloc(same.end - same.start)
    if (same !== undefined) copies.read(same, packed)
    gz.write(packed)
    parts.push([part.length, packed.length])
    checksum = crc32(part, checksum)
    bytes += part.length
  })
  gz.write(GZIP_HEADER)
  return {
    ...rows,
    finish() {
      const { lengths, ...plain } = rows.finish()
      copies.close()
      const ending = Buffer.alloc(8)
      ending.writeUInt32LE(checksum, 0)
      ending.writeUInt32LE(bytes % 2 ** 32, 4)
      gz.write(LAST_BLOCK)
      gz.write(ending)
      const files = {
        ndjson: { url: urls.ndjson, ...plain },
        gz: { url: urls.gz, ...gz.finish() },
      }
      return { files, lengths, parts }
    },
  }
}

/** The compressed range of each part, by its plain range. */
function toRanges(parts: RowMemory['parts']): Map<string, Range> {
  let [plain, gz] = [0, GZIP_HEADER.length]
  return new Map(
    parts.map(([length, packed]) => {
      const key = `${plain} ${plain + length}`
      const range = { start: gz, end: gz + packed }
      plain += length
      gz += packed
      return [key, range]
    }),
  )
}

/**
 * Writes the payments behind the scores and the owners of payees, so that anybody can recompute the
 * scores, and the days of receipts, so that people notice if a receipt is withdrawn later.
 */
export function writeTrustLedger(
  folder: Pick<Folder, 'begin' | 'write' | 'former'>,
  {
    payments,
    receiptDays,
  }: { payments: Iterable<LedgerPayment>; receiptDays: readonly DayOfReceipts[] },
  payees: TrustPayees,
): TrustLedgerFacts {
  const urls = { ndjson: ROUTES.trust_payments.path, gz: ROUTES.trust_payments_gz.path }
  const lines = beginLines(folder, urls)
  for (const payment of payments) {
    lines.add(`${JSON.stringify(toPublishedPayment(payment))}\n`)
    lines.cutWhereLong()
  }
  const about = Buffer.from(`${JSON.stringify(payees)}\n`)
  const { path } = ROUTES.trust_payees
  folder.write(`public${path}`, about)
  writeReceiptDays(folder, receiptDays)
  const { files, lengths } = lines.finish()
  return {
    as_of: payees.as_of,
    payments: lengths.length,
    ...files,
    payees: { url: path, bytes: about.length, sha256: hash('sha256', about) },
  }
}

function writeReceiptDays(folder: Pick<Folder, 'write'>, all: readonly DayOfReceipts[]): void {
  for (const { day, file } of all)
    folder.write(`public${ROUTES.receipt_day.path.replace(':day', day)}`, file)
  const days = all.map(({ file: _, ...day }) => day)
  folder.write(`public${ROUTES.receipt_days.path}`, `${JSON.stringify({ days })}\n`)
}
