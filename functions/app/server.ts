import { createServer, type Server } from 'node:http'
import { toTransportHeaders } from '../../src/domain/wire/site-headers.ts'
import { createSlowReaders, type ReadLimits } from '../http/slow-readers.ts'
import { createTurns, type Turns } from '../http/turns.ts'
import { toRawAnswer, toUnreadable } from '../http/unreadable.ts'
import type { Parts } from '../parts/parts.ts'
import { createEntrance, type Layers, RELAY_PREFIX, toFaultProblem } from './layers.ts'

export interface ServerLayers extends Layers {
  /** How fast answers must be read. */
  readLimits?: ReadLimits
  /** How long a connection may stand still while it is answered (milliseconds). */
  stillMs?: number
}

/** Bytes of request headers: payment headers of 128 KiB, and room for the rest. */
const MAX_HEADER_BYTES = 160 * 1024
/** Slow senders (milliseconds): headers, and how often Node looks. */
const HEADERS_TIMEOUT = 10_000
const CHECK_INTERVAL = 500
const KEEP_ALIVE_TIMEOUT = 65_000

/** One process: functions, compiled files, pages rendered on demand (`layers.ts`). */
export function createWaypostServer(layers: ServerLayers): Server {
  const options = {
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: HEADERS_TIMEOUT,
    // Node's clock runs over the whole body: a relayed upload may take longer than that, as long as
    // it moves, and the relay has a clock of its own for one that doesn't.
    requestTimeout: 0,
    connectionsCheckingInterval: CHECK_INTERVAL,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT,
  }
  const { readLimits, stillMs } = layers
  const turns = createTurns(createEntrance(layers), createSlowReaders(readLimits), stillMs)
  const server = createServer(options, turns.handle)
  // Their bytes are limited; a line beyond a count would be dropped without a word.
  server.maxHeadersCount = 0
  answerUnreadable(server, turns, layers.parts)
  return server
}

/**
 * There is no response object for a request that could not be parsed, and none that could still be
 * used where its body breaks: the answer is written raw.
 */
function answerUnreadable(server: Server, turns: Turns, { problem, config }: Parts): void {
  const transport = toTransportHeaders(config.BASE_URL)
  const limits = { headerBytes: MAX_HEADER_BYTES, headersSeconds: HEADERS_TIMEOUT / 1000 }
  const answered = new WeakSet<object>()
  server.on('clientError', (error, socket) => {
    const code = 'code' in error ? error.code : undefined
    // The parser complains again of every byte after the one it could not read.
    if (answered.has(socket)) return
    if (!socket.writable || code === 'ECONNRESET') return void socket.destroy()
    // Browsers open connections in advance. An answer to nothing would be taken for that of the
    // first request that goes out on one.
    const isUnused = 'bytesRead' in socket && socket.bytesRead === 0
    if (code === 'ERR_HTTP_REQUEST_TIMEOUT' && isUnused) return void socket.destroy()
    const fault = toUnreadable(error, limits)
    answered.add(socket)
    turns.breakOff(socket, (asked) => {
      const isCall = (asked?.url ?? fault.target).startsWith(RELAY_PREFIX)
      const response = toFaultProblem(fault, isCall, problem)
      for (const [name, value] of Object.entries(transport)) response.headers.set(name, value)
      return toRawAnswer(response)
    })
  })
}
