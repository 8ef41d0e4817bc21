import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http'
import { toNodeHandler } from 'h3'
import { isSwitchedOff } from '../../src/domain/derived/tables.ts'
import { type Gone, gonePagePath, toGoneText } from '../../src/domain/listing/listing-states.ts'
import { PROXY_NAME, valuesOf } from '../../src/domain/relay/relayed-headers.ts'
import { badgeDataPath, badgePath, CALL_PREFIX } from '../../src/domain/wire/links.ts'
import { SHORT_CACHE, toTransportHeaders } from '../../src/domain/wire/published-files.ts'
import { CHOSEN_PAGE, markdownPathOf } from '../../src/domain/wire/routes.ts'
import type { Feature, Parts, RawPath } from '../features/feature.ts'
import {
  answerPreflight,
  isSellerPath,
  type MakeProblem,
  publicJson,
  refuseMethod,
} from '../http/answers.ts'
import { withRequestId } from '../ports/log.ts'
import type { createOnDemandPages } from '../release/on-demand-pages.ts'
import type { Release } from '../release/release.ts'
import { hashSecret, SECRET_PATTERN } from '../sellers/sign-in.ts'
import {
  createSlowReaders,
  type NodeHandler,
  type ReadLimits,
  serializeRequests,
} from '../server/connections.ts'
import {
  compressAnswer,
  createFailureReport,
  findRequestFault,
  hasBody,
  isRefusedByPage,
  type RequestFault,
  sendResponse,
  splitTarget,
  takeHead,
  wantsPage,
} from '../server/node-answers.ts'
import { withPatience } from '../store/store.ts'
import { createApp, openPaths, type PathTable, type Row } from './app.ts'
import type { Metrics } from './prometheus.ts'

/** Addresses of a single listing, by the prefix before its id. */
const PLACES = '/api/v1/listings/ /api/v1/call/ /listing/ /badge/ /go/ /gone/'.split(' ')

type RequestQueue = ReturnType<typeof serializeRequests>

type OnDemandPages = ReturnType<typeof createOnDemandPages>

interface Layers {
  parts: Parts
  features: readonly Feature[]
  /** Renders the pages of the features. */
  pages?: OnDemandPages
  metrics?: Metrics | null
}

/** Time within which a body sent to our own endpoints must arrive (milliseconds). */
const BODY_TIMEOUT = 60_000
/** A page that is a file if requested without a query, and rendered if requested with one. */
const COMPARE_PAGE = '/compare'
/** The methods of pages and files; a file's OPTIONS is answered by the file handler. */
const READ_METHODS = ['GET', 'HEAD', 'OPTIONS']

interface Request {
  req: IncomingMessage
  res: ServerResponse
  path: string
  query: string
  rows: readonly Row[]
  raw: RawPath | undefined
  /** The answer may contain what only this caller may see. */
  isSecret: boolean
}

/** Passes each request to the handler for its address; requests on one connection stay in order. */
function createRequestHandler(layers: Layers): NodeHandler {
  const { parts, features, metrics = null } = layers
  const isProxied = parts.config.TRUST_PROXY > 0
  const paths = openPaths(parts, features, metrics)
  const answer = createAnswer(layers, paths)
  const enter = createAccessGate(parts, paths, (req, res) => {
    const { path, query } = splitTarget(req.url ?? '/')
    metrics?.watch(req.method ?? '', paths.labelOf(path), res)
    const rows = paths.find(path)
    // A route also answers at its address with a slash at the end.
    const found = rows.length > 0 ? rows : paths.find(path.replace(/\/$/, ''))
    const raw = found.find((row) => row.raw !== undefined)?.raw
    const isSecret = isSellerPath(path) || found.some((row) => row.isSecret === true)
    answer({ req, res, path, query, rows, raw, isSecret })
  })
  return (req, res) => {
    const sent = isProxied ? req.headers['x-request-id'] : undefined
    return withRequestId(typeof sent === 'string' ? sent : null, () => enter(req, res))
  }
}

/**
 * The order of handlers for every request: the relay, which gets untouched bytes; then refusals; then the
 * search; then functions, files and pages. The app comes last: it answers everything else, errors
 * included.
 */
