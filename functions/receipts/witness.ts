import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { LiveListing } from '../../src/domain/listing/live-listing.ts'
import { isAtAddress } from '../../src/domain/operation/is-at-address.ts'
import { JUDGED_BYTES } from '../../src/domain/receipts/judge-delivery.ts'
import { toPaymentMarks } from '../../src/domain/receipts/payment-mark.ts'
import {
  RECEIPT_HEADER,
  RECEIPT_SECRET_HEADER,
  WITNESS_HEADER,
} from '../../src/domain/receipts/receipt-headers.ts'
import { decodePayments } from '../../src/domain/relay/payment-decodes.ts'
import { carriesPayment, valuesOf } from '../../src/domain/relay/relayed-headers.ts'
import { readSettledTransaction } from '../../src/domain/settlement/settled-transaction.ts'
import { receiptPath } from '../../src/domain/wire/links.ts'
import { CallAborted } from '../call/call-problem.ts'
import type { Watch, Witness } from '../call/call-watch.ts'
import type { SellerHead, SellerListener } from '../call/seller-call.ts'
import { networkOf } from '../limits/client-key.ts'
import { createWindows } from '../limits/counter.ts'
import type { Clock } from '../ports/clock.ts'
import type { Config } from '../ports/config.ts'
import type { JudgeCall, SeenCall } from './judge-calls.ts'
import { toReceiptId } from './log/receipt-pages.ts'

/**
 * Observes paid calls: copies the answer up to a limit, and has it judged after it was sent.
 *
 * Security model: the copy is in memory until it is judged and nowhere else; a seller's words reach
 * neither a receipt nor a log. How many calls are observed, how much of each, and how many receipts
 * a client or a listing makes an hour are limited, and beyond each limit the call passes like any
 * other. A caller that leaves or stops is not the seller's fault: then it gets no verdict.
 */
interface WitnessParts {
  config: Pick<Config, 'BASE_URL' | 'WITNESS'>
  clock: Clock
  judge: JudgeCall
  bounds?: typeof WITNESS_LIMITS
}

export const WITNESS_LIMITS = {
  /**
   * A client's first receipts of an hour do not count against the listing's limit. Otherwise a
   * seller could use up its own and then refuse buyers without a trace. Filling `firstInAll` takes
   * a thousand networks.
   */
  firstOfClient: 20,
  firstInAll: 20_000,
  /** Calls whose answers are copied at once: 16 MiB in all. */
  atOnce: 64,
  /** Bytes of a request kept to know what was asked. */
  requestBytes: 64 * 1024,
  /** Receipts an hour: a client that writes payment headers at random must not fill the log. */
  receiptsOfClient: 600,
  receiptsOfListing: 5_000,
  receiptsInAll: 20_000,
  /** For answers that name no transaction: anybody can get those for free. */
  unsettledOfClient: 120,
  unsettledOfListing: 500,
  unsettledInAll: 2_000,
}

const HOUR_S = 3_600

export function createWitness({
  config,
  clock,
  judge,
  bounds = WITNESS_LIMITS,
}: WitnessParts): Witness {
  const counter = createWindows({ seconds: HOUR_S })
  const draw = createDraws()
  let copying = 0
  // A call beyond a narrow limit uses up nothing of a wider one.
  const isWithin = (kind: 'receipts' | 'unsettled', client: string, listing: string) => {
    const { used } = counter.count(`${kind} of client ${networkOf(client)}`)
    if (used > bounds[`${kind}OfClient`]) return false
    if (used <= bounds.firstOfClient && counter.count(`first ${kind}`).used <= bounds.firstInAll)
      return true
    return (
      counter.count(`${kind} of listing ${listing}`).used <= bounds[`${kind}OfListing`] &&
      counter.count(kind).used <= bounds[`${kind}InAll`]
    )
  }
  return {
    watch(req, { listing, path, client }) {
      const declared = config.WITNESS ? findDeclared(req, listing, path) : null
      const payments = declared === null ? [] : decodePayments(req.rawHeaders)
      if (declared === null || payments.length === 0) return null
      const copies = copying < bounds.atOnce
      if (copies) copying += 1
      const call = createSeenCall(req, {
        ...{ listing, path, declared, now: clock.now(), draw },
        marks: toPaymentMarks(payments),
      })
      const done = (isSeen: boolean) => {
        if (copies) copying -= 1
        if (!isSeen) return
        // The narrower limit first: a call without a receipt uses up none.
        if (call.transaction === null && !isWithin('unsettled', client, listing.id)) return
        if (!isWithin('receipts', client, listing.id)) return
        call.ms = Math.max(0, Math.round(clock.now() - call.startedAt))
        judge(call)
      }
      return createWatch(call, {
        copies,
        baseUrl: config.BASE_URL,
        requestBytes: bounds.requestBytes,
        done,
      })
    },
  }
}

