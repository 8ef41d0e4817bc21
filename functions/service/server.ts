import { createServer, type Server, STATUS_CODES } from 'node:http'
import { CALL_PREFIX } from '../../src/domain/wire/links.ts'
import { toTransportHeaders } from '../../src/domain/wire/site-headers.ts'
import type { Parts } from '../features/feature.ts'
import {
  createSlowReaders,
  type ReadLimits,
  type RequestQueue,
  serializeRequests,
} from '../server/connections.ts'
import type { RequestFault } from '../server/node-answers.ts'
import { createRequestHandler, type Layers, toFaultProblem } from './layers.ts'

interface ServerLayers extends Layers {
  /** How fast answers must be read. */
  readLimits?: ReadLimits
  /** How long a connection may be idle while it is answered (milliseconds). */
  stillMs?: number
}

/** Bytes of request headers: payment headers of 128 KiB, and room for the rest. */
const MAX_HEADER_BYTES = 160 * 1024
/** Slow senders (milliseconds): time for headers, and how often Node checks. */
const HEADERS_TIMEOUT = 10_000
const CHECK_INTERVAL = 500
const KEEP_ALIVE_TIMEOUT = 65_000

/** One process: functions, compiled files, pages rendered on demand (`layers.ts`). */
export function createWaypostServer(layers: ServerLayers): Server {
  const options = {
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: HEADERS_TIMEOUT,
    // Node's timeout covers the whole body: a relayed upload may take longer as long as it moves,
    // and the relay has its own timeout for one that doesn't.
    requestTimeout: 0,
    connectionsCheckingInterval: CHECK_INTERVAL,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT,
  }
  const { readLimits, stillMs } = layers
  const turns = serializeRequests(
    createRequestHandler(layers),
    createSlowReaders(readLimits),
    stillMs,
  )
  const server = createServer(options, turns.handle)
  // Their bytes are limited; a limit on their number would silently drop lines.
  server.maxHeadersCount = 0
  answerUnreadable(server, turns, layers.parts)
  return server
}

/**
 * A request that could not be parsed has no response object, or no usable one when its body breaks:
 * the answer is written raw.
 */
function answerUnreadable(server: Server, turns: RequestQueue, { problem, config }: Parts): void {
  const transport = toTransportHeaders(config.BASE_URL)
  const answered = new WeakSet<object>()
  server.on('clientError', (error, socket) => {
    const code = 'code' in error ? error.code : undefined
    // The parser reports every byte after the one it could not read as another error.
    if (answered.has(socket)) return
    if (!socket.writable || code === 'ECONNRESET') return void socket.destroy()
    // Browsers open connections in advance. An unprompted answer would be taken for the answer to
    // the first request on such a connection.
    const isUnused = 'bytesRead' in socket && socket.bytesRead === 0
    if (code === 'ERR_HTTP_REQUEST_TIMEOUT' && isUnused) return void socket.destroy()
    const fault = toUnreadable(error)
    answered.add(socket)
    turns.breakOff(socket, (asked) => {
      const isCall = (asked?.url ?? fault.target).startsWith(CALL_PREFIX)
      const response = toFaultProblem(fault, isCall, problem)
      for (const [name, value] of Object.entries(transport)) response.headers.set(name, value)
      return toRawAnswer(response)
    })
  })
}

/** What is known of a request that could not be parsed: no request object exists then. */
interface Unreadable extends RequestFault {
  /** The part of the target that was received; may be empty. */
  target: string
}

const DETAILS = new Map<unknown, string>([
  [
    'HPE_HEADER_OVERFLOW',
    `The header fields of the request are too large: together they may have ${MAX_HEADER_BYTES} bytes.`,
  ],
  [
    'ERR_HTTP_REQUEST_TIMEOUT',
    `The request's header fields did not arrive within ${HEADERS_TIMEOUT / 1000} s.`,
  ],
  [
    'HPE_INVALID_CHUNK_SIZE',
    'The body could not be read: Transfer-Encoding is chunked, so each chunk begins with its length in hexadecimal digits and a line end.',
  ],
])

/** @param error of Node's `clientError` */
function toUnreadable(error: Error): Unreadable {
  const detail = DETAILS.get('code' in error ? error.code : undefined)
  return {
    code: 'malformed-request',
    detail: detail ?? 'The request could not be read as HTTP/1.1.',
    target: targetOf(error),
  }
}

/** Node keeps the bytes that broke the parser: they begin with the request line unless it came before them. */
function targetOf(error: Error): string {
  const packet = 'rawPacket' in error ? error.rawPacket : undefined
  if (!Buffer.isBuffer(packet)) return ''
  const line = packet.subarray(0, 1024).toString('latin1').split('\r\n', 1)[0] ?? ''
  return /^[A-Z]{1,16} (\S+)/.exec(line)?.[1] ?? ''
}

/** The answer as bytes: no response object could write it. */
async function toRawAnswer(response: Response): Promise<string> {
  const body = await response.text()
  const lines = [...response.headers].map(([name, value]) => `${name}: ${value}`)
  const length = `content-length: ${Buffer.byteLength(body)}`
  return [
    `HTTP/1.1 ${response.status} ${STATUS_CODES[response.status] ?? ''}`,
    ...lines,
    length,
    'connection: close',
    '',
    body,
  ].join('\r\n')
}