function createAnswer({ parts, pages }: Layers, paths: PathTable) {
  const { problem, release } = parts
  const transport = Object.entries(toTransportHeaders(parts.config.BASE_URL))
  const app = toNodeHandler(createApp(parts, paths))
  const report = createFailureReport(parts)
  const toApp = (request: Request) => {
    compress(request)
    return answered(app(request.req, request.res))
  }
  return function answer(request: Request): void {
    const { req, res, query, raw } = request
    const fault = findRequestFault(req)
    if (raw?.isBare === true && fault === null) {
      // The handler's own timeouts apply from here: a seller may take longer than a connection may be idle.
      req.socket.setTimeout(0)
      return void raw.answer(req, res, query)
    }
    for (const [name, value] of transport) res.setHeader(name, value)
    if (fault !== null) return void refuseFault(request, fault, problem)
    if (answerSwitchedOff(request, release(), problem)) return
    cutSlowBody(request)
    if (raw !== undefined && (req.method === 'GET' || req.method === 'HEAD')) {
      compress(request)
      return void raw
        .answer(req, res, query)
        .catch((error: unknown) => sendResponse(req, res, report('request.failed', error)))
    }
    if (answerGone(request, release(), problem)) return
    if (isForFunction(request, release()) || !answerStored(request)) toApp(request)
  }

  /** Files, and pages rendered on request. */
  function answerStored(request: Request): boolean {
    const { req, res, path } = request
    const { files } = release()
    nameChosenPage(request)
    if (files.serve(req, res, request.path)) return true
    if (pages?.has(request.path) === true) {
      compress(request)
      if (pages.serve(req, res, request.path, () => toApp(request))) return true
    }
    if (refuseOtherMethods(request, { paths, problem, pages, files })) return true
    const isUnknown = wantsPage(req, path) && paths.methodsOf(path).length === 0
    return isUnknown && files.serve(req, res, '/404.html', 404)
  }
}

/** Compresses only answers made for the request: files have compressed copies already. */
function compress({ req, res, isSecret }: Request): void {
  if (compressed.has(res)) return
  compressed.add(res)
  if (!isSecret) compressAnswer(req, res)
}
const compressed = new WeakSet<ServerResponse>()

function answered(_answer: unknown): true {
  return true
}

function refuseFault({ req, res, path }: Request, fault: RequestFault, problem: MakeProblem) {
  res.shouldKeepAlive = false
  return sendResponse(req, res, toFaultProblem(fault, path.startsWith(CALL_PREFIX), problem))
}

/** A feature that this directory has switched off answers as if it had never existed. */
function answerSwitchedOff(
  { req, res, path }: Request,
  { site, files }: Release,
  problem: MakeProblem,
): boolean {
  if (!isSwitchedOff(path, site.switches)) return false
  if (wantsPage(req, path) && files.serve(req, res, '/404.html', 404)) return true
  return answered(
    sendResponse(req, res, problem('not-found', { detail: `There is nothing at ${path}.` })),
  )
}

/** 308 if the listing moved; otherwise 410, as a page for browsers and as a problem for other clients. */
function answerGone({ req, res, path }: Request, release: Release, problem: MakeProblem): boolean {
  const gone = findGone(release, path)
  if (gone === null) return false
  const hasPage = gone.moved_to === undefined && wantsPage(req, path)
  if (hasPage && release.files.serve(req, res, gonePagePath(gone.id), 410)) return true
  return answered(sendResponse(req, res, toGoneProblem(gone, req.url ?? path, problem)))
}

/**
 * 308 to the same address of a listing that has a new id; 410 with the reason and any replacement if the
 * listing was removed.
 * @param target path and query of the request
 */
