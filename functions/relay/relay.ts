import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { decodePayments, readSettledTransaction } from '../../src/domain/relay/delivered.ts'
import { MAX_TERMS_BYTES } from '../../src/domain/relay/payments.ts'
import { type Expectation, judgeTerms } from '../../src/domain/relay/pins.ts'
import {
  carriesPayment,
  PROXY_NAME,
  toCallerHeaders,
  toSellerHeaders,
  valuesOf,
} from '../../src/domain/relay/relayed-headers.ts'
import { CALL_PREFIX } from '../../src/domain/wire/links.ts'
import { toTransportHeaders } from '../../src/domain/wire/published-files.ts'
import type { Feature, Hints, Parts, Usage } from '../features/feature.ts'
import { createOwnAddress, type GuardOptions, toGuard } from '../net/guard.ts'
import { decodeBody } from '../net/http-client.ts'
import { currentRequestId } from '../ports/log.ts'
import type { Release } from '../release/release.ts'
import { type Budget, createBudget } from '../server/budget.ts'
import { isMalformed, MALFORMED_BODY } from '../server/connections.ts'
import { hasBody, sendResponse } from '../server/node-answers.ts'
import { nodeClientOf, refusalOf } from '../server/rate-limits.ts'
import {
  CallAborted,
  type CallPlan,
  createCallProblems,
  createInFlight,
  type MakeCallProblem,
  planCall,
  RELAY_LIMITS,
  type RelayLimits,
  type Slot,
  toCallProblem,
  toChanged,
} from './call-plan.ts'
import {
  type AnswerClock,
  type CallObserver,
  createAnswerClock,
  type ObservedCall,
  observed,
  SellerCall,
  type SellerHead,
  type SellerListener,
} from './seller-call.ts'

/** `ALL /api/v1/call/<id>`, mounted on Node's server itself: raw headers in, raw headers out. */
export type Relay = (req: IncomingMessage, res: ServerResponse) => Promise<void>

/** The relay as a feature, with the paths that it answers. */
export function toRelayFeature(relay: Relay): Feature {
  return { paths: [{ path: CALL_PREFIX, isBare: true, answer: relay }] }
}

/** The relay knows only a release's listings, and only the ledger's counters. */
export type RelayParts = Omit<Parts, 'release' | 'ledger' | 'publishedAt'> & {
  release: () => Pick<Release, 'gone' | 'listings'>
  ledger: { usage: Pick<Usage, 'called'>; hints: Hints }
}

/** Called when a call ends: `seller_402`, `seller_2xx` … `seller_5xx`, or our problem's code. */
type OnOutcome = (outcome: string) => void

/** Bytes per read of a seller's answer: a caller that reads nothing keeps two such reads in memory. */
const READ_BYTES = 64 * 1024

/**
 * The non-custodial pass-through (spec: Endpoints). It adds no payment, keeps no payment, and reads
 * only the settlement header. Never rejects.
 *
 * Security model: a listing in the release says where a call goes; the guard decides, before a
 * connection opens, whether that address may be reached. Two payment headers, or a payment header
 * named in `Connection`, are refused: two readers could see two payments. A client and its network
 * have limits on calls, bytes and time.
 *
 * Known limitations: TLS ends here on both sides, so the operator of a directory could read what
 * passes. The seller sees our address, not the caller's. A call that breaks after its payment was
 * sent may have settled, and the relay cannot undo the payment.
 */
