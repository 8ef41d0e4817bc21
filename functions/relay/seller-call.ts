import type { ClientRequest, IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import type { LiveListing } from '../../src/domain/listing/listing-states.ts'
import { type RawHeaders, valuesOf } from '../../src/domain/relay/relayed-headers.ts'
import { dialGuarded, type GuardOptions, requestOver } from '../net/guard.ts'
import { CallAborted, type RelayLimits } from './call-plan.ts'

interface SellerRequest {
  /** The URL that gives scheme, host and port. */
  target: URL
  method: string
  path: string
  headers: string[]
  body: Readable | null
}

export interface SellerHead {
  status: number
  reason: string
  /** Raw pairs, latin1. */
  headers: string[]
}

/** Callbacks for the answer. Exactly one of `onEnd` and `onFail` is called, once. */
export interface SellerListener {
  onHead(head: SellerHead): void
  /** @returns false to stop reading until `resume` */
  onData(chunk: Buffer): boolean
  onEnd(): void
  onFail(error: Error): void
}

/** No limit on header lines: Node would silently drop lines past 2,000. */
const ANY_NUMBER = 0

/**
 * Sends one request on a connection of its own and reports the answer. One connection serves one
 * request: any bytes that a seller sends after its answer reach nobody, and no request has to be
 * sent twice because its connection was closing.
 *
 * This is Node's own client without an agent, on a socket that the guard dialled: its parser is
 * strict, and costs half of undici's for a client that serves one request.
 *
 * Known limit: an answer that ends with the connection (no length, not chunked) and is cut by a FIN
 * looks complete; if cut by a reset, it is reported as a failure.
 */
export class SellerCall {
  #requested: SellerRequest
  #limits: RelayLimits
  #clock: AnswerClock
  #listener: SellerListener
  #hangUp: () => void
  #request: ClientRequest | null = null
  #answer: IncomingMessage | null = null
  #isSent = false
  #isOver = false

  constructor(
    requested: SellerRequest,
    guard: GuardOptions,
    limits: RelayLimits,
    clock: AnswerClock,
    listener: SellerListener,
  ) {
    this.#requested = requested
    this.#limits = limits
    this.#clock = clock
    this.#listener = listener
    // A body may fail while the seller is still being dialled.
    requested.body?.once('error', (error: Error) => this.#fail(error))
    this.#hangUp = dialGuarded(requested.target, guard, (error, socket) => {
      if (error !== null) this.#fail(error)
      else this.#ask(socket)
    })
  }

  /** True once the whole request has been handed to the connection. */
  isSent(): boolean {
    return this.#isSent
  }

  resume(): void {
    if (this.#isOver || this.#answer?.isPaused() !== true) return
    this.#clock.streaming()
    this.#answer.resume()
  }

  abort(error: Error): void {
    this.#fail(error)
  }

  #ask(socket: Socket): void {
    if (this.#isOver) {
      socket.destroy()
      return
    }
    this.#hangUp = () => void socket.destroy()
    const { target, method, path, headers, body } = this.#requested
    try {
      this.#request = requestOver(socket, {
        host: target.hostname,
        method,
        path,
        headers: toWireHeaders({ host: target.host, method, headers, hasBody: body !== null }),
        maxHeaderSize: this.#limits.headerBytes,
      })
    } catch (error) {
      this.#fail(toError(error))
      return
    }
    this.#listen(this.#request)
    if (body === null) {
      this.#request.end()
      this.#sent()
    } else this.#upload(body, this.#request, socket)
  }

  #listen(request: ClientRequest): void {
    request.maxHeadersCount = ANY_NUMBER
    // Interim answers concern one connection, and the timeout for the final answer keeps running;
    // but a 100 or an upgrade would answer a request that was never made.
    request.on('continue', () => this.#fail(new CallAborted('invalid')))
    request.on('upgrade', (_answer, socket) => {
      socket.on('error', () => {})
      this.#fail(new CallAborted('invalid'))
    })
    request.on('response', (answer) => this.#receive(answer))
    request.on('error', (error) => {
      // An error after a complete answer does not matter.
      if (this.#answer?.complete !== true) this.#fail(error)
    })
  }

  #upload(body: Readable, request: ClientRequest, socket: Socket): void {
    socket.setNoDelay(true)
    // `flushHeaders` would write the head as UTF-8.
    request.write('', 'latin1')
    body.on('data', (chunk: Buffer) => {
      if (!request.write(chunk)) body.pause()
    })
    request.on('drain', () => void body.resume())
    body.once('end', () => {
      if (this.#isOver) return
      request.end()
      this.#sent()
    })
  }

  #sent(): void {
    this.#isSent = true
    this.#clock.awaitingHeaders()
  }

  #receive(answer: IncomingMessage): void {
    if (this.#isOver) return
    const { statusCode: status = 0, statusMessage: reason = '', rawHeaders: headers } = answer
    if (!isFinalAnswer(status, headers)) {
      this.#fail(new CallAborted('invalid'))
      return
    }
    this.#answer = answer
    answer.on('error', (error) => this.#fail(error))
    answer.on('data', (chunk: Buffer) => this.#take(answer, chunk))
    answer.on('end', () => this.#end())
    this.#clock.streaming()
    try {
      this.#listener.onHead({ status, reason, headers })
    } catch (error) {
      this.#fail(toError(error))
    }
  }

  #take(answer: IncomingMessage, chunk: Buffer): void {
    if (this.#isOver) return
    const wantsMore = this.#listener.onData(chunk)
    // This is the last chunk, so a short answer is written together with its head.
    if (answer.complete && answer.readableLength === 0) this.#end()
    else if (wantsMore) this.#clock.streaming()
    else {
      answer.pause()
      this.#clock.waitingForCaller()
    }
  }

  #end(): void {
    if (this.#isOver) return
    this.#close()
    this.#listener.onEnd()
  }

  #fail(error: Error): void {
    if (this.#isOver) return
    this.#close()
    this.#listener.onFail(error)
  }

  #close(): void {
    this.#isOver = true
    this.#clock.stop()
    this.#hangUp()
    // If the seller answers early, the rest of the caller's body is discarded.
    this.#requested.body?.destroy()
  }
}

/** Methods for which an empty body is declared by `Content-Length: 0` (RFC 9110 §8.6). */
const SAYS_LENGTH = new Set(['POST', 'PUT', 'PATCH'])

interface WireRequest {
  /** Host, with the port unless it is the scheme's default. */
  host: string
  method: string
  /** Raw pairs that cross the relay: neither `Host` nor anything about the connection is among them. */
  headers: RawHeaders
  hasBody: boolean
}

/**
 * `Host` and framing are ours, everything else is the caller's, in the caller's order. @example […,
 * 'X-A', '1'] of a POST → ['host', 'a.example', 'connection', 'close', 'X-A', '1', …]
 */
function toWireHeaders({ host, method, headers, hasBody }: WireRequest): string[] {
  const wire = ['host', host, 'connection', 'close']
  let length: string | null = null
  for (let index = 0; index + 1 < headers.length; index += 2) {
    const name = headers[index] ?? ''
    const value = headers[index + 1] ?? ''
    if (name.length === 14 && name.toLowerCase() === 'content-length') length = value
    else wire.push(name, value)
  }
  if (!hasBody) {
    if (SAYS_LENGTH.has(method)) wire.push('content-length', '0')
  } else if (length === null) wire.push('transfer-encoding', 'chunked')
  else wire.push('content-length', length)
  return wire
}

/** False also for transfer codings other than chunked: their header would not be passed on with the body. */
function isFinalAnswer(status: number, headers: string[]): boolean {
  if (status < 200 || status > 599) return false
  const codings = valuesOf(headers, 'transfer-encoding')
  return codings.every((coding) => coding.toLowerCase().trim() === 'chunked')
}

function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown))
}

