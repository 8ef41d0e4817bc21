import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Expectation } from '../../src/domain/pins/offer.ts'
import { decodePayments } from '../../src/domain/relay/payment-decodes.ts'
import { carriesPayment, valuesOf } from '../../src/domain/relay/relayed-headers.ts'
import { toSellerHeaders } from '../../src/domain/relay/seller-headers.ts'
import type { GuardOptions } from '../net/guard.ts'
import type { Budget } from '../server/budget.ts'
import { sendResponse } from '../server/node-answers.ts'
import { type AnswerClock, createAnswerClock } from './answer-clock.ts'
import { createAnswerWriter } from './answer-writer.ts'
import { type ObservedCall, observed } from './call-observer.ts'
import { CallAborted, type MakeCallProblem, toCallProblem } from './call-problem.ts'
import { holdTerms } from './hold-terms.ts'
import type { RelayLimits, Slot } from './relay-limits.ts'
import { callSeller, type SellerCall, type SellerHead, type SellerListener } from './seller-call.ts'
import { createUpload, hasBody } from './upload.ts'

export interface Forward {
  /** The client that limits count, and its slot among the calls in flight. */
  client: string
  slot: Slot
  /** Slots for reading on answers to payments whose callers left. */
  drains: Budget
  target: URL
  path: string
  /** A 402 that differs from what the caller expects is not passed on. */
  expectation: Expectation | null
  ownOrigin: string
  /** Headers of every answer of ours, raw pairs. */
  transport: readonly string[]
  guard: GuardOptions
  limits: RelayLimits
  refuse: MakeCallProblem
  /** Null for most calls. */
  observed: ObservedCall | null
  /** Called with every final head before it is passed on. */
  onHead: (head: SellerHead) => void
}

/**
 * One relayed call, from the caller's request to the end of the seller's answer. Resolves when both
 * are done with; every failure has become an answer or a reset connection by then.
 */
export async function forwardCall(
  req: IncomingMessage,
  res: ServerResponse,
  forward: Forward,
): Promise<void> {
  const { limits, observed: paid } = forward
  const isPaid = carriesPayment(req.rawHeaders)
  // Only a call whose payment decodes is observed.
  const isCredible = paid !== null || (isPaid && decodePayments(req.rawHeaders).length > 0)
  const patienceMs = isCredible ? limits.paidResponseHeadersMs : limits.responseHeadersMs
  const { promise: isOver, resolve: finish } = Promise.withResolvers<Response | null>()
  let call: SellerCall | null = null
  const clock = createAnswerClock(limits, patienceMs, (error) => call?.abort(error))
  const answer = createAnswer(res, forward, isPaid, () => call, finish)
  const upload = createBody(req, limits, clock, paid)
  const listener = holdTerms(answer.listener, forward, () => call, finish)
  call = callSeller(
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
  const letGo = (error: Error, answerFirst: () => void) => {
    if (!isPaid || !call.isSent()) return call.abort(error)
    answerFirst()
    answer.discard()
    drain(error)
  }
  forward.slot.giveWay = () => {
    const error = new CallAborted('gave_way')
    if (!answer.isWaiting()) call.abort(error)
    else letGo(error, () => void sendResponse(req, res, forward.refuse(toCallProblem(error))))
  }
  res.once('close', () => {
    forward.slot.leave()
    if (!res.writableFinished) letGo(new CallAborted('caller_gone'), () => {})
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
 * The seller settles whether anyone listens or not: its answer is read to the end, in one of the
 * few slots for callers that left.
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
    const held = drains.take(client, { giveWay: end })
    if (typeof held === 'string') return end()
    // A stream without an end must not be read for ever.
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
 * @param finish called once: with our own answer, or with null when the seller's was passed on (or
 *   nobody is left to answer).
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
        // The head says all we need; the body may have no end.
        call()?.abort(new CallAborted('invalid'))
      } else {
        // Node's writer may refuse bytes that its parser let through: nothing was passed on.
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

/** 304 answers the caller's own condition and points nowhere. */
function isRedirect(status: number): boolean {
  return status >= 300 && status < 400 && status !== 304
}

/**
 * Neither followed nor passed on: x402 clients would follow it and hand the payment header to
 * another host. A settlement reported beside the redirect still reaches the payer.
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
