import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { toNodeHandler } from 'h3'
import { gonePagePath } from '../../src/domain/derived/gone-path.ts'
import type { Gone } from '../../src/domain/derived/tombstone.ts'
import { prefersMarkdown } from '../../src/domain/doors/prefers-markdown.ts'
import { PROXY_NAME } from '../../src/domain/relay/relayed-headers.ts'
import { isDoorPath, twinPathOf } from '../../src/domain/wire/door-table.ts'
import { CHOSEN_PAGE, ROUTES } from '../../src/domain/wire/route-table.ts'
import { toTransportHeaders } from '../../src/domain/wire/site-headers.ts'
import { hasBody } from '../call/upload.ts'
import type { ListingCards } from '../cards/listing-cards.ts'
import { findAllowedMethods } from '../http/allowed-methods.ts'
import { findRequestFault, type RequestFault, splitTarget } from '../http/find-request-fault.ts'
import { answerPreflight, refuseMethod } from '../http/method-answers.ts'
import { sendResponse } from '../http/send-response.ts'
import { createSlowReaders, type ReadLimits } from '../http/slow-readers.ts'
import { createTurns, type NodeHandler, type Turns } from '../http/turns.ts'
import { toRawAnswer, toUnreadable } from '../http/unreadable.ts'
import { type Metrics, NO_METRICS } from '../metrics/metrics.ts'
import type { Parts } from '../parts/parts.ts'
import { withRequestId } from '../ports/request-id.ts'
import { findGone, toGoneProblem } from '../release/gone.ts'
import type { OnDemandPages } from '../release/on-demand-pages.ts'
import type { SearchDoor } from '../search/search-doors.ts'
import { createApp, type DoorHandlers, type Handlers } from './app.ts'

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
  pages?: OnDemandPages
  /** What is counted of all of it; nothing when left out. */
  metrics?: Metrics
  /** Drawings of listings, made when first asked for. */
  cards?: ListingCards
  /** How fast answers must be read. */
  readLimits?: ReadLimits
  /** How long a connection may stand still while it is answered (milliseconds). */
  stillMs?: number
}

/** Bytes of request headers: payment headers of 128 KiB, and room for the rest. */
const MAX_HEADER_BYTES = 160 * 1024
/** Slow senders (milliseconds): headers, a body of our own endpoints, and how often Node looks. */
const HEADERS_TIMEOUT = 10_000
const BODY_TIMEOUT = 60_000
const CHECK_INTERVAL = 500
const KEEP_ALIVE_TIMEOUT = 65_000

const SEARCH_PATH = ROUTES.search.path
/** A page that is a file without a query, and rendered with one. */
const COMPARE_PAGE = '/compare'
const RELAY_PREFIX = '/api/v1/call/'
/** What pages and files take; OPTIONS of a file is answered by the files themselves. */
const READ_METHODS = ['GET', 'HEAD', 'OPTIONS']

/** One process, three layers: functions, compiled files, pages rendered on demand. */
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

/** The relay's requests to the relay, all others to what answers ourselves; each when it is its turn. */
function createEntrance(layers: ServerLayers): NodeHandler {
  const { parts, relay, metrics = NO_METRICS } = layers
  const isProxied = parts.config.TRUST_PROXY > 0
  const answer = createOwnAnswers(layers)
  const transport = Object.entries(toTransportHeaders(parts.config.BASE_URL))
  const enter: NodeHandler = (req, res) => {
    const { path, query } = splitTarget(req.url ?? '/')
    metrics.watch(req.method ?? '', path, res)
    const isCall = path.startsWith(RELAY_PREFIX)
    const fault = findRequestFault(req)
    if (fault === null && relay !== undefined && isCall) {
      // Its own clocks run from here: a seller may think longer than a connection may stand still.
      req.socket.setTimeout(0)
      return void relay(req, res)
    }
    for (const [name, value] of transport) res.setHeader(name, value)
    if (fault === null) return answer(req, res, path, query)
    res.shouldKeepAlive = false
    void sendResponse(req, res, toFaultProblem(fault, isCall, parts.problem))
  }
  return (req, res) => {
    const given = isProxied ? req.headers['x-request-id'] : undefined
    return withRequestId(typeof given === 'string' ? given : null, () => enter(req, res))
  }
}

function createOwnAnswers(layers: ServerLayers) {
  const { parts, handlers, doors, search, pages, cards, metrics } = layers
  const { problem, release } = parts
  const app = toNodeHandler(createApp(parts, handlers, doors, metrics))
  /** Files first, then pages on demand, then the app, which knows every error. */
  function answerRest(req: IncomingMessage, res: ServerResponse, path: string): void {
    const { files } = release()
    const gone = findGone(release(), path)
    if (gone !== null) {
      answerGone(req, res, path, gone)
      return
    }
    if (files.serve(req, res, path)) return
    if (cards?.serve(req, res, path) === true) return
    if (pages?.serve(req, res, path, () => void app(req, res)) === true) return
    const isThere = [files, pages, cards].some((layer) => layer?.has(path) === true)
    const refusal = isThere ? toMethodAnswer(req.method ?? '', path, problem) : null
    if (refusal !== null) return void sendResponse(req, res, refusal)
    if (wantsPage(req, path) && files.serveAs(req, res, '/404.html', 404)) return
    void app(req, res)
  }
  /** A page for a browser, a problem for everybody else: 410 either way. */
  function answerGone(req: IncomingMessage, res: ServerResponse, path: string, gone: Gone): void {
    const page = gonePagePath(gone.id)
    if (wantsPage(req, path) && release().files.serveAs(req, res, page, 410)) return
    void sendResponse(req, res, toGoneProblem(gone, problem))
  }
  return (req: IncomingMessage, res: ServerResponse, path: string, query: string): void => {
    if (search !== undefined && path === SEARCH_PATH && isPlainGet(req))
      return void search(req, res, query, () => void app(req, res))
    if (hasBody(req)) cutSlowBody(req)
    if (doors !== undefined && isForDoor(req, path)) return void app(req, res)
    if (query !== '' && path === ROUTES.compare_list.path) return void app(req, res)
    answerRest(req, res, toInside(req, path, query))
  }
}

/** The page of chosen listings shares its address with the list of comparisons. */
function toInside(req: IncomingMessage, path: string, query: string): string {
  if (path === CHOSEN_PAGE) return ''
  if (path !== COMPARE_PAGE || query === '') return path
  req.url = `${CHOSEN_PAGE}?${query}`
  return CHOSEN_PAGE
}

/** An error of ours on the relay's path says so, however early it comes. */
function toFaultProblem(
  { code, detail }: RequestFault,
  isCall: boolean,
  problem: Parts['problem'],
): Response {
  const proxyStatus = { 'Proxy-Status': `${PROXY_NAME}; error=http_request_error` }
  return problem(code, { detail, ...(isCall && { headers: proxyStatus }) })
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

/** For an address of a file or page: null where a function takes this method there. */
function toMethodAnswer(method: string, path: string, problem: Parts['problem']): Response | null {
  const allowed = [...new Set([...READ_METHODS, ...findAllowedMethods(path)])]
  if (method === 'OPTIONS') return answerPreflight(path, allowed)
  return allowed.includes(method) ? null : refuseMethod(method, allowed, problem)
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