function toGoneProblem(gone: Gone, target: string, problem: MakeProblem): Response {
  const { id, moved_to } = gone
  const answer = { detail: toGoneText(gone), extra: { ...gone } }
  if (moved_to === undefined) return problem('listing-gone', answer)
  const location = target.replace(id, moved_to).replace(/^\/gone\//, '/listing/')
  const headers = { Location: location, 'Cache-Control': SHORT_CACHE }
  return problem('listing-moved', { ...answer, headers })
}

/** The removed listing at an address; null if no listing was removed there. */
function findGone({ gone, listings }: Release, path: string): Gone | null {
  for (const id of listingOfPath(path)) {
    const found = gone.get(id)
    if (found !== undefined && !listings.has(id)) return found
  }
  return null
}

/** Gives the page of chosen listings its own name, because its address is that of the comparison list. */
function nameChosenPage(request: Request): void {
  if (request.path === CHOSEN_PAGE) request.path = ''
  if (request.path !== COMPARE_PAGE || request.query === '') return
  request.req.url = `${CHOSEN_PAGE}?${request.query}`
  request.path = CHOSEN_PAGE
}

/** An error of ours on the relay's path is marked as ours, however early it occurs. */
function toFaultProblem(
  { code, detail }: RequestFault,
  isCall: boolean,
  problem: MakeProblem,
): Response {
  const proxyStatus = { 'Proxy-Status': `${PROXY_NAME}; error=http_request_error` }
  return problem(code, { detail, ...(isCall && { headers: proxyStatus }) })
}

/**
 * If a file and a function share an address, the function answers requests with a query. Protocols
 * answer every method and error themselves; a listing id may end in `.json`, and then the address
 * means its page. A page may be requested as Markdown.
 */
function isForFunction({ req, path, query, rows }: Request, { files }: Release): boolean {
  const row = rows.find(({ answer }) => answer !== undefined)
  if (row !== undefined && (!files.has(path) || (query !== '' && row.isProtocol !== true)))
    return true
  const markdown = markdownPathOf(path)
  if (markdown === null || !prefersMarkdown(req.headers.accept)) return false
  if (req.method !== 'GET' && req.method !== 'HEAD') return false
  req.url = markdown
  return true
}

interface Context {
  paths: PathTable
  problem: MakeProblem
  pages: OnDemandPages | undefined
  files: Release['files']
}

/** Refuses other methods for a file or page; false if a function handles this method. */
function refuseOtherMethods({ req, res, path }: Request, context: Context): boolean {
  const { paths, problem, pages, files } = context
  if (!files.has(path) && pages?.has(path) !== true) return false
  const { method = '' } = req
  const more = pages?.hasForm(path) === true ? ['POST'] : []
  const allowed = [...new Set([...READ_METHODS, ...more, ...paths.methodsOf(path)])]
  if (method === 'OPTIONS') return answered(sendResponse(req, res, answerPreflight(path, allowed)))
  if (allowed.includes(method)) return false
  return answered(sendResponse(req, res, refuseMethod(method, allowed, problem)))
}

/** A request that was answered before its body arrived never closes: the timer ends with the response. */
function cutSlowBody({ req, res }: Request): void {
  if (!hasBody(req)) return
  const timer = setTimeout(() => {
    if (!req.complete) req.destroy()
  }, BODY_TIMEOUT)
  timer.unref()
  res.once('close', () => clearTimeout(timer))
}

interface ServerLayers extends Layers {
  /** How fast answers must be read. */
  readLimits?: ReadLimits
  /** How long a connection may be idle while it is answered (milliseconds). */
  stillMs?: number
}

/** Bytes of request headers: payment headers of 128 KiB, and room for the other fields. */
const MAX_HEADER_BYTES = 160 * 1024
/** Slow senders (milliseconds): time for headers, and how often Node checks. */
const HEADERS_TIMEOUT = 10_000
const CHECK_INTERVAL = 500
const KEEP_ALIVE_TIMEOUT = 65_000

/** One process: functions, compiled files, pages rendered on demand. */
export function createWaypostServer(layers: ServerLayers): Server {
  const options = {
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: HEADERS_TIMEOUT,
    // Node's timeout covers the whole body, but a relayed upload may take longer as long as bytes
    // arrive; the relay has its own timeout for stalled uploads.
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
  // The size of the headers is limited; a limit on their number would silently drop lines.
  server.maxHeadersCount = 0
  answerUnreadable(server, turns, layers.parts)
  return server
}

/**
 * A request that could not be parsed has no response object, or no usable one if its body breaks, so the
 * answer is written as raw bytes.
 */
function answerUnreadable(server: Server, turns: RequestQueue, { problem, config }: Parts): void {
  const transport = toTransportHeaders(config.BASE_URL)
  const answered = new WeakSet<object>()
  server.on('clientError', (error, socket) => {
    const code = 'code' in error ? error.code : undefined
    // After the first unreadable byte, the parser reports every later byte as another error.
    if (answered.has(socket)) return
    if (!socket.writable || code === 'ECONNRESET') return void socket.destroy()
    // Browsers open connections in advance. An unprompted answer would be taken for the answer to
    // the first request on such a connection.
    const isUnused = 'bytesRead' in socket && socket.bytesRead === 0
    if (code === 'ERR_HTTP_REQUEST_TIMEOUT' && isUnused) return void socket.destroy()
    const fault = toUnreadable(error)
    answered.add(socket)
    turns.breakOff(socket, (requested) => {
      const isCall = (requested?.url ?? fault.target).startsWith(CALL_PREFIX)
      const response = toFaultProblem(fault, isCall, problem)
      for (const [name, value] of Object.entries(transport)) response.headers.set(name, value)
      return toRawAnswer(response)
    })
  })
}

/** What is known about a request that could not be parsed and therefore has no request object. */
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
    'The body could not be read: Transfer-Encoding is chunked, so each chunk must begin with its length in hexadecimal digits and a line end.',
  ],
])