export function createRelay(
  parts: RelayParts,
  limits: RelayLimits = RELAY_LIMITS,
  onOutcome: OnOutcome = () => {},
  observer: CallObserver = NO_OBSERVER,
): Relay {
  const { config, log, clock, ledger, limits: rates } = parts
  const make = createCallProblems(parts.problem, config.BASE_URL)
  const refuse: MakeCallProblem = (problem, extra) => {
    onOutcome(problem.code)
    return make(problem, extra)
  }
  const own = new URL(config.BASE_URL)
  const inFlight = createInFlight(limits.inFlight)
  const guard = {
    ...toGuard('relay', parts),
    connectTimeoutMs: limits.connectMs,
    readInto: Buffer.allocUnsafeSlow(READ_BYTES),
  }
  const everyCall = {
    drains: createBudget(limits.draining, 'replace'),
    ownOrigin: config.BASE_URL,
    transport: Object.entries(toTransportHeaders(config.BASE_URL)).flat(),
    limits,
    refuse,
  }
  /** The call's slot; a response if no slot is free, null if the caller has left. */
  const admit = async (req: IncomingMessage, res: ServerResponse, listingId: string) => {
    const client = nodeClientOf(req, config)
    const limited = refusalOf(await rates.take('call', client), parts.problem)
    if (limited !== null) {
      onOutcome('rate-limited')
      limited.headers.set('Proxy-Status', `${PROXY_NAME}; error=http_request_denied`)
      return limited
    }
    // The caller may have left while the call was being counted, and no later event would report that.
    if (res.destroyed || isMalformed(req)) return null
    const slot = inFlight.enter(listingId, client)
    return typeof slot === 'string' ? toBusy(refuse, slot) : { client, slot }
  }
  /** Forwards the call and counts it: limits are judged before anything is sent, never after. */
  const enter = async (req: IncomingMessage, res: ServerResponse, plan: CallPlan) => {
    const { listing, target, path, expectation } = plan
    const admitted = await admit(req, res, listing.id)
    if (admitted === null) return
    if (admitted instanceof Response) return sendResponse(req, res, admitted)
    const startedAt = clock.now()
    let status = 0
    const isOwnAddress = createOwnAddress(config.HOST, req.socket)
    try {
      const paid = observer.observe(req, { listing, path, client: admitted.client })
      const onHead = (head: SellerHead) => {
        // Only a call that the seller answered is counted for the listing.
        ledger.usage.called(listing.id)
        status = head.status
        onOutcome(toOutcome(status))
        const transaction = paid === null ? readSettledTransaction(head.headers) : paid.transaction
        if (transaction !== null) ledger.hints.note(listing, admitted.client, transaction)
      }
      const call = { ...everyCall, ...admitted, target, path, expectation, onHead, observed: paid }
      await forwardCall(req, res, { ...call, guard: { ...guard, isOwnAddress } })
    } finally {
      admitted.slot.leave()
      const took = clock.now() - startedAt
      log.info('relayed', { listing: listing.id, method: req.method ?? '', status, ms: took })
    }
  }
  return async function relay(req, res) {
    try {
      const plan = planCall(req, { release: parts.release(), config, own, limits, refuse })
      if (plan instanceof Response) await sendResponse(req, res, plan)
      else await enter(req, res, plan)
    } catch (error) {
      const id = currentRequestId() ?? crypto.randomUUID()
      log.error('relay-failed', { id, error: error instanceof Error ? error.name : 'unknown' })
      if (res.headersSent) res.destroy()
      else await sendResponse(req, res, toInternal(refuse, id))
    }
  }
}

function toOutcome(status: number): string {
  return status === 402 ? 'seller_402' : `seller_${Math.floor(status / 100)}xx`
}

function toBusy(refuse: MakeCallProblem, limit: string): Response {
  return refuse({
    code: 'relay-busy',
    error: 'connection_limit_reached',
    detail: `Too many calls are in flight for this ${limit}. Nothing was sent.`,
  })
}

function toInternal(refuse: MakeCallProblem, id: string): Response {
  const detail = 'Something broke on our side; the log has the error under this id.'
  return refuse({ code: 'internal', error: 'proxy_internal_error', detail }, { extra: { id } })
}

const NO_OBSERVER: CallObserver = { observe: () => null }

interface Forward {
  /** The client to which the limits apply, and its slot among the calls in flight. */
  client: string
  slot: Slot
  /** Slots for reading paid answers to the end after the caller has left. */
  drains: Budget
  target: URL
  path: string
  /** A 402 that differs from what the caller expects is not passed on. */
  expectation: Expectation | null
  ownOrigin: string
  /** Headers of every answer that we write ourselves, as raw pairs. */
  transport: readonly string[]
  guard: GuardOptions
  limits: RelayLimits
  refuse: MakeCallProblem
  /** Null for a call that is not observed, as most are not. */
  observed: ObservedCall | null
  /** Called with every final head before it is passed on. */
  onHead: (head: SellerHead) => void
}

/**
 * One relayed call, from the caller's request to the end of the seller's answer. Resolves when request
 * and answer have ended; by then every failure has become an answer or a reset connection.
 */
