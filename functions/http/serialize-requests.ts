import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { SlowReaders } from './slow-readers.ts'
import { assertParserStops, stopParsing } from './stop-parsing.ts'

export type NodeHandler = (req: IncomingMessage, res: ServerResponse) => void | Promise<void>

/** A connection's requests that may wait for the one before them; past it the connection is closed. */
export const MAX_WAITING = 32

/** Longest time a connection may be idle during a request or an answer (milliseconds). */
export const IDLE_TIMEOUT_MS = 60_000

export interface RequestQueue {
  handle: NodeHandler
  /**
   * The rest of this connection cannot be read: it ends with `answer`, called with the request
   * whose body broke, if one did. Pending answers come first; if that request already has one, no
   * other follows.
   */
  breakOff(socket: Duplex, answer: (asked: IncomingMessage | null) => Promise<string>): void
}

/** Emitted on a request whose body turns out not to be HTTP: nothing more of it will come. */
export const MALFORMED_BODY = 'malformedBody'

const malformed = new WeakSet<IncomingMessage>()

/** Whether `MALFORMED_BODY` was emitted: its refusal is being sent, nothing else may answer. */
export function isMalformed(req: IncomingMessage): boolean {
  return malformed.has(req)
}

type Socket = IncomingMessage['socket']

interface Queue {
  /** The request being answered, and the last one received. */
  current: ServerResponse | null
  latest: ServerResponse | null
  waiting: (() => void)[]
}

/**
 * Answers the requests of a connection one at a time. Node emits every pipelined request as soon as
 * it is read, and holds the answers until their turn: 60 KB of requests would become hundreds of
 * pages being rendered at once and held in memory for somebody who reads none of them. Work begins
 * when the previous answer has been sent, and never for a closed connection.
 *
 * @throws OperatorError on a Node whose parser cannot be stopped
 */
export function serializeRequests(
  answer: NodeHandler,
  readers: SlowReaders,
  stillMs: number = IDLE_TIMEOUT_MS,
): RequestQueue {
  assertParserStops()
  const queues = new WeakMap<object, Queue>()
  const queueOf = (socket: object): Queue => {
    const known = queues.get(socket)
    if (known !== undefined) return known
    const queue: Queue = { current: null, latest: null, waiting: [] }
    queues.set(socket, queue)
    return queue
  }
  const start = (queue: Queue, req: IncomingMessage, res: ServerResponse) => {
    queue.current = res
    // A request that is destroyed early lets go of its socket.
    const { socket } = req
    socket.setTimeout(stillMs)
    const stopWatching = readers.watch(socket)
    res.once('close', () => {
      stopWatching()
      queue.current = null
      // Idle connections are many: their last requests are not kept.
      if (queue.latest === res && req.complete) queue.latest = null
      continueQueue(queue, socket)
    })
    void answer(req, res)
  }
  return {
    handle(req, res) {
      if (req.socket.destroyed) return
      const queue = queueOf(req.socket)
      if (queue.current !== null && queue.waiting.length >= MAX_WAITING) closeAtOnce(req.socket)
      else {
        queue.latest = res
        if (queue.current === null) start(queue, req, res)
        else queue.waiting.push(() => start(queue, req, res))
      }
    },
    breakOff(socket, answer) {
      const queue = queueOf(socket)
      const { current, latest } = queue
      const broken = latest?.req.complete === false ? latest : null
      if (broken !== null) {
        malformed.add(broken.req)
        broken.req.emit(MALFORMED_BODY)
      }
      const isAnswered = broken?.headersSent === true
      const end = async () => endSoon(socket, isAnswered ? '' : await answer(broken?.req ?? null))
      // It waits for its turn, which the refusal takes.
      if (broken !== null && broken !== current && !isAnswered) queue.waiting.pop()
      if (current === null || (broken === current && !isAnswered)) void end()
      else queue.waiting.push(end)
    },
  }
}

/** How long a client may take to read that its request was not HTTP, and leave (milliseconds). */
const LINGER_MS = 1000

/** If reset at once, a connection whose client is still sending would lose the answer in flight. */
function endSoon(socket: Duplex, bytes: string): void {
  socket.end(bytes)
  const timer = setTimeout(() => socket.destroy(), LINGER_MS)
  socket.once('close', () => clearTimeout(timer))
}

function continueQueue(queue: Queue, socket: Socket): void {
  if (socket.destroyed) queue.waiting = []
  else queue.waiting.shift()?.()
}

function closeAtOnce(socket: Socket): void {
  stopParsing(socket)
  socket.destroy()
}
