import type { Readable } from 'node:stream'
import { type buildConnector, Client, type Dispatcher } from 'undici'
import { valuesOf } from '../../src/domain/relay/relayed-headers.ts'
import type { AnswerClock } from './answer-clock.ts'
import { InvalidAnswerError } from './call-errors.ts'
import type { RelayLimits } from './relay-limits.ts'

/** One request to a seller. `path` is what stands on the request line. */
export interface SellerRequest {
  origin: string
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

/** Who hears of the answer. Exactly one of `onEnd` and `onFail` is called, once. */
export interface SellerListener {
  onHead(head: SellerHead): void
  /** @returns false to stop reading until `resume`. */
  onData(chunk: Buffer): boolean
  onEnd(): void
  onFail(error: Error): void
}

export interface SellerCall {
  /** True once the whole request has been written. */
  isSent(): boolean
  resume(): void
  abort(error: Error): void
}

/**
 * Sends one request on a connection of its own and reports the answer. One connection serves one
 * request: whatever a seller writes after its answer reaches nobody, and no request can meet a
 * connection that is just being closed and would have to be sent twice.
 *
 * Known limit: an answer that ends with the connection (no length, not chunked) and is cut by a FIN
 * looks complete to anyone; cut by a reset it is reported as a failure.
 */
export function callSeller(
  request: SellerRequest,
  connect: buildConnector.connector,
  limits: RelayLimits,
  clock: AnswerClock,
  listener: SellerListener,
): SellerCall {
  let socketError: Error | null = null
  const watched: buildConnector.connector = (options, callback) =>
    connect(options, (...result) => {
      const [, socket] = result
      // Ahead of undici's own listener, which takes a reset for the end of an answer.
      socket?.once('error', (error: Error) => {
        socketError = error
      })
      callback(...result)
    })
  const client = new Client(request.origin, {
    connect: watched,
    pipelining: 0,
    allowH2: false,
    headersTimeout: 0,
    bodyTimeout: 0,
    maxHeaderSize: limits.headerBytes,
  })
  const handler = new AnswerHandler(
    listener,
    clock,
    () => socketError,
    () => void client.destroy(),
  )
  const { method, path, headers, body } = request
  client.dispatch({ method, path, headers, body, origin: request.origin }, handler)
  return {
    isSent: () => handler.isSent,
    resume: () => handler.resume(),
    abort: (error) => handler.abort(error, (reason) => void client.destroy(reason)),
  }
}

/** undici's callbacks, reduced to the listener's four. */
class AnswerHandler implements Dispatcher.DispatchHandler {
  isSent = false
  #listener: SellerListener
  #clock: AnswerClock
  #socketError: () => Error | null
  #release: () => void
  #controller: Dispatcher.DispatchController | null = null
  #endsWithConnection = false
  #isPaused = false
  #isOver = false

  constructor(
    listener: SellerListener,
    clock: AnswerClock,
    socketError: () => Error | null,
    release: () => void,
  ) {
    this.#listener = listener
    this.#clock = clock
    this.#socketError = socketError
    this.#release = release
  }

  resume(): void {
    if (!this.#isPaused || this.#isOver) return
    this.#isPaused = false
    this.#clock.streaming()
    this.#controller?.resume()
  }

  abort(error: Error, destroyClient: (error: Error) => void): void {
    // Not yet connected: undici has no controller then, and the client itself must go.
    if (this.#controller === null) destroyClient(error)
    else this.#controller.abort(error)
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
  }

  onRequestSent(): void {
    this.isSent = true
    this.#clock.awaitingHeaders()
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    _parsed: unknown,
    reason = '',
  ): void {
    // Interim answers are for one connection; the clock for the final one goes on.
    if (status >= 100 && status < 200) return
    const headers = toRawPairs(controller.rawHeaders)
    const codings = valuesOf(headers, 'transfer-encoding').map((value) =>
      value.toLowerCase().trim(),
    )
    if (status < 200 || status > 599 || codings.some((coding) => coding !== 'chunked'))
      throw new InvalidAnswerError('no final answer of HTTP/1.1')
    this.#endsWithConnection =
      codings.length === 0 && valuesOf(headers, 'content-length').length === 0
    this.#clock.streaming()
    this.#listener.onHead({ status, reason, headers })
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#clock.streaming()
    if (this.#listener.onData(chunk)) return
    this.#isPaused = true
    this.#clock.waitingForCaller()
    controller.pause()
  }

  onResponseEnd(): void {
    const error = this.#endsWithConnection ? this.#socketError() : null
    this.#finish(error)
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#finish(error)
  }

  #finish(error: Error | null): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#clock.stop()
    // After a whole answer undici has closed the one connection there was; nothing is left to free.
    if (error === null) {
      this.#listener.onEnd()
    } else {
      this.#release()
      this.#listener.onFail(error)
    }
  }
}

function toRawPairs(raw: Dispatcher.DispatchController['rawHeaders']): string[] {
  if (!Array.isArray(raw)) return []
  return raw.map((part) => (typeof part === 'string' ? part : part.toString('latin1')))
}