async function forwardCall(
  req: IncomingMessage,
  res: ServerResponse,
  forward: Forward,
): Promise<void> {
  const { limits, observed: paid } = forward
  const isPaid = carriesPayment(req.rawHeaders)
  // Only a call whose payment can be decoded is observed.
  const isCredible = paid !== null || (isPaid && decodePayments(req.rawHeaders).length > 0)
  const patienceMs = isCredible ? limits.paidResponseHeadersMs : limits.responseHeadersMs
  const { promise: isOver, resolve: finish } = Promise.withResolvers<Response | null>()
  let call: SellerCall | null = null
  const clock = createAnswerClock(limits, patienceMs, (error) => call?.abort(error))
  const answer = createAnswer(res, forward, isPaid, () => call, finish)
  const upload = createBody(req, limits, clock, paid)
  const listener = holdTerms(answer.listener, forward, () => call, finish)
  call = new SellerCall(
    {
      target: forward.target,
      method: req.method ?? 'GET',
      path: forward.path,
      headers: toSellerHeaders(req.rawHeaders, forward.ownOrigin),
      body: upload,
    },
    forward.guard,
    limits,
    clock,
    observed(paid, listener, () => call?.isSent() === true),
  )
  const drain = createDrain(forward, call, patienceMs, isOver)
  const abort = (error: Error, answerFirst: () => void) => {
    if (!isPaid || !call.isSent()) return call.abort(error)
    answerFirst()
    answer.discard()
    drain(error)
  }
  forward.slot.evict = () => {
    const error = new CallAborted('gave_way')
    if (!answer.isWaiting()) call.abort(error)
    else abort(error, () => void sendResponse(req, res, forward.refuse(toCallProblem(error))))
  }
  res.once('close', () => {
    forward.slot.leave()
    if (!res.writableFinished) abort(new CallAborted('caller_gone'), () => {})
  })
  const own = await isOver
  if (own === null) return
  if (paid !== null) addHeaders(own.headers, paid.headers)
  await sendResponse(req, res, own)
}

function addHeaders(headers: Headers, pairs: readonly string[]): void {
  for (let at = 0; at + 1 < pairs.length; at += 2) headers.set(pairs[at] ?? '', pairs[at + 1] ?? '')
}

/**
 * The seller settles even if nobody listens, so its answer is read to the end, in one of the few
 * slots reserved for callers that left.
 */
function createDrain(
  { drains, client }: Forward,
  call: SellerCall,
  longestMs: number,
  isOver: Promise<unknown>,
) {
  let isDraining = false
  return (error: Error) => {
    if (isDraining) return
    isDraining = true
    const end = () => call.abort(error)
    const held = drains.take(client, { evict: end })
    if (typeof held === 'string') return end()
    // An endless stream must not be read for ever.
    const timer = setTimeout(end, longestMs)
    void isOver.then(() => {
      clearTimeout(timer)
      held.release()
    })
  }
}

function createBody(
  req: IncomingMessage,
  limits: RelayLimits,
  clock: AnswerClock,
  call: ObservedCall | null,
) {
  if (!hasBody(req)) return null
  const isCallerSlow = () => !req.complete && !req.isPaused()
  return createUpload(req, limits, (chunk) => {
    clock.uploading(isCallerSlow)
    call?.onRequestBody(chunk)
  })
}

/**
 * @param finish called once: with our own answer, or with null when the seller's answer was passed
 *   on (or the caller has left)
 */
function createAnswer(
  res: ServerResponse,
  { target, path, transport, observed: paid, refuse, onHead }: Forward,
  isPaid: boolean,
  call: () => SellerCall | null,
  finish: (own: Response | null) => void,
) {
  const sent = paid === null ? transport : [...transport, ...paid.headers]
  const writer = createAnswerWriter(res, isPaid, sent, () => call()?.resume())
  let phase: 'waiting' | 'passing' | 'discarding' = 'waiting'
  const listener: SellerListener = {
    onHead(head) {
      onHead(head)
      if (phase === 'discarding') return
      if (isRedirect(head.status)) {
        phase = 'discarding'
        finish(toRedirectProblem(head, new URL(path, target), refuse))
        // The head contains all we need, and the body may never end.
        call()?.abort(new CallAborted('invalid'))
      } else {
        // Node's writer may throw on bytes that Node's parser let through: then nothing has been passed on.
        writer.head(head)
        phase = 'passing'
      }
    },
    onData: (chunk) => (phase === 'passing' ? writer.data(chunk) : true),
    onEnd() {
      if (phase === 'passing') writer.end()
      finish(null)
    },
    onFail(error) {
      if (phase === 'passing') writer.tear()
      finish(phase === 'waiting' && !res.destroyed ? refuse(toCallProblem(error)) : null)
    },
  }
  return {
    listener,
    isWaiting: () => phase === 'waiting',
    discard() {
      phase = 'discarding'
      call()?.resume()
    },
  }
}

