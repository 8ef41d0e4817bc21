import { createHash, timingSafeEqual } from 'node:crypto'
import type { H3, H3Event } from 'h3'
import { METRICS_PATH } from '../../src/domain/wire/links.ts'
import type { Metrics } from './metrics.ts'

/**
 * `GET /metrics` for who holds the token. Its errors are plain text, as scrapers show them; without
 * `METRICS_TOKEN` nothing stands here.
 */
export function mountMetrics(app: H3, { expose }: Metrics, token: string | undefined): void {
  if (token === undefined || expose === null) return
  const answer = async ({ req }: H3Event): Promise<Response> => {
    if (!isAllowed(req.headers.get('authorization'), token)) return refuse()
    const { contentType, text } = await expose()
    return new Response(text, { headers: { ...HEADERS, 'Content-Type': contentType } })
  }
  app.get(METRICS_PATH, answer)
  app.on('HEAD', METRICS_PATH, answer)
}

const HEADERS = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' }

function refuse(): Response {
  return new Response('Send the token of METRICS_TOKEN as "Authorization: Bearer <token>".\n', {
    status: 401,
    headers: {
      ...HEADERS,
      'Content-Type': 'text/plain; charset=utf-8',
      'WWW-Authenticate': 'Bearer realm="metrics"',
    },
  })
}

/** Digests are compared: how long that takes says nothing of the token, its length included. */
function isAllowed(authorization: string | null, token: string): boolean {
  const given = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1]
  return given !== undefined && timingSafeEqual(digest(given), digest(token))
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
