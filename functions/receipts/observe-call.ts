import { createHash, hash, randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import {
  brotliDecompressSync,
  constants,
  gunzipSync,
  inflateRawSync,
  inflateSync,
  zstdDecompressSync,
} from 'node:zlib'
import type { DeclaredRow } from '../../src/domain/derived/derived-listing.ts'
import type { LiveListing } from '../../src/domain/listing/listing-states.ts'
import {
  decodePayments,
  type PaymentMarks,
  readSettledTransaction,
  toPaymentMarks,
} from '../../src/domain/relay/delivered.ts'
import { type DeliveredAnswer, judgeDelivery } from '../../src/domain/relay/judge.ts'
import { RECEIPT_HEADER, RECEIPT_SECRET_HEADER } from '../../src/domain/relay/receipt.ts'
import { carriesPayment, valuesOf } from '../../src/domain/relay/relayed-headers.ts'
import { receiptPath } from '../../src/domain/wire/links.ts'
import { codeOf } from '../../src/domain/wire/problems.ts'
import { isAtAddress } from '../../src/domain/wire/text.ts'
import type { Clock } from '../ports/clock.ts'
import type { Config } from '../ports/config.ts'
import type { Log } from '../ports/log.ts'
import { CallAborted } from '../relay/call-plan.ts'
import type { CallObserver, ObservedCall, SellerHead } from '../relay/seller-call.ts'
import { acceptsEncoding } from '../server/node-answers.ts'
import { createWindows, networkOf } from '../server/rate-limits.ts'
import { type NewReceipt, type openReceipts, toReceiptId } from './receipts.ts'

type Receipts = ReturnType<typeof openReceipts>

/**
 * Observes paid calls: copies request and answer up to a limit, and judges the copies once the answer was sent.
 *
 * Security model: copies are kept only in memory, until they are judged; a seller's words reach neither a receipt nor a
 * log. The bytes copied, and the receipts per hour for a client or a listing, are limited; a call beyond a limit passes
 * without a receipt. If copies take too much memory, the largest are dropped and their calls are not judged: this hurts
 * only sellers that pad answers, and nobody is blamed for our limits. A caller that leaves or stops is not the seller's
 * fault: such a call gets no verdict.
 *
 * Known limitations: a verdict is only about the bytes that passed here. Bytes past a copy's limit, or that came while
 * there was no room for copies, are not judged, and a seller that answers well only through the relay looks good.
 */
interface ObserverParts {
  config: Pick<Config, 'BASE_URL' | 'RECEIPTS'>
  clock: Clock
  log: Log
  receipts: Pick<Receipts, 'add' | 'wait'>
  /** The declarations of the current release, by digest. */
  declared: () => Promise<ReadonlyMap<string, DeclaredRow>>
  bounds?: typeof OBSERVER_BOUNDS
}

export const OBSERVER_BOUNDS = {
  /** Copies in memory, for all calls that are under way or waiting to be judged (bytes). */
  copies: 16 * 1024 * 1024,
  /** How many bytes of a request are copied at most. */
  request: 64 * 1024,
  /** Calls that wait to be judged. */
  waiting: 2_000,
  /**
   * A client's first receipts in an hour are not counted against the listing's limit: otherwise a seller could use up
   * its own limit, then cheat without a trace. Filling `firstInAll` takes a thousand networks.
   */
  firstOfClient: 20,
  firstInAll: 20_000,
  /** Receipts per hour, limited because sellers and callers may invent transactions. */
  ofClient: 600,
  ofListing: 5_000,
  inAll: 20_000,
}

const HOUR_S = 3_600

export function createCallObserver({
  config,
  bounds = OBSERVER_BOUNDS,
  ...parts
}: ObserverParts): CallObserver & { idle(): Promise<void> } {
  const draw = createDraws()
  const copies = createCopies(bounds.copies)
  const judge = createJudge(parts, bounds, (call) => copies.release(call))
  return {
    observe(req, { listing, path, client }) {
      const declared = config.RECEIPTS ? findDeclared(req, listing, path) : null
      const payments = declared === null ? [] : decodePayments(req.rawHeaders)
      if (declared === null || payments.length === 0) return null
      const { clock } = parts
      return new PaidCall(
        { req, listing, path, client, digest: declared.digest, marks: toPaymentMarks(payments) },
        { clock, draw, baseUrl: config.BASE_URL, requestBytes: bounds.request, copies, judge },
      )
    },
    idle: judge.idle,
  }
}

/** Request header: with `off` the call is not judged. */
const WITNESS_HEADER = 'call-witness'

/** The operation that a call buys; null if the call is not observed. */
function findDeclared(req: IncomingMessage, { declared }: LiveListing, path: string) {
  if (declared === undefined || !carriesPayment(req.rawHeaders)) return null
  const found = declared.find(({ method, url }) => method === req.method && isAtAddress(url, path))
  const isOff = valuesOf(req.rawHeaders, WITNESS_HEADER).some((value) => /^\s*off\s*$/i.test(value))
  return found === undefined || isOff || asksForOther(req) ? null : found
}

/** Ranges, conditions and specific `Accept` types get answers that no declaration covers. */
function asksForOther({ headers }: IncomingMessage): boolean {
  const { accept } = headers
  const isNarrow = accept !== undefined && !/\*\/\*|\/\*|json/.test(accept)
  return isNarrow || ['range', 'if-none-match', 'if-modified-since'].some((name) => name in headers)
}

const ID_BYTES = 16
const SECRET_BYTES = 32
const DRAWN_BYTES = 64 * 1024

/** Random bytes, drawn many at a time: drawing a few takes the system just as long. */
function createDraws(): (bytes: number) => Buffer {
  let drawn = Buffer.alloc(0)
  let used = 0
  return (bytes) => {
    if (used + bytes > drawn.length) [drawn, used] = [randomBytes(DRAWN_BYTES), 0]
    used += bytes
    return drawn.subarray(used - bytes, used)
  }
}

interface Subject {
  req: IncomingMessage
  listing: LiveListing
  path: string
  client: string
  digest: string
  marks: PaymentMarks | null
}

interface Surroundings {
  clock: Clock
  draw: (bytes: number) => Buffer
  baseUrl: string
  requestBytes: number
  copies: Copies
  judge: { judge(call: PaidCall): void }
}

/** Sizes up to which an answer is judged, in bytes: as received, and decompressed. */
const JUDGED_BYTES = { packed: 256 * 1024, unpacked: 1024 * 1024 } as const

/** One object per call, without closures: there may be a thousand calls a second. */
class PaidCall implements ObservedCall {
  readonly id: string
  /** The salt of the receipt's hashes. */
  readonly secret: Buffer
  readonly headers: readonly string[]
  readonly listingId: string
  readonly client: string
  readonly digest: string
  readonly marks: PaymentMarks | null
  readonly startedAt: number
  /** The request's `Accept-Encoding`. */
  readonly accepted: string | undefined
  readonly request: { method: string; path: string; body: Buffer[]; isComplete: boolean }
  readonly answer: { chunks: Buffer[]; end: 'whole' | 'cut' | 'unread' } = {
    chunks: [],
    end: 'whole',
  }
  ms = 0
  /** Null if no answer came. */
  status: number | null = null
  /** Values of `Content-Encoding`. */
  encodings: readonly string[] = []
  /** The transaction that the answer names. */
  transaction: string | null = null
  /** Bytes copied from request and answer. */
  copied = 0
  /** Whether the copies were dropped to free memory. */
  isEvicted = false
  #around: Surroundings
  #requestBytes = 0
  #answerBytes = 0

  constructor({ req, listing, path, client, digest, marks }: Subject, around: Surroundings) {
    this.startedAt = around.clock.now()
    this.id = toReceiptId(this.startedAt, around.draw(ID_BYTES))
    this.secret = around.draw(SECRET_BYTES)
    this.headers = [
      RECEIPT_HEADER,
      `${around.baseUrl}${receiptPath(this.id)}`,
      RECEIPT_SECRET_HEADER,
      this.secret.toString('base64url'),
    ]
    this.listingId = listing.id
    this.client = client
    this.digest = digest
    this.marks = marks
    this.accepted = req.headers['accept-encoding']?.toString()
    this.request = { method: req.method ?? '', path, body: [], isComplete: true }
    this.#around = around
  }

  onRequestBody(chunk: Buffer): void {
    this.#requestBytes += chunk.length
    if (this.#requestBytes <= this.#around.requestBytes) this.#copy(chunk, this.request.body)
    else this.#dropRequest()
  }

  onHead({ status, headers }: SellerHead): void {
    this.status = status
    this.encodings = valuesOf(headers, 'content-encoding')
    this.transaction = readSettledTransaction(headers)
  }

  onData(chunk: Buffer): void {
    this.#answerBytes += chunk.length
    if (this.answer.end !== 'whole') return
    if (this.#answerBytes > JUDGED_BYTES.packed) this.#dropAnswer()
    else this.#copy(chunk, this.answer.chunks)
  }

  onEnd(): void {
    this.#finish(true)
  }

  onFail(error: Error, isSent: boolean): void {
    if (this.answer.end === 'whole') this.answer.end = 'cut'
    this.#finish((isSent && isFaultOfSeller(error)) || isDecided(this))
  }

  evict(): void {
    this.isEvicted = true
    this.#dropRequest()
    this.#dropAnswer()
  }

  #dropRequest(): void {
    this.request.body.length = 0
    this.request.isComplete = false
  }

  #dropAnswer(): void {
    this.answer.chunks.length = 0
    this.answer.end = 'unread'
  }

  /** Copies a chunk, because the answer writer frees its chunks. */
  #copy(chunk: Buffer, kept: Buffer[]): void {
    if (this.isEvicted) return
    kept.push(Buffer.from(chunk))
    this.#around.copies.add(this, chunk.length)
  }

  /** If the copies were dropped, the status alone may still be enough for a verdict. */
  #finish(isSeen: boolean): void {
    const { clock, copies, judge } = this.#around
    this.ms = Math.max(0, Math.round(clock.now() - this.startedAt))
    if (isSeen && (!this.isEvicted || isDecided(this))) judge.judge(this)
    else copies.release(this)
  }
}