/** 304 is not a redirect: it answers the caller's own condition. */
function isRedirect(status: number): boolean {
  return status >= 300 && status < 400 && status !== 304
}

/**
 * A redirect is neither followed nor passed on: x402 clients would follow it and hand the payment header
 * to another host. A settlement reported with the redirect still reaches the payer.
 */
function toRedirectProblem(head: SellerHead, target: URL, refuse: MakeCallProblem): Response {
  const [location] = valuesOf(head.headers, 'location')
  const absolute = location === undefined ? null : URL.parse(location, target)
  const receipts = ['PAYMENT-RESPONSE', 'X-PAYMENT-RESPONSE', 'Payment-Receipt'].flatMap((name) => {
    const [value] = valuesOf(head.headers, name.toLowerCase())
    return value !== undefined && /^[\x21-\x7e]+$/.test(value) ? [[name, value]] : []
  })
  return refuse(
    {
      code: 'seller-redirected',
      error: `http_protocol_error; received-status=${head.status}`,
      detail:
        'The seller answered with a redirect, which is not followed: a payment header must not reach another host. `location` says where it pointed.',
    },
    {
      headers: Object.fromEntries(receipts),
      extra: { location: absolute?.href ?? location ?? null, seller_status: head.status },
    },
  )
}

/**
 * If the caller states what it expects, a 402 is read whole, decompressed as the caller would
 * decompress it, and judged before any of it is passed on.
 */
function holdTerms(
  inner: SellerListener,
  { expectation, refuse }: { expectation: Expectation | null; refuse: MakeCallProblem },
  call: () => SellerCall | null,
  finish: (own: Response) => void,
): SellerListener {
  if (expectation === null) return inner
  let held: { head: SellerHead; chunks: Buffer[]; size: number } | null = null
  return {
    onHead(head) {
      if (head.status === 402) held = { head, chunks: [], size: 0 }
      else inner.onHead(head)
    },
    onData(chunk) {
      if (held === null) return inner.onData(chunk)
      held.chunks.push(chunk)
      held.size += chunk.length
      if (held.size > MAX_TERMS_BYTES) call()?.abort(new CallAborted('long_terms'))
      return true
    },
    onEnd() {
      if (held === null) return inner.onEnd()
      const { head, chunks } = held
      const bytes = Buffer.concat(chunks)
      const coding = valuesOf(head.headers, 'content-encoding').join(',').toLowerCase()
      void decodeBody(bytes, coding, null, MAX_TERMS_BYTES).then(({ body, cut }) => {
        if (cut === 'size') return finish(refuse(toCallProblem(new CallAborted('long_terms'))))
        const changed = judgeTerms(head.headers, body, expectation)
        if (changed.length > 0) return finish(toChanged(changed, refuse))
        inner.onHead(head)
        inner.onData(bytes)
        inner.onEnd()
      })
    },
    onFail: inner.onFail,
  }
}

/**
 * Writes a seller's answer to the caller: head as latin1 bytes, body as it comes, with
 * back-pressure. If the answer is incomplete, the caller's connection is reset, never ended: under
 * chunked framing a clean end would make half an answer look whole.
 * @param isPaid true if the request carried a payment
 * @param transport headers of every answer that we write ourselves, as raw pairs
 * @param onDrain called when a caller that could take no more bytes can take more again
 */
export function createAnswerWriter(
  res: ServerResponse,
  isPaid: boolean,
  transport: readonly string[],
  onDrain: () => void,
) {
  let isHeadSent = false
  // `flushHeaders` would write the head as UTF-8 and turn the byte E9 into C3 A9; an empty latin1 write
  // keeps the byte.
  const sendHead = () => {
    if (isHeadSent || res.destroyed) return
    isHeadSent = true
    res.write('', 'latin1')
  }
  const reportedWhenDrained = (isTaken: boolean) => {
    if (!isTaken) res.once('drain', onDrain)
    return isTaken
  }
  return {
    head({ status, reason, headers }: SellerHead): void {
      const relayed = toCallerHeaders(headers, { status, isPaid })
      res.writeHead(status, toReasonPhrase(reason), [...relayed, ...transport])
      // The head and the first bytes of the body usually arrive together and should leave together: bytes
      // that have already arrived are passed on within this tick.
      process.nextTick(sendHead)
    },
    /**
     * The writer owns the chunk from here on: once written, its memory is freed.
     * @returns false if the caller cannot take more until the response drains
     */
    data(chunk: Buffer): boolean {
      // A short body is written as text together with the head; a buffer would be a separate write.
      const isShort = !isHeadSent && chunk.length <= SHORT_BODY
      isHeadSent = true
      if (isShort) {
        const isTaken = res.write(chunk.toString('latin1'), 'latin1')
        // Node would hold this text until the end of the tick and then send it with an empty chunk.
        res.socket?.uncork()
        return reportedWhenDrained(isTaken)
      }
      const isTaken = isGivenBack(res, chunk)
        ? res.write(chunk, (error) => {
            if (error == null) giveBack(chunk)
          })
        : res.write(chunk)
      return reportedWhenDrained(isTaken)
    },
    end(): void {
      isHeadSent = true
      res.end()
    },
    tear: () => void res.destroy(),
  }
}

