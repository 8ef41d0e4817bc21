import type { IncomingMessage, ServerResponse } from 'node:http'
import { PAGE_HEADERS } from '../../src/domain/wire/site-headers.ts'
import type { ReportFailure } from '../http/failure.ts'
import { sendResponse } from '../http/send-response.ts'
import { createPageCodeLoader, type PageLocals } from './page-code.ts'
import type { PageGate } from './page-gate.ts'
import type { Release } from './release.ts'

/** Only these are rendered for each request; every other page is a file. */
const ON_DEMAND = new Set(['/search'])

export interface OnDemandPages {
  has(path: string): boolean
  /** Answers GET and HEAD of such a page; false leaves the request to the next layer. */
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
  report,
}: {
  release: () => Release
  search: PageLocals['search']
  gate: PageGate
  report: ReportFailure
}): OnDemandPages {
  const load = createPageCodeLoader()
  async function render(req: IncomingMessage, res: ServerResponse, next: () => void) {
    const { pageCode, searchChoices, banner } = release()
    const handler = await load(pageCode)
    if (res.destroyed) return
    for (const [name, value] of Object.entries(PAGE_HEADERS)) res.setHeader(name, value)
    await handler(req, res, () => next(), { search, searchChoices, banner })
  }
  return {
    has: (path) => ON_DEMAND.has(path),
    serve(req, res, path, next) {
      if (!ON_DEMAND.has(path) || (req.method !== 'GET' && req.method !== 'HEAD')) return false
      gate(req, res, () => render(req, res, next)).catch((error: unknown) => {
        const failure = report('pages.unavailable', error)
        if (res.headersSent) return void res.destroy()
        return sendResponse(res, failure)
      })
      return true
    },
  }
}
