import type { H3, H3Event } from 'h3'
import type { Parts } from '../parts/parts.ts'

/** The store must answer a read within this (milliseconds) to count as ready. */
const STORE_DEADLINE_MS = 2_000

const HEADERS = { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' }

/** `GET /healthz`: the process answers. A store that is down is no reason to restart it. */
export function answerHealthz(): Response {
  return new Response('{"status":"ok"}', { headers: HEADERS })
}

/** `GET /readyz`: the store answers too, so a balancer may send requests here. */
export function createReadyz({ ledger, problem }: Pick<Parts, 'ledger' | 'problem'>) {
  return async function readyz(): Promise<Response> {
    const isReady = await isAnswering(() => ledger.store.ping())
    const { written, lost, waiting } = ledger.clicks.tally()
    if (!isReady) {
      return problem('store-unavailable', {
        detail: 'The store does not answer. Pages, search and redirects go on; seller routes wait.',
        extra: { clicks: { written, lost, waiting } },
      })
    }
    const body = { status: 'ok', store: ledger.store.dialect, clicks: { written, lost, waiting } }
    return new Response(JSON.stringify(body), { headers: HEADERS })
  }
}

/** Both, for platforms and balancers; they are no part of the API's route table. */
export function mountHealth(app: H3, parts: Pick<Parts, 'ledger' | 'problem'>): void {
  const readyz = createReadyz(parts)
  const routes: [string, (event: H3Event) => Response | Promise<Response>][] = [
    ['/healthz', answerHealthz],
    ['/readyz', readyz],
  ]
  for (const [path, handler] of routes) {
    app.get(path, handler)
    app.on('HEAD', path, handler)
  }
}

async function isAnswering(ping: () => Promise<void>): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<false>()
  const timer = setTimeout(() => resolve(false), STORE_DEADLINE_MS)
  const answered = ping().then(
    () => true,
    () => false,
  )
  return Promise.race([answered, late]).finally(() => clearTimeout(timer))
}