/** @param error the error from Node's `clientError` event */
function toUnreadable(error: Error): Unreadable {
  const detail = DETAILS.get('code' in error ? error.code : undefined)
  return {
    code: 'malformed-request',
    detail: detail ?? 'The request could not be read as HTTP/1.1.',
    target: targetOf(error),
  }
}

/** Node keeps the bytes that broke the parser; they include the request line unless it came earlier. */
function targetOf(error: Error): string {
  const packet = 'rawPacket' in error ? error.rawPacket : undefined
  if (!Buffer.isBuffer(packet)) return ''
  const line = packet.subarray(0, 1024).toString('latin1').split('\r\n', 1)[0] ?? ''
  return /^[A-Z]{1,16} (\S+)/.exec(line)?.[1] ?? ''
}

/** The answer as raw text, for connections without a response object. */
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

/** Whether Accept rates Markdown at least as high as HTML; false for `*` and without a header. */
export function prefersMarkdown(accept: string | null | undefined): boolean {
  if (accept === null || accept === undefined || !accept.includes('markdown')) return false
  const quality = (type: string) => {
    const range = accept.split(',').find((part) => part.split(';')[0]?.trim() === type)
    if (range === undefined) return 0
    const given = /;\s*q=([\d.]+)/.exec(range)?.[1]
    return given === undefined ? 1 : Number(given)
  }
  const markdown = quality('text/markdown')
  return markdown > 0 && markdown >= quality('text/html')
}

/** How long a token check is cached, so a revoked token may still work for that long (milliseconds). */
const KNOWN_MS = 5_000
const MOST_KNOWN = 10_000

/** The sign-in page's files, which reveal no content. Other open paths are marked in their rows. */
const OPEN_FILES = new Set(['/favicon.svg', '/colours.css'])

/**
 * `READ_ACCESS=token`: nothing is served without a token from `npm run access`, sent as a bearer
 * token or as the password that a browser prompts for. `Proxy-Authorization` leaves `Authorization`
 * free for a seller called through the relay; the token itself never gets past this gate.
 */
function createAccessGate(parts: Parts, paths: PathTable, enter: NodeHandler): NodeHandler {
  const { config, release } = parts
  if (config.READ_ACCESS === 'open') return enter
  const isValid = createTokenCheck(parts)
  const isOpen = (path: string) =>
    OPEN_FILES.has(path) ||
    paths.find(path).some((row) => row.isOpen === true) ||
    // Only a file's exact address passes: "/_astro/../api" has the same prefix.
    (path.startsWith('/_astro/') && release().files.has(path)) ||
    release().site.public_badges.some((id) => path === badgePath(id) || path === badgeDataPath(id))
  return (req, res) => {
    const { path } = splitTarget(req.url ?? '')
    if (isOpen(path)) return enter(req, res)
    keepFromCaches(res)
    const token = takeToken(req)
    const judged = token === null ? Promise.resolve(false) : isValid(token)
    judged.then(
      (isKnown) => (isKnown ? enter(req, res) : refuse(parts, req, res, { path, paths })),
      () =>
        sendResponse(
          req,
          res,
          parts.problem('store-unavailable', { detail: 'Tokens cannot be checked now.' }),
        ),
    )
  }
}