/** The operation that a call buys; null for a call that is not observed. */
function findDeclared(req: IncomingMessage, { declared }: LiveListing, path: string) {
  if (declared === undefined || !carriesPayment(req.rawHeaders)) return null
  const found = declared.find(({ method, url }) => method === req.method && isAtAddress(url, path))
  const isOff = valuesOf(req.rawHeaders, WITNESS_HEADER).some((value) => /^\s*off\s*$/i.test(value))
  return found === undefined || isOff || asksForOther(req) ? null : found
}

/** Ranges, conditions and specific `Accept` types lead to answers that nobody declared. */
function asksForOther({ headers }: IncomingMessage): boolean {
  const { accept } = headers
  const isNarrow = accept !== undefined && !/\*\/\*|\/\*|json/.test(accept)
  return isNarrow || ['range', 'if-none-match', 'if-modified-since'].some((name) => name in headers)
}

function createSeenCall(
  req: IncomingMessage,
  given: Pick<SeenCall, 'declared' | 'marks'> & {
    listing: LiveListing
    path: string
    now: number
    draw: (bytes: number) => Buffer
  },
): SeenCall {
  return {
    id: toReceiptId(given.now, given.draw(ID_BYTES)),
    secret: given.draw(SECRET_BYTES),
    listingId: given.listing.id,
    declared: given.declared,
    marks: given.marks,
    startedAt: given.now,
    request: { method: req.method ?? '', path: given.path, body: [], isComplete: true },
    status: null,
    contentType: '',
    encodings: [],
    accepted: req.headers['accept-encoding']?.toString(),
    transaction: null,
    answer: { chunks: [], size: 0, end: 'whole' },
    ms: 0,
  }
}

const ID_BYTES = 16
const SECRET_BYTES = 32
const DRAWN_BYTES = 4096

/** Random bytes, drawn a page at a time: a few take the system just as long. */
function createDraws(): (bytes: number) => Buffer {
  let drawn = Buffer.alloc(0)
  let used = 0
  return (bytes) => {
    if (used + bytes > drawn.length) [drawn, used] = [randomBytes(DRAWN_BYTES), 0]
    used += bytes
    return drawn.subarray(used - bytes, used)
  }
}

interface WatchOptions {
  copies: boolean
  baseUrl: string
  requestBytes: number
  done: (isSeen: boolean) => void
}

function createWatch(call: SeenCall, { copies, baseUrl, requestBytes, done }: WatchOptions): Watch {
  let requestSize = 0
  const { answer, request } = call
  if (!copies) answer.end = 'unread'
  const onHead = ({ status, headers }: SellerHead) => {
    call.status = status
    call.contentType = valuesOf(headers, 'content-type')[0] ?? ''
    call.encodings = valuesOf(headers, 'content-encoding')
    call.transaction = readSettledTransaction(headers)
  }
  const onData = (chunk: Buffer) => {
    answer.size += chunk.length
    if (answer.end === 'unread') return
    if (answer.size > JUDGED_BYTES.packed) {
      answer.chunks = []
      answer.end = 'unread'
      // A copy: the writer frees its chunks.
    } else answer.chunks.push(Buffer.from(chunk))
  }
  return {
    headers: [
      RECEIPT_HEADER,
      `${baseUrl}${receiptPath(call.id)}`,
      RECEIPT_SECRET_HEADER,
      call.secret.toString('base64url'),
    ],
    onRequestBody(chunk) {
      requestSize += chunk.length
      if (requestSize <= requestBytes) request.body.push(Buffer.from(chunk))
      else {
        request.body = []
        request.isComplete = false
      }
    },
    listen(inner: SellerListener, isSent) {
      return {
        onHead(head) {
          onHead(head)
          inner.onHead(head)
        },
        onData(chunk) {
          onData(chunk)
          return inner.onData(chunk)
        },
        onEnd() {
          inner.onEnd()
          done(true)
        },
        onFail(error) {
          if (answer.end === 'whole') answer.end = 'cut'
          const isSellers = isSent() && isFaultOfSeller(error)
          inner.onFail(error)
          done(isSellers || isDecided(call))
        },
      }
    },
  }
}

/** The connection was cut or timed out; not that the caller left, stopped or was evicted. */
function isFaultOfSeller(error: Error): boolean {
  return !(error instanceof CallAborted) || error.why === 'late' || error.why === 'invalid'
}

/** By its status alone, whatever happened to the rest. */
function isDecided({ status }: SeenCall): boolean {
  return status !== null && (status < 200 || status > 299)
}
