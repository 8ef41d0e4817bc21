import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ChosenListings } from '../../src/components/compare/chosen-listings.ts'
import { CHOSEN_PAGE, ON_DEMAND_PAGES } from '../../src/domain/wire/route-table.ts'
import { PAGE_HEADERS } from '../../src/domain/wire/site-headers.ts'
import type { MakeProblem } from '../http/answers.ts'
import type { Config } from '../ports/config.ts'
import { createFairQueue } from '../server/budget.ts'
import type { ReportFailure } from '../server/node-answers.ts'
import { sendResponse } from '../server/node-answers.ts'
import { nodeClientOf, type RateLimits, refusalOf } from '../server/rate-limits.ts'
import { createPageCodeLoader } from './page-code.ts'
import type { Release } from './release.ts'

const { search: _, chosen: __, ...PREPARED } = ON_DEMAND_PAGES
/** Pages whose data is computed before they are rendered. */
type PreparedName = keyof typeof PREPARED
/** Pages whose form posts to the page itself. */
const FORMS = new Set<string>([PREPARED.dashboard, PREPARED.signIn, PREPARED.reported])
const ON_DEMAND = new Set<string>(Object.values(ON_DEMAND_PAGES))

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
  compare,
  prepare,
  report,
}: {
  release: () => Release
  baseUrl: string
  search: NonNullable<App.Locals['search']>
  gate: PageGate
  compare: (target: string) => Promise<ChosenListings>
  prepare: {
    [Name in PreparedName]: (
      req: IncomingMessage,
      res: ServerResponse,
    ) => Promise<NonNullable<App.Locals[Name]>>
  }
  report: ReportFailure
}): OnDemandPages {
  const load = createPageCodeLoader()
  async function answer(req: IncomingMessage, res: ServerResponse, path: string, next: () => void) {
    // Other services are slow: their time is not spent inside the queue, where other pages wait.
    const prepared: Pick<App.Locals, PreparedName> = {}
    for (const [name, find] of Object.entries(prepare))
      if (Reflect.get(PREPARED, name) === path)
        Object.assign(prepared, { [name]: await find(req, res) })
    await gate(req, res, async () => {
      const chosen = path === CHOSEN_PAGE ? await compare(req.url ?? '') : undefined
      await render(req, res, next, { ...prepared, chosen })
    })
  }
  async function render(
    req: IncomingMessage,
    res: ServerResponse,
    next: () => void,
    prepared: Pick<App.Locals, PreparedName | 'chosen'>,
  ) {
    const { pageCode, searchChoices, site: texts } = release()
    const handler = await load(pageCode)
    if (res.destroyed) return
    for (const [name, value] of Object.entries(PAGE_HEADERS)) res.setHeader(name, value)
    const shared = { search, searchChoices, texts, base_url: baseUrl }
    await handler(req, res, () => next(), { ...shared, ...prepared })
  }
  return {
    has: (path) => ON_DEMAND.has(path),
    hasForm: (path) => FORMS.has(path),
    serve(req, res, path, next) {
      if (!takes(path, req.method)) return false
      answer(req, res, path, next).catch((error: unknown) => {
        const failure = report('pages.unavailable', error)
        if (res.headersSent) return void res.destroy()
        return sendResponse(req, res, failure)
      })
      return true
    },
  }
}

function takes(path: string, method: string | undefined): boolean {
  if (!ON_DEMAND.has(path)) return false
  return method === 'GET' || method === 'HEAD' || (method === 'POST' && FORMS.has(path))
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
