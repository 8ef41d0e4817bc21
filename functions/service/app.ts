import { createHash, timingSafeEqual } from 'node:crypto'
import { H3, type H3Event } from 'h3'
import { CALL_PREFIX, listingPath } from '../../src/domain/wire/links.ts'
import { PROTOCOL_ENDPOINTS, ROUTES } from '../../src/domain/wire/routes.ts'
import { DAY_MS } from '../../src/domain/wire/shapes.ts'
import type { Feature, Handler, Parts, RawPath } from '../features/feature.ts'
import { answerFromStore } from '../features/routes.ts'
import { answerPreflight, isSellerPath, Refusal, refuseMethod, UNCACHED } from '../http/answers.ts'
import { type Clock, within } from '../ports/clock.ts'
import type { Page } from '../release/on-demand-pages.ts'
import { toUnknownText } from '../release/release.ts'
import { createFailureReport } from '../server/node-answers.ts'
import type { Store } from '../store/store.ts'
import type { Metrics } from './prometheus.ts'

/** How long the file is valid: less than a year (RFC 9116 §2.5.5), but longer than a copy is cached. */
const VALID_MS = 90 * 86_400_000

const LISTING_PREFIX = listingPath('')

/** For monitoring systems; answered only if a token is set. */
const METRICS_PATH = '/metrics'

/** RFC 9116: the contact for vulnerabilities. The operator's address is known only at run time. */
const SECURITY_PATH = '/.well-known/security.txt'

/** The path table for these features and the service's own answers. */
export function openPaths(
  parts: Parts,
  features: readonly Feature[],
  metrics: Metrics | null = null,
): PathTable {
  const answerMetrics = createMetricsAnswer(metrics, parts.config.METRICS_TOKEN)
  return createPathTable(features, {
    stub: createStub(parts),
    reads: {
      '/healthz': answerHealthz,
      '/readyz': createReadyz(parts),
      [SECURITY_PATH]: createSecurityText(parts),
      ...(answerMetrics !== null && { [METRICS_PATH]: answerMetrics }),
    },
  })
}

/**
 * The h3 app: a plain `fetch(Request) → Response` over the path table. It turns an unexpected failure
 * into a 500 without details.
 */
export function createApp(parts: Parts, paths: PathTable): H3 {
  const report = createFailureReport(parts)
  const app = new H3({
    silent: true,
    allowMalformedURL: true,
    onError: (error) =>
      report('request.failed', error.cause instanceof Error ? error.cause : error.message),
  })
  app.all('/**', createAnswer(parts, paths))
  app.use(async (event, next) => {
    const response = await next()
    if (isSellerPath(event.url.pathname) && response instanceof Response)
      response.headers.delete('access-control-allow-origin')
    return response
  })
  return app
}

function createAnswer(parts: Parts, paths: PathTable): Handler {
  const fallback = createFallback(parts, paths)
  return async function answer(event) {
    const path = event.url.pathname
    const plain = path.endsWith('/') ? path.slice(0, -1) : path
    const row = paths
      .find(plain)
      .find((each) => each.answer !== undefined && takes(each, event.req.method))
    if (row?.answer === undefined) return fallback(event)
    const own = row.answer
    if (row.isProtocol && event.req.method === 'OPTIONS' && path !== PROTOCOL_ENDPOINTS.mcp.path) {
      const [method] = row.methods
      return answerPreflight(
        path,
        method === 'GET' ? ['GET', 'HEAD', 'OPTIONS'] : ['POST', 'OPTIONS'],
      )
    }
    event.context.params = paths.paramsOf(row, plain)
    try {
      return await (row.needsStore ? answerFromStore(parts, event, own) : own(event))
    } catch (error) {
      if (error instanceof Refusal) return parts.problem(error.code, error.options)
      throw error
    }
  }
}

/**
 * Whether a row answers a method. A protocol also answers wrong methods, in its own form; MCP judges origins
 * itself for every method. Node sends no body after HEAD; the click handler flags its HEAD requests itself.
 */
