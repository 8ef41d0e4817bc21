import {
  brotliCompressSync,
  constants,
  createZstdCompress,
  deflateRawSync,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from 'node:zlib'
import { expect, test } from 'vitest'
import { judgeCall } from '../../functions/receipts/observe-call.ts'

const SMALL = Buffer.from('{"city":"Oslo"}')
const schema = { type: 'object', properties: { city: { type: 'string' } } }
const ROW = {
  ...{ listing_id: 'x402.a', digest: 'd', method: 'GET' as const, url: 'https://a.example/' },
  response: { content_type: 'application/json', schema },
}

/** The verdict on an answer. @param accepted the request's `Accept-Encoding` */
function verdictOn(bytes: Buffer, coding: string, accepted?: string): string {
  const call = {
    ...{ id: 'x'.repeat(22), secret: Buffer.alloc(32), listingId: 'x402.a', startedAt: 0, ms: 0 },
    request: { method: 'GET', path: '/', body: [], isComplete: true },
    ...{ accepted, status: 200, encodings: [coding], transaction: null },
    answer: { chunks: [bytes], end: 'whole' as const },
  }
  return judgeCall(call, ROW, null).receipt.verdict
}
/** A few kilobytes that unpack to 64 MiB. */
const LARGE = Buffer.alloc(64 * 1024 * 1024, '[')

const CODINGS = [
  ['gzip', gzipSync],
  [
    'br',
    (bytes: Buffer) =>
      brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }),
  ],
  ['deflate', deflateSync],
  ['deflate', deflateRawSync],
  ['zstd', zstdCompressSync],
] as const

test.each(CODINGS)('%s: what is small is read, a bomb is not, a piece is cut', (coding, pack) => {
  const packed = pack(SMALL)
  expect(verdictOn(packed, coding)).toBe('as_declared')
  expect(verdictOn(packed.subarray(0, packed.length - 6), coding)).not.toBe('as_declared')
  expect(verdictOn(pack(LARGE), coding)).toBe('too_large_to_judge')
})

test.each(['gzip', 'br', 'deflate', 'zstd'])(
  'what is not %s, though it says so, is judged as it came',
  (coding) => {
    expect(verdictOn(Buffer.from('<p>thank you for your money</p>'), coding)).toBe('other_shape')
    expect(verdictOn(SMALL, coding)).toBe('as_declared')
  },
)

test('a coding that the caller did not ask for is another shape, whatever is in it', () => {
  const packed = gzipSync(SMALL)
  for (const coding of ['x', 'constructor', 'gzip;q=1', 'gzip, x'])
    expect([coding, verdictOn(SMALL, coding, 'gzip, br')]).toEqual([coding, 'other_shape'])
  for (const requested of ['br', 'identity', '', 'gzip;q=0', '*;q=0', 'gzip ; q=0.000, *'])
    expect([requested, verdictOn(packed, 'gzip', requested)]).toEqual([requested, 'other_shape'])
  for (const requested of ['br, GZIP', '*', 'x-gzip', 'identity;q=0, gzip;q=0.001'])
    expect([requested, verdictOn(packed, 'gzip', requested)]).toEqual([requested, 'as_declared'])
  // Without the header, HTTP lets a seller choose: what is common may be what it chose.
  expect(verdictOn(packed, 'gzip')).toBe('as_declared')
  expect(verdictOn(packed, 'x')).toBe('other_shape')
  expect(verdictOn(SMALL, 'identity', '')).toBe('as_declared')
})

test('two codings, and one that was asked for and nobody here knows, are not read', () => {
  expect(verdictOn(gzipSync(gzipSync(SMALL)), 'gzip, gzip')).toBe('too_large_to_judge')
  expect(verdictOn(SMALL, 'x', 'x')).toBe('too_large_to_judge')
})

test('a window larger than HTTP allows is not opened', async () => {
  const windowLog = (log: number) => ({ params: { [constants.ZSTD_c_windowLog]: log } })
  const pack = async (log: number) => {
    const stream = createZstdCompress(windowLog(log))
    stream.write(SMALL)
    stream.end(' ')
    return Buffer.concat(await stream.toArray())
  }
  expect(verdictOn(await pack(23), 'zstd')).toBe('as_declared')
  expect(verdictOn(await pack(24), 'zstd')).toBe('too_large_to_judge')
})
