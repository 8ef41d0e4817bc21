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
import { unpackAnswer } from '../../functions/receipts/unpack-answer.ts'

const SMALL = Buffer.from('{"city":"Oslo"}')
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
  expect(unpackAnswer(packed, [coding])).toEqual({ end: 'whole', body: SMALL })
  expect(unpackAnswer(packed.subarray(0, packed.length - 6), [coding]).end).not.toBe('whole')
  expect(unpackAnswer(pack(LARGE), [coding]).end).toBe('unread')
})

test.each(['gzip', 'br', 'deflate', 'zstd'])(
  'what is not %s, though it says so, is judged as it came',
  (coding) => {
    const rubbish = Buffer.from('<p>thank you for your money</p>')
    expect(unpackAnswer(rubbish, [coding])).toEqual({ end: 'whole', body: rubbish })
  },
)

test('a coding that the caller did not ask for is foreign, whatever is in it', () => {
  const packed = gzipSync(SMALL)
  for (const coding of ['x', 'constructor', 'gzip;q=1', 'gzip, x'])
    expect(unpackAnswer(SMALL, [coding], 'gzip, br').end).toBe('foreign')
  for (const asked of ['br', 'identity', '', 'gzip;q=0', '*;q=0', 'gzip ; q=0.000, *'])
    expect([asked, unpackAnswer(packed, ['gzip'], asked).end]).toEqual([asked, 'foreign'])
  for (const asked of ['br, GZIP', '*', 'x-gzip', 'identity;q=0, gzip;q=0.001'])
    expect([asked, unpackAnswer(packed, ['gzip'], asked).end]).toEqual([asked, 'whole'])
  // Without the header, HTTP lets a seller choose: what is common may be what it chose.
  expect(unpackAnswer(packed, ['gzip'], undefined).end).toBe('whole')
  expect(unpackAnswer(packed, ['x'], undefined).end).toBe('foreign')
  expect(unpackAnswer(SMALL, ['identity'], '').end).toBe('whole')
})

test('two codings, and one that was asked for and nobody here knows, are not read', () => {
  expect(unpackAnswer(gzipSync(gzipSync(SMALL)), ['gzip, gzip']).end).toBe('unread')
  expect(unpackAnswer(SMALL, ['x'], 'x').end).toBe('unread')
})

test('a window larger than HTTP allows is not opened', async () => {
  const windowLog = (log: number) => ({ params: { [constants.ZSTD_c_windowLog]: log } })
  const pack = async (log: number) => {
    const stream = createZstdCompress(windowLog(log))
    stream.write(SMALL)
    stream.end(' ')
    return Buffer.concat(await stream.toArray())
  }
  expect(unpackAnswer(await pack(23), ['zstd']).end).toBe('whole')
  expect(unpackAnswer(await pack(24), ['zstd']).end).toBe('unread')
})