/** True if the connection was cut or timed out; false if the caller left, stopped or was evicted. */
function isFaultOfSeller(error: Error): boolean {
  return !(error instanceof CallAborted) || error.why === 'late' || error.why === 'invalid'
}

/** Whether the status alone decides the verdict, without the body. */
function isDecided({ status }: PaidCall): boolean {
  return status !== null && (status < 200 || status > 299)
}

type Copies = ReturnType<typeof createCopies>

/** Calls with copies in memory. @param most bytes that all copies together may take */
function createCopies(most: number) {
  const held = new Set<PaidCall>()
  let bytes = 0
  const release = (call: PaidCall) => {
    if (!held.delete(call)) return
    bytes -= call.copied
    call.copied = 0
  }
  const findLargest = () => {
    let largest: PaidCall | null = null
    for (const call of held) if (call.copied > (largest?.copied ?? 0)) largest = call
    return largest
  }
  return {
    add(call: PaidCall, size: number): void {
      held.add(call)
      call.copied += size
      bytes += size
      if (bytes <= most) return
      const largest = findLargest()
      if (largest === null) return
      largest.evict()
      release(largest)
    },
    release,
  }
}

/** Calls within this time span are judged together (milliseconds). */
const GATHER_MS = 20
/** How many answer bytes are judged in one turn: one large answer, or several short ones. */
const TURN_BYTES = 64 * 1024
/** Bytes counted for each call in addition to its copies. */
const CALL_BYTES = 2 * 1024

