import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { Duplex } from 'node:stream'
import { OperatorError } from '../../src/domain/wire/problems.ts'

export type NodeHandler = (req: IncomingMessage, res: ServerResponse) => void | Promise<void>

/** How many requests on a connection may wait for earlier ones; with more, the connection is closed. */
export const MAX_WAITING = 32

/** How long a connection may be idle during a request or an answer (milliseconds). */
const IDLE_TIMEOUT_MS = 60_000

/** Emitted on a request whose body turns out not to be HTTP: no more of the body will come. */
export const MALFORMED_BODY = 'malformedBody'

const malformed = new WeakSet<IncomingMessage>()

/** Whether `MALFORMED_BODY` was emitted: a refusal is being sent, and no handler may answer. */
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
 * Answers a connection's requests one at a time. Node emits every pipelined request as soon as it
 * is read, and holds the answers until their turn: 60 KB of requests would become hundreds of pages
 * rendered at once and held in memory for a client that reads none of them. Here work begins when
 * the previous answer has been sent, and never for a closed connection.
 *
 * Security model: a connection has one request under way and a few that wait; a connection that
 * reads too slowly, is idle or sends invalid HTTP is closed. Known limitation: only the operating
 * system limits the number of connections.
 * @throws OperatorError on a Node version whose parser cannot be stopped
 */
export function serializeRequests(
  answer: NodeHandler,
  readers: SlowReaders,
  stillMs: number = IDLE_TIMEOUT_MS,
) {
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
    // Kept here because a request that is destroyed early loses its socket.
    const { socket } = req
    socket.setTimeout(stillMs)
    const stopWatching = readers.watch(socket)
    res.once('close', () => {
      stopWatching()
      queue.current = null
      // There are many idle connections, so their last requests are not kept.
      if (queue.latest === res && req.complete) queue.latest = null
      continueQueue(queue, socket)
    })
    void answer(req, res)
  }
  return {
    handle(req: IncomingMessage, res: ServerResponse): void {
      if (req.socket.destroyed) return
      const queue = queueOf(req.socket)
      if (queue.current !== null && queue.waiting.length >= MAX_WAITING) closeAtOnce(req.socket)
      else {
        queue.latest = res
        if (queue.current === null) start(queue, req, res)
        else queue.waiting.push(() => start(queue, req, res))
      }
    },
    /**
     * Ends a connection that cannot be read any further. `answer` gets the request whose body broke, if there
     * is one, and returns the refusal. Pending answers are sent first; if the broken request already has an
     * answer, the refusal is not sent.
     */
    breakOff(socket: Duplex, answer: (broken: IncomingMessage | null) => Promise<string>): void {
      const queue = queueOf(socket)
      const { current, latest } = queue
      const broken = latest?.req.complete === false ? latest : null
      if (broken !== null) {
        malformed.add(broken.req)
        broken.req.emit(MALFORMED_BODY)
      }
      const isAnswered = broken?.headersSent === true
      const end = async () => endSoon(socket, isAnswered ? '' : await answer(broken?.req ?? null))
      // The broken request waits for its turn, and the refusal takes that turn.
      if (broken !== null && broken !== current && !isAnswered) queue.waiting.pop()
      if (current === null || (broken === current && !isAnswered)) void end()
      else queue.waiting.push(end)
    },
  }
}

/** Time for a client to read that its request was not HTTP, and to disconnect (milliseconds). */
const LINGER_MS = 1000

/** If the connection were reset at once while the client was still sending, the answer in flight would be lost. */
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

export interface ReadLimits {
  /** Grace period for a reader that takes nothing, or too little (milliseconds). */
  graceMs: number
  /** Average rate that a reader must keep after the grace period. */
  bytesPerSecond: number
  /** How often readers are checked (milliseconds). */
  everyMs: number
}

const READ_LIMITS: ReadLimits = {
  graceMs: 60_000,
  bytesPerSecond: 8 * 1024,
  everyMs: 1000,
}

type SlowReaders = ReturnType<typeof createSlowReaders>

interface Reader {
  socket: Socket
  /** Bytes that the system had taken from us when the answer began, and has taken now. */
  before: number
  taken: number
  /** How long we waited for the reader: during this answer, and since the reader last took bytes. */
  waitedMs: number
  stillMs: number
}

/**
 * Closes connections whose answers are not read, or too slowly. Only the time for which our bytes
 * wait for the reader is counted, so an answer may be as long and as slow as its source likes. A
 * reader's progress shows in steps, one write at a time.
 */
export function createSlowReaders(limits: ReadLimits = READ_LIMITS) {
  const readers = new Set<Reader>()
  let timer: NodeJS.Timeout | undefined
  const look = () => {
    for (const reader of readers)
      if (isTooSlow(reader, limits)) {
        readers.delete(reader)
        reader.socket.destroy()
      }
    if (readers.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
  return {
    /** @returns a function that ends the watch */
    watch(socket: Socket): () => void {
      const before = takenFrom(socket)
      const reader: Reader = { socket, before, taken: before, waitedMs: 0, stillMs: 0 }
      readers.add(reader)
      timer ??= setInterval(look, limits.everyMs).unref()
      return () => void readers.delete(reader)
    },
  }
}

function isTooSlow(reader: Reader, { graceMs, bytesPerSecond, everyMs }: ReadLimits): boolean {
  const pending = reader.socket.writableLength
  const taken = takenFrom(reader.socket)
  if (taken !== reader.taken || pending === 0) reader.stillMs = 0
  reader.taken = taken
  if (pending === 0) return false
  reader.waitedMs += everyMs
  reader.stillMs += everyMs
  const allowedFor = (bytes: number) => graceMs + (bytes / bytesPerSecond) * 1000
  return (
    reader.stillMs > allowedFor(pending) ||
    reader.waitedMs > allowedFor(taken - reader.before + pending)
  )
}

/** `bytesWritten` includes what is still queued. */
function takenFrom(socket: Socket): number {
  return socket.bytesWritten - socket.writableLength
}

/** Node's parser reads this value as "another protocol follows" and stops parsing. */
const STOP_PARSING = 2

/**
 * Stops the parser, which would otherwise go on to the end of its 64 KiB buffer, and make objects
 * and errors for a thousand requests while other clients wait. Node has no public way to do this:
 * `assertParserStops` checks at startup that this way works.
 */
function stopParsing(socket: Socket): void {
  const parser: unknown = Reflect.get(socket, 'parser')
  if (typeof parser === 'object' && parser !== null)
    Reflect.set(parser, 'onIncoming', () => STOP_PARSING)
}

/**
 * Sends three requests at once to this Node version on an in-memory connection, and stops after the first.
 * @throws OperatorError if the other requests are still parsed
 */
export function assertParserStops(stop: (socket: Socket) => void = stopParsing): void {
  let requests = 0
  const server = createServer(({ socket }) => {
    requests += 1
    stop(socket)
    socket.destroy()
  })
  const socket = new Duplex({ read() {}, write: (_bytes, _encoding, done) => done() })
  server.emit('connection', socket)
  socket.emit('data', Buffer.from('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(3)))
  if (requests === 1) return
  throw new OperatorError(
    `Node ${process.version} does not stop parsing a connection on demand: it parsed ${requests} of three requests sent at once instead of one. A client that sends thousands at once could then block all others. Run the Node that npm ci installs.`,
  )
}
