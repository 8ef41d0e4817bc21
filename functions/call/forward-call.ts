import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  carriesPayment,
  toSellerHeaders,
  valuesOf,
} from '../../src/domain/relay/relayed-headers.ts'
import { type AnswerClock, createAnswerClock } from './answer-clock.ts'
import { createAnswerWriter } from './answer-writer.ts'
import { CallerGoneError } from './call-errors.ts'
import { type MakeCallProblem, toCallProblem } from './call-problem.ts'
import type { GuardOptions } from './guard.ts'
import type { RelayLimits } from './relay-limits.ts'
import { callSeller, type SellerCall, type SellerHead, type SellerListener } from './seller-call.ts'
import { createUpload, hasBody } from './upload.ts'
import { writeResponse } from './write-response.ts'

export interface Forward {
  target: URL
  path: string
  ownOrigin: string
  /** Headers of every answer of ours, raw pairs. */
  transport: readonly string[]
  guard: GuardOptions
  limits: RelayLimits
  refuse: MakeCallProblem
  /** Told of every final head before it is passed on. */
  onHead: (head: SellerHead) => void
}

/**
 * One relayed call, from the caller's request to the end of the seller's answer. Resolves when
 * both are done with; every failure has become an answer or a torn connection by then.
 */
export async function forwardCall(
  req: IncomingMessage,
  res: ServerResponse,
  forward: Forward,
): Promise<void> {
  const isPaid = carriesPayment(req.rawHeaders)
  const { promise: isOver, resolve: finish } = Promise.withResolvers<Response | null>()
  let call: SellerCall | null = null
  const clock = createAnswerClock(forward.limits, isPaid, (error) => call?.abort(error))
  const answer = createAnswer(res, forward, isPaid, () => call, finish)
  const upload = createBody(req, forward.limits, clock)
  call = callSeller(
    {
      target: forward.target,
      method: req.method ?? 'GET',
      path: forward.path,
      headers: toSellerHeaders(req.rawHeaders, forward.ownOrigin),
      body: upload,
    },
    forward.guard,
    forward.limits,
    clock,
    answer.listener,
  )
  res.once('close', () => {
    if (res.writableFinished) return
    // The seller settles whether anyone listens or not: its word on that is read to the end.
    if (isPaid && call?.isSent()) {
      answer.discard()
      // Nobody waits any more: a stream without an end must not keep its place for ever.
      const giveUp = () => call?.abort(new CallerGoneError('the caller hung up'))
      const timer = setTimeout(giveUp, forward.limits.paidResponseHeadersMs)
      void isOver.then(() => clearTimeout(timer))
    } else call?.abort(new CallerGoneError('the caller hung up'))
  })
  const own = await isOver
  if (own !== null) await writeResponse(req, res, own)
}

function createBody(req: IncomingMessage, limits: RelayLimits, clock: AnswerClock) {
  if (!hasBody(req)) return null
  const isCallerSlow = () => !req.complete && !req.isPaused()
  return createUpload(req, limits, () => clock.uploading(isCallerSlow))
}

/**
 * @param finish called once: with our own answer, or with null when the seller's was passed on (or
 *   nobody is left to answer).
 */
function createAnswer(
  res: ServerResponse,
  { target, path, transport, refuse, onHead }: Forward,
  isPaid: boolean,
  call: () => SellerCall | null,
  finish: (own: Response | null) => void,
) {
  const writer = createAnswerWriter(res, isPaid, transport, () => call()?.resume())
  let phase: 'waiting' | 'passing' | 'discarding' | 'redirected' = 'waiting'
  const listener: SellerListener = {
    onHead(head) {
      onHead(head)
      if (phase === 'discarding') return
      if (isRedirect(head.status)) {
        phase = 'redirected'
        finish(toRedirectProblem(head, new URL(path, target), refuse))
      } else {
        // Node's writer may refuse bytes that its parser let through: then nothing was passed yet.
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
