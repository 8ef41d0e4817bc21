import type { IncomingMessage, ServerResponse } from 'node:http'
import { PAGE_HEADERS } from '../../src/domain/wire/published-files.ts'
import type { MakeProblem } from '../http/answers.ts'
import type { Config } from '../ports/config.ts'
import { createFairQueue } from '../server/budget.ts'
import { type ReportFailure, sendResponse } from '../server/node-answers.ts'
import { nodeClientOf, type RateLimits, refusalOf } from '../server/rate-limits.ts'
import { createPageCodeLoader } from './page-code.ts'
import type { Release } from './release.ts'

/** A page rendered for each request; every other page is a file. */
export interface Page {
  /** Whether its form posts to the page itself. */
  hasForm?: true
  /** What it shows is for its reader alone. */
  isSecret?: true
  /** Shown without a token where the directory is closed. */
  isOpen?: true
  /** Finds its data before its turn: other services are slow, and other pages wait behind it. */
  prepare?(req: IncomingMessage, res: ServerResponse): Promise<Partial<App.Locals>>
  /** Computes its data in its turn. */
  compute?(target: string): Promise<Partial<App.Locals>>
}

export interface OnDemandPages {
  has(path: string): boolean
  /** Whether a form can be sent to it. */
  hasForm(path: string): boolean
  /** Answers GET and HEAD of such a page, and a form that was sent to it; false leaves the request to the next layer. */
  serve(req: IncomingMessage, res: ServerResponse, path: string, next: () => void): boolean
}

/**
 * Astro's handler of the release being served. It is loaded when first needed. Rendering costs as
 * much as a search, so the limit of searches covers it; pages are made one after another, in turns
 * between clients, and none for a client that has left.
 */
export function createOnDemandPages({
  release,
  baseUrl,
  search,
  gate,
  pages,
  report,
}: {
  release: () => Release
  baseUrl: string
  search: NonNullable<App.Locals['search']>
  gate: PageGate
  pages: ReadonlyMap<string, Page>
  report: ReportFailure
}): OnDemandPages {
  const load = createPageCodeLoader()
  async function answer(req: IncomingMessage, res: ServerResponse, page: Page, next: () => void) {
    const prepared = await page.prepare?.(req, res)
    await gate(req, res, async () => {
      const computed = await page.compute?.(req.url ?? '')
      await render(req, res, next, { ...prepared, ...computed })
    })
  }
  async function render(
    req: IncomingMessage,
    res: ServerResponse,
    next: () => void,
    prepared: Partial<App.Locals>,
  ) {
    const { pageCode, searchChoices, site: texts } = release()
    const handler = await load(pageCode)
    if (res.destroyed) return
    for (const [name, value] of Object.entries(PAGE_HEADERS)) res.setHeader(name, value)
    const shared = { search, searchChoices, texts, base_url: baseUrl }
    await handler(req, res, () => next(), { ...shared, ...prepared })
  }
  return {
    has: (path) => pages.has(path),
    hasForm: (path) => pages.get(path)?.hasForm === true,
    serve(req, res, path, next) {
      const page = pages.get(path)
      if (page === undefined || !takes(page, req.method)) return false
      answer(req, res, page, next).catch((error: unknown) => {
        const failure = report('pages.unavailable', error)
        if (res.headersSent) return void res.destroy()
        return sendResponse(req, res, failure)
      })
      return true
    },
  }
}

function takes({ hasForm }: Page, method: string | undefined): boolean {
  return method === 'GET' || method === 'HEAD' || (method === 'POST' && hasForm === true)
}

/** Renders a page when its client's limit and its turn allow it. Rejects as `render` does. */
type PageGate = (
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

/** The page that explains what `rate-limited` means. */
const LIMITED_PAGE = '/problems/rate-limited'

export function createPageGate(parts: GateParts): PageGate {
  const { limits, config, problem } = parts
  const queue = createFairQueue()
  return async function gate(req, res, render) {
    const client = nodeClientOf(req, config)
    // Pages are shown even when the store is down: requests are then counted in memory.
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
  if (!release().files.serve(req, res, LIMITED_PAGE, refusal.status))
    await sendResponse(req, res, refusal)
}