/** Judges calls one by one in separate turns of the event loop, so that answers in transit need not wait. */
function createJudge(
  { declared, receipts, log }: Pick<ObserverParts, 'declared' | 'receipts' | 'log'>,
  bounds: typeof OBSERVER_BOUNDS,
  release: (call: PaidCall) => void,
) {
  const waiting: PaidCall[] = []
  const isWithin = createReceiptLimits(bounds)
  let running: Promise<void> | null = null
  const judgeOne = (call: PaidCall, rows: ReadonlyMap<string, DeclaredRow> | null) => {
    try {
      if (rows === null) throw new Error('The declarations could not be read.')
      const row = rows.get(call.digest)
      // The release that declared the operation is gone, or the payment could never be found: no verdict.
      const isLost = call.transaction === null && (call.marks?.authorization ?? null) === null
      if (row === undefined || isLost || (call.isEvicted && !isDecided(call))) return
      const receipt = judgeCall(call, row, call.marks)
      if (call.transaction === null) receipts.wait(receipt, networkOf(call.client))
      else if (isWithin(call)) receipts.add(receipt)
    } catch (error) {
      // No part of an answer may reach the log, and an error's message may quote the answer.
      const name = error instanceof Error ? error.name : 'unknown'
      log.error('receipts.not_judged', { listing: call.listingId, error: name })
    } finally {
      release(call)
    }
  }
  const run = async (): Promise<void> => {
    await new Promise((resolve) => setTimeout(resolve, GATHER_MS))
    const rows = await declared().catch(() => null)
    while (waiting.length > 0) {
      await new Promise((resolve) => setImmediate(resolve))
      for (let left = TURN_BYTES; left > 0; ) {
        const call = waiting.shift()
        if (call === undefined) break
        left -= call.copied + CALL_BYTES
        judgeOne(call, rows)
      }
    }
    running = null
  }
  return {
    judge(call: PaidCall): void {
      waiting.push(call)
      const over = waiting.length > bounds.waiting ? waiting.shift() : undefined
      if (over !== undefined) release(over)
      running ??= run()
    },
    idle: async () => void (await running),
  }
}