export type AnswerClock = ReturnType<typeof createAnswerClock>

type Phase = 'request' | 'headers' | 'body' | 'caller'

/**
 * One clock for a call, separate from the connection's clock, which restarts with every byte: a
 * stream of 103s would hold a call for ever.
 * @param headersMs time limit for the final answer's headers (milliseconds)
 */
export function createAnswerClock(
  { idleBodyMs }: Pick<RelayLimits, 'idleBodyMs'>,
  headersMs: number,
  onOver: (error: Error) => void,
) {
  let timer: NodeJS.Timeout | undefined
  let phase: Phase | null = null
  const start = (next: Phase, ms: number, isCallerSlow = () => false) => {
    if (phase === next) return void timer?.refresh()
    phase = next
    clearTimeout(timer)
    timer = setTimeout(() => onOver(new CallAborted(isCallerSlow() ? 'stalled' : 'late')), ms)
  }
  const isAnswered = () => phase === 'headers' || phase === 'body' || phase === 'caller'
  return {
    /** The body is on its way to the seller; called again with each chunk. */
    uploading(isCallerSlow: () => boolean): void {
      if (!isAnswered()) start('request', idleBodyMs, isCallerSlow)
    },
    /** Everything was sent; the final headers are due. Later calls have no effect. */
    awaitingHeaders(): void {
      if (!isAnswered()) start('headers', headersMs)
    },
    /** The answer's body is arriving; called again with each chunk. */
    streaming: () => start('body', idleBodyMs),
    /** The caller reads no more for now: this time is not held against the seller, until data flows again. */
    waitingForCaller(): void {
      phase = 'caller'
      clearTimeout(timer)
    },
    stop: () => clearTimeout(timer),
  }
}

/** Observes paid calls; it delays nothing and changes nothing. */
export interface CallObserver {
  /** @returns null for a call that is not observed */
  observe(
    req: IncomingMessage,
    call: { listing: LiveListing; path: string; client: string },
  ): ObservedCall | null
}

export interface ObservedCall {
  /** Headers added to the answer, as raw pairs. */
  readonly headers: readonly string[]
  /** The transaction named in the answer's head; null before the head came. */
  readonly transaction: string | null
  onRequestBody(chunk: Buffer): void
  onHead(head: SellerHead): void
  onData(chunk: Buffer): void
  onEnd(): void
  /** @param isSent whether the whole request was handed to the connection */
  onFail(error: Error, isSent: boolean): void
}

/** @returns a listener that also notifies the observer, if there is one */
export function observed(
  call: ObservedCall | null,
  inner: SellerListener,
  isSent: () => boolean,
): SellerListener {
  if (call === null) return inner
  return {
    onHead(head) {
      call.onHead(head)
      inner.onHead(head)
    },
    onData(chunk) {
      call.onData(chunk)
      return inner.onData(chunk)
    },
    onEnd() {
      inner.onEnd()
      call.onEnd()
    },
    onFail(error) {
      // Read first, because passing the failure on may end the call.
      const wasSent = isSent()
      inner.onFail(error)
      call.onFail(error, wasSent)
    },
  }
}
