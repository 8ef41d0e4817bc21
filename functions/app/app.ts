import { H3 } from 'h3'
import { DOORS, type LiveDoorId } from '../../src/domain/wire/door-table.ts'
import { type LiveRouteId, ROUTES } from '../../src/domain/wire/route-table.ts'
import { createFailureReport } from '../http/failure.ts'
import { isSellerPath } from '../http/seller-path.ts'
import { type Metrics, NO_METRICS } from '../metrics/metrics.ts'
import { mountMetrics } from '../metrics/metrics-route.ts'
import type { Handler } from '../parts/handler.ts'
import type { Parts } from '../parts/parts.ts'
import { createFallback } from './fallback.ts'
import { mountHealth } from './health.ts'
import { mountSecurityText } from './security-text.ts'
import { createStub } from './stubs.ts'

/** A handler for each live door. */
export type DoorHandlers = Record<LiveDoorId, Handler>

/** A handler for each live route but the relay, which needs the raw socket (`call/`). */
export type Handlers = Record<Exclude<LiveRouteId, 'call'>, Handler>

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
    if (handler !== undefined)
      for (const method of route.methods) app.on(method, route.path, handler)
    // Node sends no body after HEAD; a click's HEAD is flagged by its own handler.
    if (handler !== undefined && route.methods.some((method) => method === 'GET'))
      app.on('HEAD', route.path, handler)
  }
  // A door answers wrong methods too, in its own protocol.
  for (const [id, handler] of Object.entries(doors))
    if (isLiveDoor(id)) app.all(DOORS[id].path, handler)
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

function findHandler(handlers: Partial<Handlers>, id: string): Handler | undefined {
  return Object.entries(handlers).find(([name]) => name === id)?.[1]
}

function isLiveDoor(id: string): id is LiveDoorId {
  return Object.hasOwn(DOORS, id)
}