function takes({ methods, isProtocol }: Row, method: string): boolean {
  return isProtocol || methods.includes(method === 'HEAD' ? 'GET' : method)
}

/** Answers requests that have no route or file: 405 with `Allow` if the path exists, otherwise 404. */
function createFallback(
  { problem, release }: Pick<Parts, 'problem' | 'release'>,
  paths: PathTable,
) {
  return function fallback({ req, url }: H3Event): Response {
    const allowed = paths.methodsOf(url.pathname)
    if (req.method === 'OPTIONS' && allowed.length > 0)
      return answerPreflight(url.pathname, allowed)
    if (allowed.length > 0 && !allowed.includes(req.method))
      return refuseMethod(req.method, allowed, problem)
    if (url.pathname.startsWith(LISTING_PREFIX)) {
      const id = url.pathname.slice(LISTING_PREFIX.length)
      return problem('listing-not-found', { detail: toUnknownText(release(), id) })
    }
    return problem('not-found', {
      detail: 'There is nothing at this path. /openapi.json lists every endpoint.',
    })
  }
}

/**
 * `GET /.well-known/security.txt` (RFC 9116): the contact for vulnerabilities. The operator's
 * address is in the environment, so no release can contain it; without an address, the contact is
 * the host's mailbox according to RFC 2142.
 */
function createSecurityText({ config, clock }: Pick<Parts, 'config' | 'clock'>): Handler {
  const contact = config.MAIL_FROM ?? `security@${new URL(config.BASE_URL).hostname}`
  return () => {
    const end = Math.floor((clock.now() + VALID_MS) / DAY_MS) * DAY_MS
    const lines = [
      `Contact: mailto:${encodeURI(contact)}`,
      `Expires: ${new Date(end).toISOString()}`,
      'Preferred-Languages: en',
      `Canonical: ${config.BASE_URL}${SECURITY_PATH}`,
    ]
    return new Response(`${lines.join('\n')}\n`, {
      headers: {
        ...UNCACHED,
        'Content-Type': 'text/plain; charset=utf-8',
        'Cache-Control': 'public, max-age=86400',
      },
    })
  }
}

/** The specification's roadmap stubs answer 501. */
function createStub({ problem }: Pick<Parts, 'problem'>): Handler {
  return () =>
    problem('not-implemented', {
      detail: 'This endpoint is a roadmap stub. /api/v1/roadmap says what is live.',
    })
}

/**
 * `GET /metrics` for holders of the token. Its errors are plain text, as scrapers show them;
 * without `METRICS_TOKEN` the route does not exist.
 */
function createMetricsAnswer(metrics: Metrics | null, token: string | undefined): Handler | null {
  if (token === undefined || metrics === null) return null
  return async ({ req }) => {
    if (!isAllowed(req.headers.get('authorization'), token)) return refuse()
    const { contentType, text } = await metrics.expose()
    return new Response(text, { headers: { ...UNCACHED, 'Content-Type': contentType } })
  }
}

function refuse(): Response {
  return new Response('Send the value of METRICS_TOKEN as "Authorization: Bearer <token>".\n', {
    status: 401,
    headers: {
      ...UNCACHED,
      'Content-Type': 'text/plain; charset=utf-8',
      'WWW-Authenticate': 'Bearer realm="metrics"',
    },
  })
}

/** Digests are compared, so timing reveals nothing about the token, not even its length. */
function isAllowed(authorization: string | null, token: string): boolean {
  const sent = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1]
  return sent !== undefined && timingSafeEqual(digest(sent), digest(token))
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

/** The store must accept a write within this time to be considered ready (milliseconds). */
const STORE_DEADLINE_MS = 2_000

/** How long a successful test write is trusted (milliseconds), because anybody may request `/readyz`. */
const TRUSTED_MS = 1_000

type HealthParts = Pick<Parts, 'ledger' | 'problem' | 'log' | 'clock' | 'release'>

