import {
  brotliDecompressSync,
  constants,
  gunzipSync,
  inflateRawSync,
  inflateSync,
  zstdDecompressSync,
} from 'node:zlib'
import type { DeliveredAnswer } from '../../src/domain/receipts/delivered-answer.ts'
import { JUDGED_BYTES } from '../../src/domain/receipts/judge-delivery.ts'
import { codeOf } from '../../src/domain/wire/operator-error.ts'

/** JSON is packed to a tenth; what does not fit into the first piece is put together from several. */
const USUAL_RATIO = 10
const LEAST_PIECE = 16 * 1024
/** Windows of 8 MiB are what HTTP allows (RFC 9659); a frame may ask for gigabytes. */
const ZSTD_PARAMS = { [constants.ZSTD_d_windowLogMax]: 23 }

type Unpack = (bytes: Buffer) => Buffer

/** A small archive of a large file ends at the bound. */
function toOptions({ length }: Buffer) {
  const { unpacked } = JUDGED_BYTES
  const piece = Math.min(unpacked, Math.max(LEAST_PIECE, length * USUAL_RATIO))
  return { maxOutputLength: unpacked, chunkSize: piece }
}

const CODINGS = new Map<string, Unpack>([
  ['gzip', (bytes) => gunzipSync(bytes, toOptions(bytes))],
  ['x-gzip', (bytes) => gunzipSync(bytes, toOptions(bytes))],
  ['br', (bytes) => brotliDecompressSync(bytes, toOptions(bytes))],
  ['zstd', (bytes) => zstdDecompressSync(bytes, { ...toOptions(bytes), params: ZSTD_PARAMS })],
  // Half of the world's servers leave the wrapping of zlib away.
  [
    'deflate',
    (bytes) => (isWrapped(bytes) ? inflateSync : inflateRawSync)(bytes, toOptions(bytes)),
  ],
])

/** @param encodings values of `Content-Encoding` */
export function unpackAnswer(
  bytes: Buffer,
  encodings: readonly string[],
): Pick<DeliveredAnswer, 'end' | 'body'> {
  const codings = encodings.flatMap((value) => value.toLowerCase().split(','))
  const named = codings
    .map((coding) => coding.trim())
    .filter((coding) => coding !== '' && coding !== 'identity')
  const [coding, ...more] = named
  if (coding === undefined) return { end: 'whole', body: bytes }
  const unpack = CODINGS.get(coding)
  if (unpack === undefined || more.length > 0) return { end: 'unread', body: Buffer.alloc(0) }
  try {
    return { end: 'whole', body: bytes.length === 0 ? bytes : unpack(bytes) }
  } catch (error) {
    const isCut = /^Z_BUF_ERROR$|UNEXPECTED_EOF|_ERROR_UNEXPECTED/.test(codeOf(error))
    return { end: isCut ? 'cut' : 'unread', body: Buffer.alloc(0) }
  }
}

function isWrapped([first = 0, second = 0]: Buffer): boolean {
  return (first & 0x0f) === 8 && (first * 256 + second) % 31 === 0
}
