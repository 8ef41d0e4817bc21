import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { toNodeHandler } from 'h3'
import { prefersMarkdown } from '../../src/domain/doors/prefers-markdown.ts'
import { isDoorPath, twinPathOf } from '../../src/domain/wire/door-table.ts'
import { ROUTES } from '../../src/domain/wire/route-table.ts'
import { hasBody } from '../call/upload.ts'
import { findRequestFault, splitTarget } from '../http/find-request-fault.ts'
import { sendResponse } from '../http/send-response.ts'
import type { Parts } from '../parts/parts.ts'
import type { SearchDoor } from '../search/search-doors.ts'
import { createApp, type DoorHandlers, type Handlers } from './app.ts'

export type NodeHandler = (req: IncomingMessage, res: ServerResponse) => void | Promise<void>

export interface ServerLayers {
  parts: Parts
  handlers: Partial<Handlers>
  /** What agents come in by beside our own API. */
  doors?: Partial<DoorHandlers>
  /** `/api/v1/call/…`, on the raw request: header bytes and streams must pass unchanged. */
  relay?: NodeHandler
  /** Searches, which are most of what is asked. */
  search?: SearchDoor
  /** Astro's pages that are rendered for each request. */
  pages?: (req: IncomingMessage, res: ServerResponse, path: string, next: () => void) => boolean
}

/** Bytes of request headers: payment headers of 128 KiB, and room for the rest. */
const MAX_HEADER_BYTES = 160 * 1024
/** Slow senders (milliseconds): headers, a body of our own endpoints, and how often Node looks. */
const HEADERS_TIMEOUT = 10_000
const BODY_TIMEOUT = 60_000
const CHECK_INTERVAL = 500
const KEEP_ALIVE_TIMEOUT = 65_000

const SEARCH_PATH = ROUTES.search.path
const RELAY_PREFIX = '/api/v1/call/'

/** One process, three layers: functions, compiled files, pages rendered on demand. */
export function createWaypostServer(layers: ServerLayers): Server {
  const { parts, handlers, relay, search, pages } = layers
  const { problem, release } = parts
  const app = toNodeHandler(createApp(parts, handlers, layers.doors))
  const options = {
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: HEADERS_TIMEOUT,
    // Node's clock runs over the whole body: a relayed upload may take longer than that, as long as
    // it moves, and the relay has a clock of its own for one that doesn't.
    requestTimeout: 0,
    connectionsCheckingInterval: CHECK_INTERVAL,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT,
  }
  /** Doors and files first, then pages on demand, then the app, which knows every error. */
  function answerRest(req: IncomingMessage, res: ServerResponse, path: string): void {
    const { files } = release()
    if (layers.doors !== undefined && isForDoor(req, path)) return void app(req, res)
    if (files.serve(req, res, path)) return
    if (pages?.(req, res, path, () => void app(req, res)) === true) return
    if (wantsPage(req, path) && files.serveAs(req, res, '/404.html', 404)) return
    return void app(req, res)
  }
  const server = createServer(options, (req, res) => {
    const fault = findRequestFault(req)
    if (fault !== null) {
      res.shouldKeepAlive = false
      return void sendResponse(res, problem(fault.code, { detail: fault.detail }))
    }
    const { path, query } = splitTarget(req.url ?? '/')
    if (search !== undefined && path === SEARCH_PATH && isPlainGet(req))
      return void search(req, res, query, () => void app(req, res))
    if (relay !== undefined && path.startsWith(RELAY_PREFIX)) return void relay(req, res)
    if (hasBody(req)) cutSlowBody(req)
    answerRest(req, res, path)
  })
  // Their bytes are limited; a line beyond a count would be dropped without a word.
  server.maxHeadersCount = 0
  server.on('clientError', (error, socket) => {
    if (!socket.writable || ('code' in error && error.code === 'ECONNRESET'))
      return void socket.destroy()
    void writeMalformed(
      socket,
      problem('malformed-request', { detail: 'The request could not be read as HTTP/1.1.' }),
    )
  })
  return server
}

/** Doors answer every method and error themselves; a page may be asked for as Markdown. */
function isForDoor(req: IncomingMessage, path: string): boolean {
  if (isDoorPath(path)) return true
  const twin = twinPathOf(path)
  if (twin === null || !prefersMarkdown(req.headers.accept)) return false
  if (req.method !== 'GET' && req.method !== 'HEAD') return false
  req.url = twin
  return true
}

function isPlainGet(req: IncomingMessage): boolean {
  return req.method === 'GET' && !hasBody(req)
}

function cutSlowBody(req: IncomingMessage): void {
  const timer = setTimeout(() => {
    if (!req.complete) req.destroy()
  }, BODY_TIMEOUT)
  timer.unref()
  req.once('close', () => clearTimeout(timer))
}

/** A browser asking for a page that does not exist gets one that says so; `/api/` is always JSON. */
function wantsPage(req: IncomingMessage, path: string): boolean {
  if (
    path.startsWith('/api/') ||
    path.startsWith('/go/') ||
    (req.method !== 'GET' && req.method !== 'HEAD')
  )
    return false
  if (path === '/healthz' || path === '/readyz') return false
  const accept = req.headers.accept ?? ''
  return accept.includes('text/html') && !accept.startsWith('application/json')
}

/** There is no response object for a request that could not be parsed: the answer is written raw. */
async function writeMalformed(
  socket: NodeJS.WritableStream & { destroySoon?: () => void },
  response: Response,
): Promise<void> {
  const body = await response.text()
  const head = `HTTP/1.1 400 Bad Request\r\nContent-Type: application/problem+json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n`
  socket.end(head + body)
}
