import type { IncomingMessage, ServerResponse } from 'node:http'
import { toNodeHandler } from 'h3'
import { isSwitchedOff } from '../../src/domain/derived/switches.ts'
import { gonePagePath } from '../../src/domain/derived/tombstone.ts'
import { prefersMarkdown } from '../../src/domain/doors/markdown-variant.ts'
import { PROXY_NAME } from '../../src/domain/relay/relayed-headers.ts'
import { isDoorPath, markdownPathOf } from '../../src/domain/wire/door-table.ts'
import { CHOSEN_PAGE, KIT_PATTERN, ROUTES } from '../../src/domain/wire/route-table.ts'
import { toTransportHeaders } from '../../src/domain/wire/site-headers.ts'
import { createAccessGate } from '../access/access-gate.ts'
import type { MakeProblem } from '../http/answers.ts'
import { answerPreflight, findAllowedMethods, refuseMethod } from '../http/answers.ts'
import { type Metrics, NO_METRICS } from '../metrics/metrics.ts'
import type { Parts } from '../parts/parts.ts'
import { withRequestId } from '../ports/log.ts'
import { hasBody } from '../relay/forward-call.ts'
import type { OnDemandPages } from '../release/on-demand-pages.ts'
import type { Release } from '../release/release.ts'
import { findGone, toGoneProblem } from '../release/release.ts'
import type { SearchDoor } from '../search/search-doors.ts'
import { compressAnswer } from '../server/compress-answers.ts'
import type { NodeHandler } from '../server/connections.ts'
import {
  findRequestFault,
  type RequestFault,
  sendResponse,
  splitTarget,
  wantsPage,
} from '../server/node-answers.ts'
import { createApp, type DoorHandlers, type Handlers } from './app.ts'

export interface Layers {
  parts: Parts
  handlers: Partial<Handlers>
  /** The protocols for agents, in addition to our own API. */
  doors?: Partial<DoorHandlers>
  /** `/api/v1/call/…`, on the raw request: header bytes and streams must pass unchanged. */
  relay?: NodeHandler
  /** Searches, which are most requests. */
  search?: SearchDoor
  pages?: OnDemandPages
  /** Counters for all of them; none when left out. */
  metrics?: Metrics
  /** Drawings of listings, made when first asked for. */
}

/** How long a body sent to our own endpoints may take (milliseconds). */
const BODY_TIMEOUT = 60_000
const SEARCH_PATH = ROUTES.search.path
/** A document that is a file without a query. */
const TAKES_QUERY = new RegExp(`^${ROUTES.compare_list.path}$|${KIT_PATTERN}`)
/** A page served from a file without a query and rendered with one. */
const COMPARE_PAGE = '/compare'
export const RELAY_PREFIX = '/api/v1/call/'
/** The methods of pages and files; OPTIONS of a file is answered by the file handler. */
const READ_METHODS = ['GET', 'HEAD', 'OPTIONS']

interface Asked {
  req: IncomingMessage
  res: ServerResponse
  path: string
  query: string
}

/** @returns false to leave the request to the next layer */
type Layer = (asked: Asked) => boolean

/** Passes each request to the first layer that answers it, in its connection's order. */
export function createRequestHandler(layers: Layers): NodeHandler {
  const { parts, metrics = NO_METRICS } = layers
  const isProxied = parts.config.TRUST_PROXY > 0
  const table = createLayerTable(layers)
  const enter = createAccessGate(parts, (req, res) => {
    const { path, query } = splitTarget(req.url ?? '/')
    metrics.watch(req.method ?? '', path, res)
    const asked = { req, res, path, query }
    for (const layer of table) if (layer(asked)) return
  })
  return (req, res) => {
    const given = isProxied ? req.headers['x-request-id'] : undefined
    return withRequestId(typeof given === 'string' ? given : null, () => enter(req, res))
  }
}

/** All layers, in order. The app comes last: it answers everything, and knows every error. */
function createLayerTable(layers: Layers): Layer[] {
  const { parts, handlers, doors, relay, search, pages, metrics } = layers
  const { problem, release } = parts
  const app = toNodeHandler(createApp(parts, handlers, doors, metrics))
  const toApp = (asked: Asked) => {
    compress(asked)
    return answered(app(asked.req, asked.res))
  }
  return [
    ...(relay === undefined ? [] : [toRelayLayer(relay)]),
    toFirstHeaders(parts),
    (asked) => refuseFault(asked, problem),
    (asked) => answerSwitchedOff(asked, release(), problem),
    (asked) => {
      if (search === undefined || asked.path !== SEARCH_PATH || !isPlainGet(asked.req)) return false
      compress(asked)
      return answered(search(asked.req, asked.res, asked.query, () => toApp(asked)))
    },
    (asked) => hasBody(asked.req) && cutSlowBody(asked),
    (asked) => answerGone(asked, release(), problem),
    (asked) => doors !== undefined && isForDoor(asked, release()) && toApp(asked),
    nameChosenPage,
    (asked) => asked.query !== '' && TAKES_QUERY.test(asked.path) && toApp(asked),
    ({ req, res, path }) => release().files.serve(req, res, path),
    (asked) => {
      if (pages?.has(asked.path) === true) compress(asked)
      return pages?.serve(asked.req, asked.res, asked.path, () => toApp(asked)) === true
    },
    (asked) =>
      [release().files, pages].some((layer) => layer?.has(asked.path) === true) &&
      refuseOtherMethods(asked, problem, pages?.hasForm(asked.path) ? ['POST'] : []),
    ({ req, res, path }) =>
      wantsPage(req, path) &&
      findAllowedMethods(path).length === 0 &&
      release().files.serve(req, res, '/404.html', 404),
    toApp,
  ]
}