const HEADERS = { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' }

/** `GET /healthz`: the process answers. A store that is down is no reason to restart it. */
function answerHealthz(): Response {
  return new Response('{"status":"ok"}', { headers: HEADERS })
}

/**
 * `GET /readyz`: whether the store also accepts writes, so that a balancer may send requests here;
 * and how old the release's facts are, for operators who build daily.
 */
export function createReadyz({ ledger, problem, log, clock, release }: HealthParts) {
  const findFault = createStoreCheck(() => ledger.store.ping(), clock)
  let logged: string | null = null
  return async function readyz(): Promise<Response> {
    const fault = await findFault()
    if (fault !== null && fault !== logged) log.error('store.not_ready', { reason: fault })
    logged = fault
    const { written, lost, waiting } = ledger.clicks.tally()
    if (fault !== null) {
      return problem('store-unavailable', {
        detail: `${toAdvice(fault)} Pages, search and redirects still work; sellers must try again later.`,
        extra: { clicks: { written, lost, waiting } },
      })
    }
    const { ages } = release().searchChoices
    const clicks = { written, lost, waiting }
    const body = { status: 'ok', store: ledger.store.dialect, clicks, ages }
    return new Response(JSON.stringify(body), { headers: HEADERS })
  }
}

function createStoreCheck(ping: Store['ping'], clock: Clock) {
  let requested: Promise<string | null> | null = null
  let tookWriteAt = Number.NEGATIVE_INFINITY
  const ask = async () => {
    const fault = await findFault(ping)
    requested = null
    if (fault === null) tookWriteAt = clock.now()
    return fault
  }
  return async (): Promise<string | null> => {
    const age = clock.now() - tookWriteAt
    if (age >= 0 && age < TRUSTED_MS) return null
    requested ??= ask()
    return requested
  }
}

/** @returns why the store accepts no writes; null if it does */
function findFault(ping: Store['ping']): Promise<string | null> {
  return within(STORE_DEADLINE_MS, ping()).then(
    () => null,
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  )
}

/** The driver's message may name hosts and folders: it goes only to the log. */
function toAdvice(fault: string): string {
  return /disk is full|No space left/i.test(fault)
    ? 'The store’s disk is full: free some space.'
    : 'The store accepts no writes; the reason is in the log.'
}

/** The handler for an address, and facts needed before it is called. */
export interface Row {
  /** The name in metrics: the route's id in the domain's tables. */
  label?: string
  methods: readonly string[]
  /** Absent for a file, and for rows that only have a page or a raw path. */
  answer?: Handler
  needsStore?: boolean
  raw?: RawPath
  page?: Page
  /** Answers wrong methods and every error itself, in another protocol's terms. */
  isProtocol?: boolean
  /** The answer may contain what only its reader may see, or a seller's words. */
  isSecret?: boolean
  /** Answered without a token even if the directory is closed. */
  isOpen?: boolean
}

/** A row with the pattern of its path. */
interface Placed extends Row {
  pattern: RegExp
  names: readonly string[]
}

export type PathTable = ReturnType<typeof createPathTable>

/** What the service itself answers. */
interface OwnAnswers {
  /** GET routes for platforms and balancers, which no table of the interface lists. */
  reads: Readonly<Record<string, Handler>>
  /** Answers planned routes. */
  stub: Handler
}

/**
 * Every address of the service that is not a file: fixed paths in a map, patterns by their first segment.
 * Routes and protocols come from the domain; pages and raw paths come from the features.
 */
export function createPathTable(features: readonly Feature[], own: OwnAnswers) {
  const fixed = new Map<string, Placed[]>()
  const patterns = new Map<string, Placed[]>()
  for (const { path, ...row } of toRows(features, own)) {
    const isFixed = !path.includes('/:') && !path.endsWith('/')
    const [rows, key] = isFixed ? [fixed, path] : [patterns, segmentOf(path)]
    rows.set(key, [...(rows.get(key) ?? []), { ...row, ...toPattern(path) }])
  }
  const find = (path: string): readonly Row[] =>
    fixed.get(path) ??
    (patterns.get(segmentOf(path)) ?? []).filter(({ pattern }) => pattern.test(path))
  return {
    find,
    /** Pages, files and unknown paths share the name `page`. */
    labelOf: (path: string) => find(path).find(({ label }) => label !== undefined)?.label ?? 'page',
    /** Values of the parameters in the row's pattern, not decoded. */
    paramsOf(row: Row, path: string): Record<string, string> {
      const { pattern, names = [] }: Partial<Placed> = row
      const parts = pattern?.exec(path) ?? []
      return Object.fromEntries(names.map((name, at) => [name, parts[at + 1] ?? '']))
    },
    /**
     * Methods that routes accept at this path; empty if no route has it. HEAD is accepted wherever
     * GET is, except by the relay, because a seller may treat HEAD as an unpaid GET.
     */
    methodsOf(path: string): string[] {
      const routes = find(path).filter((row) => row.isProtocol !== true && row.page === undefined)
      const methods = new Set(routes.flatMap((row) => row.methods))
      if (methods.has('GET') && !path.startsWith(CALL_PREFIX)) methods.add('HEAD')
      if (methods.size > 0) methods.add('OPTIONS')
      return [...methods]
    },
  }
}

type PathRow = Row & { path: string }

function toRows(features: readonly Feature[], { reads, stub }: OwnAnswers): PathRow[] {
  const answers = new Map(features.flatMap(({ routes = {} }) => Object.entries(routes)))
  const raw = new Map(features.flatMap(({ paths = [] }) => paths.map((each) => [each.path, each])))
  const ofId = (id: string, planned?: Handler): Pick<Row, 'answer'> => {
    const answer = answers.get(id) ?? planned
    return answer === undefined ? {} : { answer }
  }
  const rows = [
    ...Object.entries(ROUTES).map(([id, route]) => ({
      // The relay answers below its address as well.
      path: id === 'call' ? CALL_PREFIX : route.path,
      label: id,
      methods: route.methods,
      isOpen: 'isOpen' in route,
      needsStore: 'needs' in route,
      ...ofId(id, route.answer === 'stub' ? stub : undefined),
    })),
    ...Object.entries(PROTOCOL_ENDPOINTS).map(([id, { path, methods, protocol }]) => ({
      ...{ path, methods, label: id, ...ofId(id) },
      // Feeds and Markdown pages follow no foreign protocol, so our own rules refuse wrong methods.
      isProtocol: answers.has(id) && !['Feeds', 'Markdown'].includes(protocol),
      isSecret: id === 'mcp',
    })),
    ...Object.entries(reads).map(([path, answer]) => ({
      ...{ path, methods: ['GET'], answer },
      isOpen: path === '/healthz' || path === METRICS_PATH,
    })),
    ...features.flatMap(({ pages = {} }) =>
      Object.entries(pages).map(([path, page]) => ({ path, ...toPageRow(page) })),
    ),
  ]
  return rows.map((row) => {
    const own = raw.get(row.path)
    return own === undefined ? row : { ...row, raw: own }
  })
}

function toPageRow(page: Page): Row {
  return {
    page,
    methods: page.hasForm ? ['GET', 'POST'] : ['GET'],
    isSecret: page.isSecret === true,
    isOpen: page.isOpen === true,
  }
}

function segmentOf(path: string): string {
  const end = path.indexOf('/', 1)
  return end === -1 ? path : path.slice(0, end)
}

/** @example toPattern('/go/:listing_id') → { pattern: /^\/go\/([^/]+)$/, names: ['listing_id'] } */
function toPattern(path: string): Pick<Placed, 'pattern' | 'names'> {
  const source = path.replaceAll('.', '\\.').replace(/:\w+/g, '([^/]+)')
  const pattern = new RegExp(path.endsWith('/') ? `^${source}` : `^${source}$`)
  return { pattern, names: [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name) }
}
