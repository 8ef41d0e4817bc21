import { createHash, timingSafeEqual } from 'node:crypto'
import { H3, type H3Event } from 'h3'
import { DOORS, type LiveDoorId } from '../../src/domain/wire/door-table.ts'
import { listingPath, METRICS_PATH, SECURITY_PATH } from '../../src/domain/wire/links.ts'
import { type LiveRouteId, ROUTES, type StoreRouteId } from '../../src/domain/wire/route-table.ts'
import {
  answerPreflight,
  findAllowedMethods,
  isSellerPath,
  refuseMethod,
  UNCACHED,
} from '../http/answers.ts'
import { type Metrics, NO_METRICS } from '../metrics/metrics.ts'
import type { Handler, Parts } from '../parts/parts.ts'
import type { StoreRoute } from '../parts/store-route.ts'
import { findGone, toGoneProblem, toUnknownText } from '../release/release.ts'
import { createFailureReport } from '../server/node-answers.ts'
import { mountHealth, mountRead } from './health.ts'

/** RFC 9116 §2.5.5: less than a year ahead; a cached copy must stay true while it is kept. */
const VALID_MS = 90 * 86_400_000

const DAY_MS = 86_400_000

const LISTING_PREFIX = listingPath('')

export type DoorHandlers = Record<LiveDoorId, Handler>

/**
 * A handler for each live route but the relay, which needs the raw socket (`call/`). Routes that
 * answer 503 without the store have a type of their own, as in the route table.
 */
export type Handlers = Record<StoreRouteId, StoreRoute> &
  Record<Exclude<LiveRouteId, StoreRouteId | 'call'>, Handler & { needsStore?: never }>

/**
 * The h3 app: a plain `fetch(Request) → Response`. Every dynamic address is in the route table;
 * this mounts it and turns an unexpected failure into a 500 that says nothing.
 */
export function createApp(
  parts: Parts,
  handlers: Partial<Handlers>,
  doors: Partial<DoorHandlers> = {},
  metrics: Metrics = NO_METRICS,
): H3 {
  const report = createFailureReport(parts)
  const app = new H3({
    silent: true,
    allowMalformedURL: true,
    onError: (error) =>
      report('request.failed', error.cause instanceof Error ? error.cause : error.message),
  })
  const stub = createStub(parts)
  for (const [id, route] of Object.entries(ROUTES)) {
    const handler = route.answer === 'stub' ? stub : findHandler(handlers, id)
    if (handler === undefined) continue
    for (const method of route.methods) app.on(method, route.path, handler)
    // Node sends no body after HEAD; a click's HEAD is flagged by its own handler.
    if (route.methods.some((method) => method === 'GET')) app.on('HEAD', route.path, handler)
  }
  // A door answers wrong methods too, in its own protocol.
  for (const [id, handler] of Object.entries(doors)) if (isLiveDoor(id)) mountDoor(app, id, handler)
  mountHealth(app, parts)
  mountSecurityText(app, parts)
  mountMetrics(app, metrics, parts.config.METRICS_TOKEN)
  app.all('/**', createFallback(parts))
  app.use(async (event, next) => {
    const response = await next()
    if (isSellerPath(event.url.pathname) && response instanceof Response)
      response.headers.delete('access-control-allow-origin')
    return response
  })
  return app
}

/** Pages of any origin may ask; MCP judges origins itself, whatever the method. */
function mountDoor(app: H3, id: LiveDoorId, handler: Handler): void {
  const { path, methods } = DOORS[id]
  const allowed = methods[0] === 'GET' ? ['GET', 'HEAD', 'OPTIONS'] : ['POST', 'OPTIONS']
  app.all(path, handler)
  if (id !== 'mcp') app.on('OPTIONS', path, ({ url }) => answerPreflight(url.pathname, allowed))
}

function findHandler(handlers: Partial<Handlers>, id: string): Handler | undefined {
  return Object.entries(handlers).find(([name]) => name === id)?.[1]
}

function isLiveDoor(id: string): id is LiveDoorId {
  return Object.hasOwn(DOORS, id)
}

/** What no route or file answered: 405 with `Allow` where the path exists, else 404. */
function createFallback({ problem, release }: Pick<Parts, 'problem' | 'release'>) {
  return function fallback({ req, url }: H3Event): Response {
    const allowed = findAllowedMethods(url.pathname)
    if (req.method === 'OPTIONS' && allowed.length > 0)
      return answerPreflight(url.pathname, allowed)
    if (allowed.length > 0 && !allowed.includes(req.method))
      return refuseMethod(req.method, allowed, problem)
    const gone = findGone(release(), url.pathname)
    if (gone !== null) return toGoneProblem(gone, url.pathname + url.search, problem)
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
function mountSecurityText(app: H3, { config, clock }: Pick<Parts, 'config' | 'clock'>) {
  const contact = config.MAIL_FROM ?? `security@${new URL(config.BASE_URL).hostname}`
  const answer = () => {
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
  mountRead(app, SECURITY_PATH, answer)
}

/** The specification's roadmap stubs: an honest 501. */
function createStub({ problem }: Pick<Parts, 'problem'>) {
  return (_event: H3Event): Response =>
    problem('not-implemented', {
      detail: 'This endpoint is a roadmap stub. /api/v1/roadmap says what is live.',
    })
}

/**
 * `GET /metrics` for holders of the token. Its errors are plain text, as scrapers show them;
 * without `METRICS_TOKEN` the route does not exist.
 */
function mountMetrics(app: H3, { expose }: Metrics, token: string | undefined): void {
  if (token === undefined || expose === null) return
  const answer = async ({ req }: H3Event): Promise<Response> => {
    if (!isAllowed(req.headers.get('authorization'), token)) return refuse()
    const { contentType, text } = await expose()
    return new Response(text, { headers: { ...UNCACHED, 'Content-Type': contentType } })
  }
  mountRead(app, METRICS_PATH, answer)
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
  const given = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1]
  return given !== undefined && timingSafeEqual(digest(given), digest(token))
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