/** How many bytes of a body are copied, so that they leave together with the head. */
const SHORT_BODY = 4 * 1024

/** Below this size a chunk is cheaper to keep than to free (bytes). */
const LARGE_CHUNK = 16 * 1024

/** False if the chunk is a slice of a larger buffer, or if a response without a connection may keep it. */
function isGivenBack({ socket }: ServerResponse, chunk: Buffer): boolean {
  return (
    chunk.length >= LARGE_CHUNK &&
    chunk.length === chunk.buffer.byteLength &&
    socket !== null &&
    'connecting' in socket
  )
}

/**
 * Frees a chunk that was handed to the system. Without this the garbage collector would wait for
 * 60 MiB of chunks, nearly all the memory that a hundred streams took.
 */
function giveBack({ buffer }: Buffer): void {
  if (buffer instanceof ArrayBuffer) buffer.transfer(0)
}

/** Node's parser accepts bytes in a reason phrase that its own writer refuses. */
function toReasonPhrase(reason: string): string {
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(reason) ? reason : ''
}

/**
 * The caller's body as a separate stream. It is destroyed if the seller answers before the whole
 * body was sent (as with most 402s); destroying the caller's request would cut the connection that
 * the answer needs. Bytes that still arrive are read and discarded.
 * @param onProgress called with every chunk, for the idle clock and the observer
 */
function createUpload(
  req: IncomingMessage,
  { requestBodyBytes: maxBytes, upload: pace }: Pick<RelayLimits, 'requestBodyBytes' | 'upload'>,
  onProgress: (chunk: Buffer) => void,
): Readable {
  let received = 0
  let isOver = false
  req.pause()
  const upload = new Readable({
    read: () => void req.resume(),
    destroy: (error, callback) => {
      isOver = true
      req.resume()
      callback(error)
    },
  })
  req.on('data', (chunk: Buffer) => {
    received += chunk.length
    if (isOver) {
      if (received > 2 * maxBytes) req.destroy()
      return
    }
    if (received > maxBytes) upload.destroy(new CallAborted('too_large'))
    else if (!upload.push(chunk)) req.pause()
    onProgress(chunk)
  })
  const stopWatching = watchPace(
    req,
    pace,
    () => received,
    () => {
      if (!isOver) upload.destroy(new CallAborted('stalled'))
    },
  )
  req.once('end', () => {
    stopWatching()
    if (!isOver) upload.push(null)
  })
  req.once(MALFORMED_BODY, () => upload.destroy(new CallAborted('caller_gone')))
  req.once('close', () => {
    stopWatching()
    if (!req.complete) upload.destroy(new CallAborted('caller_gone'))
  })
  return upload
}

/**
 * An average pace is required because a byte now and then would satisfy every idle clock and keep
 * the call's slot. The time in which the seller takes no more bytes is not held against the caller.
 * @returns a function that ends the watch
 */
function watchPace(
  req: IncomingMessage,
  { graceMs, minBytesPerSecond, maxMs }: RelayLimits['upload'],
  received: () => number,
  onTooSlow: () => void,
): () => void {
  const everyMs = Math.min(1000, graceMs / 4)
  let allMs = 0
  let waitedMs = 0
  const timer = setInterval(() => {
    allMs += everyMs
    if (!req.isPaused()) waitedMs += everyMs
    const allowedMs = graceMs + (received() / minBytesPerSecond) * 1000
    if (waitedMs > allowedMs || allMs > maxMs) onTooSlow()
  }, everyMs)
  return () => clearInterval(timer)
}
