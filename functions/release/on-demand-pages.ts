import type { IncomingMessage, ServerResponse } from 'node:http'
import type { DisputePage } from '../../src/domain/disputes/dispute.ts'
import type { CheckAnswer } from '../../src/domain/lint/lint-report.ts'
import type { ProposePage } from '../../src/domain/proposals/proposal-views.ts'
import { CHOSEN_PAGE } from '../../src/domain/wire/route-table.ts'
import { PAGE_HEADERS } from '../../src/domain/wire/site-headers.ts'
import type { ChosenListings } from '../../src/site/compare/chosen-listings.ts'
import type { ReportFailure } from '../http/failure.ts'
import { sendResponse } from '../http/send-response.ts'
import { createPageCodeLoader, type PageLocals } from './page-code.ts'
import type { PageGate } from './page-gate.ts'
import type { Release } from './release.ts'

/** Only these are rendered for each request; every other page is a file. */
const CHECK_PATH = '/sellers/check'
const PROPOSE_PATH = '/propose'
const DISPUTE_PATH = '/dispute'
/** Pages whose form is sent to themselves. */
const FORMS = new Set([PROPOSE_PATH, DISPUTE_PATH])
const ON_DEMAND = new Set(['/search', CHECK_PATH, ...FORMS, CHOSEN_PAGE])

export interface OnDemandPages {
  has(path: string): boolean
  /** Answers GET and HEAD of such a page, and a form that was sent to it; false leaves the request to the next layer. */
  serve(req: IncomingMessage, res: ServerResponse, path: string, next: () => void): boolean
}

/**
 * Astro's handler of the release being served. It is loaded when first needed. Rendering is work as a
 * search is, so the limit of searches covers it; pages are made one after another, in turns between
 * clients, and none for a client that is gone.
 */
export function createOnDemandPages({
  release,
  search,
  gate,
  check,
  compare,
  propose,
  dispute,
  report,
}: {
  release: () => Release
  search: PageLocals['search']
  gate: PageGate
  check: (req: IncomingMessage, res: ServerResponse) => Promise<CheckAnswer>
  compare: (target: string) => Promise<ChosenListings>
  propose: (req: IncomingMessage, res: ServerResponse) => Promise<ProposePage>
  dispute: (req: IncomingMessage, res: ServerResponse) => Promise<DisputePage>
  report: ReportFailure
}): OnDemandPages {
  const load = createPageCodeLoader()
  async function answer(req: IncomingMessage, res: ServerResponse, path: string, next: () => void) {
    // Other services take their time: it is not spent inside the gate, where other pages wait.
    const checked = path === CHECK_PATH ? await check(req, res) : undefined
    const proposed = path === PROPOSE_PATH ? await propose(req, res) : undefined
    const disputed = path === DISPUTE_PATH ? await dispute(req, res) : undefined
    await gate(req, res, async () => {
      const chosen = path === CHOSEN_PAGE ? await compare(req.url ?? '') : undefined
      await render(req, res, next, { checked, chosen, proposed, disputed })
    })
  }
  async function render(
    req: IncomingMessage,
    res: ServerResponse,
    next: () => void,
    prepared: Pick<PageLocals, 'checked' | 'chosen' | 'proposed' | 'disputed'>,
  ) {
    const { pageCode, searchChoices, site: texts } = release()
    const handler = await load(pageCode)
    if (res.destroyed) return
    for (const [name, value] of Object.entries(PAGE_HEADERS)) res.setHeader(name, value)
    await handler(req, res, () => next(), { search, searchChoices, texts, ...prepared })
  }
  return {
    has: (path) => ON_DEMAND.has(path),
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
