import type { IncomingMessage, ServerResponse } from 'node:http'
import type { MakeProblem } from '../http/problem.ts'
import { sendResponse } from '../http/send-response.ts'
import { clientKey } from '../limits/client-key.ts'
import { createFairQueue } from '../limits/fair-queue.ts'
import { type RateLimits, refusalOf } from '../limits/rate-limits.ts'
import type { Config } from '../ports/config.ts'
import type { Release } from './release.ts'

/** Lets a page be rendered when its client may, and when it is its turn. Rejects as `render` does. */
export type PageGate = (
  req: IncomingMessage,
  res: ServerResponse,
  render: () => Promise<void>,
) => Promise<void>

interface GateParts {
  limits: RateLimits
  config: Pick<Config, 'TRUST_PROXY'>
  problem: MakeProblem
  release: () => Pick<Release, 'files'>
}

/** The page that says in words what `rate-limited` means. */
const LIMITED_PAGE = '/problems/rate-limited'

export function createPageGate(parts: GateParts): PageGate {
  const { limits, config, problem } = parts
  const queue = createFairQueue()
  return async function gate(req, res, render) {
    const forwarded = String(req.headers['x-forwarded-for'] ?? '')
    const client = clientKey(req.socket.remoteAddress, forwarded, config.TRUST_PROXY)
    // A store that is down is no reason to show nothing: its counter counts here then.
    const taken = await limits.take('search', client)
    const refusal = refusalOf(taken, problem)
    if (refusal !== null) return refuse(parts, req, res, refusal)
    for (const [name, value] of Object.entries(taken.headers)) res.setHeader(name, value)
    const entered = await queue.run(client, async () => {
      if (!res.destroyed) await render()
    })
    if (entered === 'full')
      await refuse(
        parts,
        req,
        res,
        problem('rate-limited', {
          detail: BUSY,
          headers: { ...taken.headers, 'Retry-After': '1' },
        }),
      )
  }
}

const BUSY = 'Too many pages are being made for this client; try again in a second.'

async function refuse(
  { release }: GateParts,
  req: IncomingMessage,
  res: ServerResponse,
  refusal: Response,
): Promise<void> {
  if (res.destroyed) return
  if (req.headers.accept?.includes('text/html') !== true) return sendResponse(req, res, refusal)
  for (const name of ['retry-after', 'ratelimit', 'ratelimit-policy']) {
    const value = refusal.headers.get(name)
    if (value !== null) res.setHeader(name, value)
  }
  if (!release().files.serveAs(req, res, LIMITED_PAGE, refusal.status))
    await sendResponse(req, res, refusal)
}
