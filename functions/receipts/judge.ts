import { createHash, hash } from 'node:crypto'
import {
  brotliDecompressSync,
  constants,
  gunzipSync,
  inflateRawSync,
  inflateSync,
  zstdDecompressSync,
} from 'node:zlib'
import type { DeclaredRow } from '../../src/domain/derived/declared-call.ts'
import type { PaymentMarks } from '../../src/domain/receipts/delivered.ts'
import {
  type DeliveredAnswer,
  JUDGED_BYTES,
  judgeDelivery,
} from '../../src/domain/receipts/judge.ts'
import { codeOf } from '../../src/domain/wire/operator-error.ts'
import type { NewReceipt } from './receipts.ts'

/** A finished call with copies of what was sent: in memory until it is judged. */
export interface SeenCall {
  id: string
  /** The salt of the receipt's hashes. */
  secret: Buffer
  listingId: string
  startedAt: number
  ms: number
  request: { method: string; path: string; body: readonly Buffer[]; isComplete: boolean }
  /** The request's `Accept-Encoding`. */
  accepted: string | undefined
  /** Null where no answer came. */
  status: number | null
  /** Values of `Content-Encoding`. */
  encodings: readonly string[]
  /** Named by the answer. */
  transaction: string | null
  answer: { chunks: readonly Buffer[]; end: DeliveredAnswer['end'] }
}

/** @param row the declaration of the called operation @param marks of the request's payment */
export function judgeCall(
  call: SeenCall,
  row: DeclaredRow,
  marks: PaymentMarks | null,
): NewReceipt {
  const { id, secret, request, status, transaction, ms } = call
  const bytes = join(call.answer.chunks)
  const { verdict, reason } = judgeDelivery(row.response, toDelivered(call, bytes))
  const line = Buffer.from(`${request.method} ${request.path}\n`, 'latin1')
  const isRead = status !== null && call.answer.end === 'whole'
  return {
    // In the order of canonical JSON, so that it is written as it is.
    receipt: {
      answer: isRead ? saltedHash(secret, [bytes]) : null,
      at: new Date(call.startedAt).toISOString(),
      id,
      listing_id: call.listingId,
      ms,
      operation: row.digest,
      reason,
      request: request.isComplete ? saltedHash(secret, [line, ...request.body]) : null,
      status,
      transaction,
      verdict,
    },
    call: `${row.method} ${row.url}`,
    payment: hashOf(marks?.payment),
    authorization: hashOf(marks?.authorization),
    isNamed: transaction !== null,
  }
}

function join(chunks: readonly Buffer[]): Buffer {
  const [first] = chunks
  return first !== undefined && chunks.length === 1 ? first : Buffer.concat(chunks)
}

function hashOf(mark: string | null | undefined): string | null {
  return mark === null || mark === undefined ? null : hash('sha256', mark)
}

/** Longer input is hashed without a copy; for short input a copy is cheaper than hashing parts. */
const MAX_COPIED = 16 * 1024

function saltedHash(salt: Buffer, parts: readonly Buffer[]): string {
  const size = parts.reduce((sum, part) => sum + part.length, 0)
  if (size <= MAX_COPIED) return hash('sha256', Buffer.concat([salt, ...parts]))
  const sum = createHash('sha256').update(salt)
  for (const part of parts) sum.update(part)
  return sum.digest('hex')
}

function toDelivered(
  { status, encodings, accepted, answer }: SeenCall,
  bytes: Buffer,
): DeliveredAnswer {
  if (answer.end !== 'whole') return { status, end: answer.end, body: bytes }
  return { status, ...unpackAnswer(bytes, encodings, accepted) }
}

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
 * for does not count as an answer: else a header would exempt rubbish.
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