/** A call refused by a narrow limit is not counted against a wider limit. */
function createReceiptLimits(bounds: typeof OBSERVER_BOUNDS) {
  const counter = createWindows({ seconds: HOUR_S })
  const used = (key: string) => counter.count(key).used
  return ({ client, listingId }: PaidCall): boolean => {
    const ofClient = used(`client ${networkOf(client)}`)
    if (ofClient > bounds.ofClient) return false
    if (ofClient <= bounds.firstOfClient && used('first') <= bounds.firstInAll) return true
    return used(`listing ${listingId}`) <= bounds.ofListing && used('all') <= bounds.inAll
  }
}

/** A finished call with copies of what was sent: in memory until it is judged. */
export type SeenCall = Pick<
  PaidCall,
  | 'id'
  | 'secret'
  | 'listingId'
  | 'startedAt'
  | 'ms'
  | 'request'
  | 'accepted'
  | 'status'
  | 'encodings'
  | 'transaction'
  | 'answer'
>

/** @param row the called operation's declaration @param marks marks of the request's payment */
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
    // The members are in the order of canonical JSON, so that the receipt need not be sorted.
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

/** JSON usually compresses to a tenth. */
const USUAL_RATIO = 10
const LEAST_PIECE = 16 * 1024
/** Windows of 8 MiB are what HTTP allows (RFC 9659); a frame may ask for gigabytes. */
const ZSTD_PARAMS = { [constants.ZSTD_d_windowLogMax]: 23 }

/** Errors for a body that exceeds our limit when decompressed, or needs a larger window than HTTP allows. */
const UNREAD_CODES = new Set(['ERR_BUFFER_TOO_LARGE', 'ZSTD_error_frameParameter_windowTooLarge'])

type Options = { maxOutputLength: number; chunkSize: number }
type Unpack = (bytes: Buffer, options: Options) => Buffer

const CODINGS = new Map<string, Unpack>([
  ['gzip', gunzipSync],
  ['x-gzip', gunzipSync],
  ['br', brotliDecompressSync],
  ['zstd', (bytes, options) => zstdDecompressSync(bytes, { ...options, params: ZSTD_PARAMS })],
  // Many servers omit the zlib wrapper.
  [
    'deflate',
    (bytes, options) => (isWrapped(bytes) ? inflateSync : inflateRawSync)(bytes, options),
  ],
])

/**
 * A body not compressed as its header claims is judged as received, and a coding that the caller
 * did not accept does not make it an answer: a header must not exempt rubbish from judgement.
 * @param encodings values of `Content-Encoding`
 * @param accepted the request's `Accept-Encoding`, undefined if there is none
 */
function unpackAnswer(
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

/** Without `Accept-Encoding` the seller may choose any common coding. */
function isAccepted(coding: string, accepted: string | undefined): boolean {
  if (accepted === undefined) return CODINGS.has(coding)
  return acceptsEncoding(accepted.replace(/\bx-/gi, ''), coding.replace(/^x-/, ''))
}

/** Decompresses into one buffer of the usual or the largest size, because several buffers would have to be joined. */
function unpackWhole(bytes: Buffer, unpack: Unpack): Buffer {
  const usual = Math.max(LEAST_PIECE, bytes.length * USUAL_RATIO)
  try {
    if (usual < JUDGED_BYTES.unpacked) return unpack(bytes, toOptions(usual))
  } catch (error) {
    if (codeOf(error) !== 'ERR_BUFFER_TOO_LARGE') throw error
  }
  return unpack(bytes, toOptions(JUDGED_BYTES.unpacked))
}

/** A decompression bomb stops at the limit. The spare byte keeps zlib from adding a second buffer to a full one. */
function toOptions(most: number): Options {
  return { maxOutputLength: most, chunkSize: most + 1 }
}

function isWrapped([first = 0, second = 0]: Buffer): boolean {
  return (first & 0x0f) === 8 && (first * 256 + second) % 31 === 0
}