/** All layers that compute an answer for the request. */
function compress({ req, res, path }: Asked): void {
  if (compressed.has(res)) return
  compressed.add(res)
  compressAnswer(req, res, path)
}
const compressed = new WeakSet<ServerResponse>()

function answered(_answer: unknown): true {
  return true
}

function refuseFault({ req, res, path }: Asked, problem: MakeProblem): boolean {
  const fault = findRequestFault(req)
  if (fault === null) return false
  res.shouldKeepAlive = false
  return answered(
    sendResponse(req, res, toFaultProblem(fault, path.startsWith(RELAY_PREFIX), problem)),
  )
}

/** What this directory switched off answers as if it had never existed. */
function answerSwitchedOff(
  { req, res, path }: Asked,
  { site, files }: Release,
  problem: MakeProblem,
): boolean {
  if (!isSwitchedOff(path, site.switches)) return false
  if (wantsPage(req, path) && files.serve(req, res, '/404.html', 404)) return true
  return answered(
    sendResponse(req, res, problem('not-found', { detail: `Nothing is at ${path}.` })),
  )
}

function toRelayLayer(relay: NodeHandler): Layer {
  return ({ req, res, path }) => {
    if (!path.startsWith(RELAY_PREFIX) || findRequestFault(req) !== null) return false
    // Its own clocks run from here: a seller may take longer than the idle timeout of a connection.
    req.socket.setTimeout(0)
    return answered(relay(req, res))
  }
}

/** Headers of every answer of the layers below. */
function toFirstHeaders({ config }: Parts): Layer {
  const transport = Object.entries(toTransportHeaders(config.BASE_URL))
  return ({ res }) => {
    for (const [name, value] of transport) res.setHeader(name, value)
    return false
  }
}

/** 308 where it moved; else 410, as a page for a browser and as a problem for everybody else. */
function answerGone({ req, res, path }: Asked, release: Release, problem: MakeProblem): boolean {
  const gone = findGone(release, path)
  if (gone === null) return false
  const hasPage = gone.moved_to === undefined && wantsPage(req, path)
  if (hasPage && release.files.serve(req, res, gonePagePath(gone.id), 410)) return true
  return answered(sendResponse(req, res, toGoneProblem(gone, req.url ?? path, problem)))
}

/** The page of chosen listings shares its address with the list of comparisons. */
function nameChosenPage(asked: Asked): false {
  if (asked.path === CHOSEN_PAGE) asked.path = ''
  if (asked.path !== COMPARE_PAGE || asked.query === '') return false
  asked.req.url = `${CHOSEN_PAGE}?${asked.query}`
  asked.path = CHOSEN_PAGE
  return false
}

/** An error of ours on the relay's path is marked as ours, however early it occurs. */
export function toFaultProblem(
  { code, detail }: RequestFault,
  isCall: boolean,
  problem: MakeProblem,
): Response {
  const proxyStatus = { 'Proxy-Status': `${PROXY_NAME}; error=http_request_error` }
  return problem(code, { detail, ...(isCall && { headers: proxyStatus }) })
}

/** Doors answer every method and error themselves; a page may be asked for as Markdown. */
function isForDoor({ req, path }: Asked, { files }: Pick<Release, 'files'>): boolean {
  // The id of a listing may end in `.json`: then the page is meant, not a feed.
  if (!files.has(path) && isDoorPath(path)) return true
  const markdown = markdownPathOf(path)
  if (markdown === null || !prefersMarkdown(req.headers.accept)) return false
  if (req.method !== 'GET' && req.method !== 'HEAD') return false
  req.url = markdown
  return true
}

/** For the address of a file or page. False where a function handles this method. */
function refuseOtherMethods({ req, res, path }: Asked, problem: MakeProblem, more: string[]) {
  const { method = '' } = req
  const allowed = [...new Set([...READ_METHODS, ...more, ...findAllowedMethods(path)])]
  if (method === 'OPTIONS') return answered(sendResponse(req, res, answerPreflight(path, allowed)))
  if (allowed.includes(method)) return false
  return answered(sendResponse(req, res, refuseMethod(method, allowed, problem)))
}

function isPlainGet(req: IncomingMessage): boolean {
  return req.method === 'GET' && !hasBody(req)
}

/** A request whose answer left before its body never closes: the timer ends with the response. */
function cutSlowBody({ req, res }: Asked): false {
  const timer = setTimeout(() => {
    if (!req.complete) req.destroy()
  }, BODY_TIMEOUT)
  timer.unref()
  res.once('close', () => clearTimeout(timer))
  return false
}