function createTokenCheck({ ledger, clock }: Pick<Parts, 'ledger' | 'clock'>) {
  const known = new Map<string, number>()
  return async (token: string): Promise<boolean> => {
    const hash = hashSecret(token)
    const now = clock.now()
    if ((known.get(hash) ?? 0) > now) return true
    const query = ledger.store.db
      .selectFrom('access_token')
      .select('expires_at')
      .where('token_hash', '=', hash)
    const row = await withPatience(() => query.executeTakeFirst())
    if (row === undefined || (row.expires_at !== null && row.expires_at <= now)) return false
    if (known.size >= MOST_KNOWN) known.clear()
    known.set(hash, Math.min(now + KNOWN_MS, row.expires_at ?? Number.POSITIVE_INFINITY))
    return true
  }
}

/** The page on which the operator explains how to get a token. */
const ACCESS_PAGE = '/problems/token-required'

const CREDENTIALS = ['proxy-authorization', 'authorization'] as const

/**
 * A request's token. Every header line that contains the token is removed, in either field and
 * however often it occurs, so that neither a log nor a seller sees it.
 */
function takeToken(req: IncomingMessage): string | null {
  const { rawHeaders } = req
  const lines = CREDENTIALS.flatMap((name) => valuesOf(rawHeaders, name).map(readToken))
  const token = lines.find((line) => SECRET_PATTERN.test(line))
  if (token === undefined) return null
  for (let at = rawHeaders.length - 2; at >= 0; at -= 2) {
    const name = CREDENTIALS.find((each) => each === rawHeaders[at]?.toLowerCase())
    const value = rawHeaders[at + 1] ?? ''
    if (name === undefined || !(readToken(value) === token || value.includes(token))) continue
    rawHeaders.splice(at, 2)
    delete req.headers[name]
  }
  return token
}

/** @example readToken('Basic ' + btoa('anybody:secret')) → 'secret' */
function readToken(header: string): string {
  const [, scheme = '', value = ''] = /^(bearer|basic) +(\S+)$/i.exec(header) ?? []
  if (scheme.toLowerCase() === 'bearer') return value
  return /:(.*)$/.exec(Buffer.from(value, 'base64').toString('latin1'))?.[1] ?? ''
}

function refuse(
  { config, problem, release }: Parts,
  req: IncomingMessage,
  res: ServerResponse,
  { path, paths }: { path: string; paths: PathTable },
) {
  const isProtocol = paths.find(path).some((row) => row.isProtocol === true)
  const realm = `realm="${release().site.short_name}"`
  const basic = `Basic ${realm}, charset="UTF-8"`
  // A browser reads only the first challenge in a line, and prompts for a password if that challenge is Basic.
  const isBrowser = req.headers.accept?.includes('text/html') === true
  const headers = {
    ...toTransportHeaders(config.BASE_URL),
    'WWW-Authenticate': isBrowser ? basic : `Bearer ${realm}, ${basic}`,
  }
  const detail =
    'This directory is closed: send a token from its operator as "Authorization: Bearer <token>".'
  if (isRefusedByPage(req, path) && !isProtocol) {
    for (const [name, value] of Object.entries(headers)) res.setHeader(name, value)
    if (release().files.serve(req, res, ACCESS_PAGE, 401)) return
  }
  const isArd = path.startsWith('/ard/')
  const body = isArd ? { errorCode: 'UNAUTHENTICATED', message: detail } : { error: detail }
  const refusal = isProtocol
    ? publicJson(body, headers, 401)
    : problem('token-required', { detail, headers })
  return sendResponse(req, res, refusal)
}

const CACHE_FIELDS = /^(?:cache-control|cdn-cache-control|surrogate-control|expires)$/i
const CLOSED = 'private, no-store'

/** No cache may hold this answer, whatever code writes its head. */
function keepFromCaches(res: ServerResponse): void {
  const { writeHead } = res
  const closed = (status: number, ...given: unknown[]) => {
    takeHead(res, status, given)
    for (const name of res.getHeaderNames()) if (CACHE_FIELDS.test(name)) res.removeHeader(name)
    res.setHeader('Cache-Control', CLOSED)
    return Reflect.apply(writeHead, res, [status])
  }
  Reflect.set(res, 'writeHead', closed)
}

/** Possible ids: an id may have dots. @example listingOfPath('/badge/x402.a.svg') → ['x402.a.svg', 'x402.a'] */
function listingOfPath(path: string): string[] {
  const place = PLACES.find((each) => path.startsWith(each))
  if (place === undefined) return []
  const rest = path.slice(place.length).replace(/\/kit\.json$/, '')
  const bare = rest.replace(/\.(?:svg|png|json|md)$/, '')
  return bare === rest ? [rest] : [rest, bare]
}
