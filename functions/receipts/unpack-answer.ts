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

/** JSON compresses to a tenth. */
const USUAL_RATIO = 10
const LEAST_PIECE = 16 * 1024
/** Windows of 8 MiB are what HTTP allows (RFC 9659); a frame may ask for gigabytes. */
const ZSTD_PARAMS = { [constants.ZSTD_d_windowLogMax]: 23 }

/** Larger than we decompress, or than HTTP allows. */
const UNREAD_CODES = new Set(['ERR_BUFFER_TOO_LARGE', 'ZSTD_error_frameParameter_windowTooLarge'])

type Options = { maxOutputLength: number; chunkSize: number }
type Unpack = (bytes: Buffer, options: Options) => Buffer

const CODINGS = new Map<string, Unpack>([
  ['gzip', gunzipSync],
  ['x-gzip', gunzipSync],
  ['br', brotliDecompressSync],
  ['zstd', (bytes, options) => zstdDecompressSync(bytes, { ...options, params: ZSTD_PARAMS })],
  // Half of the world's servers omit the zlib wrapper.
  [
    'deflate',
    (bytes, options) => (isWrapped(bytes) ? inflateSync : inflateRawSync)(bytes, options),
  ],
])

/**
 * A body not compressed as it claims is judged as it came, and a coding that its caller did not ask
 * for is no answer: else a header would exempt rubbish.
 *
 * @param encodings values of `Content-Encoding`
 * @param accepted the request's `Accept-Encoding`, undefined without one
 */
export function unpackAnswer(
  bytes: Buffer,
  encodings: readonly string[],
  accepted?: string,
): Pick<DeliveredAnswer, 'end' | 'body'> {
  const codings = encodings.flatMap((value) => value.toLowerCase().split(','))
  const named = codings
    .map((coding) => coding.trim())
    .filter((coding) => coding !== '' && coding !== 'identity')
  const [coding, ...more] = named
  if (coding === undefined) return { end: 'whole', body: bytes }
  if (!named.every((each) => isAccepted(each, accepted)))
    return { end: 'foreign', body: Buffer.alloc(0) }
  const unpack = CODINGS.get(coding)
  if (unpack === undefined || more.length > 0) return { end: 'unread', body: Buffer.alloc(0) }
  try {
    return { end: 'whole', body: bytes.length === 0 ? bytes : unpackWhole(bytes, unpack) }
  } catch (error) {
    const code = codeOf(error)
    if (/^Z_BUF_ERROR$|UNEXPECTED_EOF|_ERROR_UNEXPECTED/.test(code))
      return { end: 'cut', body: Buffer.alloc(0) }
    if (UNREAD_CODES.has(code)) return { end: 'unread', body: Buffer.alloc(0) }
    return { end: 'whole', body: bytes }
  }
}

/** RFC 9110 §12.5.3. Without the header a seller may choose: what is common may be its choice. */
function isAccepted(coding: string, accepted: string | undefined): boolean {
  if (accepted === undefined) return CODINGS.has(coding)
  const rows = accepted.toLowerCase().split(',')
  const weights = new Map(
    rows.map((row): [string, boolean] => {
      const [name = '', weight = ''] = row.split(';').map((part) => part.trim())
      return [name.replace(/^x-/, ''), !/^q\s*=\s*0(?:\.0*)?$/.test(weight)]
    }),
  )
  return weights.get(coding.replace(/^x-/, '')) ?? weights.get('*') ?? false
}

/** Into one buffer, of the usual or the largest size: several would have to be joined. */
function unpackWhole(bytes: Buffer, unpack: Unpack): Buffer {
  const usual = Math.max(LEAST_PIECE, bytes.length * USUAL_RATIO)
  try {
    if (usual < JUDGED_BYTES.unpacked) return unpack(bytes, toOptions(usual))
  } catch (error) {
    if (codeOf(error) !== 'ERR_BUFFER_TOO_LARGE') throw error
  }
  return unpack(bytes, toOptions(JUDGED_BYTES.unpacked))
}

/** A small archive of a large file stops at the limit. A full buffer asks for another one. */
function toOptions(most: number): Options {
  return { maxOutputLength: most, chunkSize: most + 1 }
}

function isWrapped([first = 0, second = 0]: Buffer): boolean {
  return (first & 0x0f) === 8 && (first * 256 + second) % 31 === 0
}
