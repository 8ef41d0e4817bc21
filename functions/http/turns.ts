import type { IncomingMessage, ServerResponse } from 'node:http'
import type { SlowReaders } from './slow-readers.ts'

export type NodeHandler = (req: IncomingMessage, res: ServerResponse) => void | Promise<void>

/** A connection's requests that may wait for the one before them; past it the connection is closed. */
export const MAX_WAITING = 32

/** Longest time a connection may stand still while something is asked or answered (milliseconds). */
export const STILL_MS = 60_000

export interface Turns {
  handle: NodeHandler
  /** Runs `work` once no answer is under way on this connection. */
  afterAnswers(socket: object, work: () => void): void
}

type Socket = IncomingMessage['socket']

interface Line {
  isBusy: boolean
  waiting: (() => void)[]
}

/**
 * Answers the requests of a connection one at a time. Node hands over every pipelined request as soon
 * as it is read, and keeps the answers until their turn: 60 KB of requests would become hundreds of
 * pages being rendered at once and held in memory for somebody who reads none of them. Work begins
 * when the answer before it has left, and never for a connection that is gone.
 */
export function createTurns(
  answer: NodeHandler,
  readers: SlowReaders,
  stillMs: number = STILL_MS,
): Turns {
  const lines = new WeakMap<object, Line>()
  const lineOf = (socket: object): Line => {
    const known = lines.get(socket)
    if (known !== undefined) return known
    const line: Line = { isBusy: false, waiting: [] }
    lines.set(socket, line)
    return line
  }
  const start = (line: Line, req: IncomingMessage, res: ServerResponse) => {
    line.isBusy = true
    // A request that is destroyed on the way lets go of its socket.
    const { socket } = req
    socket.setTimeout(stillMs)
    const stopWatching = readers.watch(socket)
    res.once('close', () => {
      stopWatching()
      line.isBusy = false
      continueLine(line, socket)
    })
    void answer(req, res)
  }
  return {
    handle(req, res) {
      if (req.socket.destroyed) return
      const line = lineOf(req.socket)
      if (!line.isBusy) start(line, req, res)
      else if (line.waiting.length < MAX_WAITING) line.waiting.push(() => start(line, req, res))
      else closeAtOnce(req.socket)
    },
    afterAnswers(socket, work) {
      const line = lineOf(socket)
      if (line.isBusy) line.waiting.push(work)
      else work()
    },
  }
}

function continueLine(line: Line, socket: Socket): void {
  if (socket.destroyed) line.waiting = []
  else line.waiting.shift()?.()
}

/** What Node's parser takes for "another protocol follows": it leaves the rest of its bytes alone. */
const STOP_PARSING = 2

/**
 * The parser would go on to the end of what it was handed, 64 KiB, and make objects and errors for a
 * thousand requests while everybody waits. Node has no public way to stop it; where this one is gone
 * the connection is closed all the same, only more dearly.
 */
function closeAtOnce(socket: Socket): void {
  const parser: unknown = Reflect.get(socket, 'parser')
  if (typeof parser === 'object' && parser !== null)
    Reflect.set(parser, 'onIncoming', () => STOP_PARSING)
  socket.destroy()
}
