import { createHash, timingSafeEqual } from 'node:crypto'
import { H3, type H3Event } from 'h3'
import { listingPath, METRICS_PATH, SECURITY_PATH } from '../../src/domain/wire/links.ts'
import { PROTOCOL_ENDPOINTS } from '../../src/domain/wire/routes.ts'
import { DAY_MS } from '../../src/domain/wire/shapes.ts'
import type { Feature, Handler, Parts } from '../features/feature.ts'
import { answerPreflight, isSellerPath, Refusal, refuseMethod, UNCACHED } from '../http/answers.ts'
import { type Clock, within } from '../ports/clock.ts'
import { toUnknownText } from '../release/release.ts'
import { createFailureReport } from '../server/node-answers.ts'
import type { Store } from '../store/store.ts'
import { createPathTable, type PathTable, type Row } from './paths.ts'
import type { Metrics } from './prometheus.ts'

/** RFC 9116 §2.5.5: less than a year ahead; a cached copy must stay true while it is kept. */
const VALID_MS = 90 * 86_400_000

const LISTING_PREFIX = listingPath('')

/** The path table of these features, with what the service itself answers. */
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
 * into a 500 that says nothing.
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
    if (row.isProtocol && event.req.method === 'OPTIONS' && path !== PROTOCOL_ENDPOINTS.mcp.path) {
      const [method] = row.methods
      return answerPreflight(
        path,
        method === 'GET' ? ['GET', 'HEAD', 'OPTIONS'] : ['POST', 'OPTIONS'],
      )
    }
    event.context.params = paths.paramsOf(row, plain)
    try {
      return await row.answer(event)
    } catch (error) {
      if (error instanceof Refusal) return parts.problem(error.code, error.options)
      throw error
    }
  }
}

/**
 * A protocol answers wrong methods too, in its own terms; MCP judges origins itself, whatever the
 * method. Node sends no body after HEAD; a click's HEAD is flagged by its own handler.
 */
function takes({ methods, isProtocol }: Row, method: string): boolean {
  return isProtocol || methods.includes(method === 'HEAD' ? 'GET' : method)
}

/** What no route or file answered: 405 with `Allow` where the path exists, else 404. */
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
      detail: 'Nothing answers at this path. /openapi.json lists every endpoint.',
    })
  }
}

/**
 * `GET /.well-known/security.txt` (RFC 9116): whom to tell about a vulnerability. The operator's
 * own address is in the environment, so no release can hold it; without one it is RFC 2142's
 * mailbox of the host.
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

/** The specification's roadmap stubs: an honest 501. */
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
  return new Response('Send the token of METRICS_TOKEN as "Authorization: Bearer <token>".\n', {
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

/** The store must answer a read within this (milliseconds) to count as ready. */
const STORE_DEADLINE_MS = 2_000

/** How long a successful write is trusted before the next (milliseconds): anybody may ask. */
const TRUSTED_MS = 1_000

type HealthParts = Pick<Parts, 'ledger' | 'problem' | 'log' | 'clock' | 'release'>

const HEADERS = { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' }

/** `GET /healthz`: the process answers. A store that is down is not a reason to restart it. */
function answerHealthz(): Response {
  return new Response('{"status":"ok"}', { headers: HEADERS })
}

/**
 * `GET /readyz`: the store takes writes too, so a balancer may send requests here; and how old the
 * facts of the release are, for those who build daily.
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
        detail: `${toAdvice(fault)} Pages, search and redirects go on; seller routes wait.`,
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

/** @returns why the store takes no writes; null where it does */
function findFault(ping: Store['ping']): Promise<string | null> {
  return within(STORE_DEADLINE_MS, ping()).then(
    () => null,
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  )
}

/** The driver's message may name hosts and folders: it goes only to the log. */
function toAdvice(fault: string): string {
  return /disk is full|No space left/i.test(fault)
    ? 'The disk of the store is full: make room.'
    : 'The store takes no writes; the log says why.'
}
