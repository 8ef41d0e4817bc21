import type { IncomingMessage, ServerResponse } from 'node:http'
import { PAGE_HEADERS } from '../../src/domain/wire/site-headers.ts'
import type { ReportFailure } from '../http/failure.ts'
import { sendResponse } from '../http/send-response.ts'
import { createPageCodeLoader, type PageLocals } from './page-code.ts'
import type { Release } from './release.ts'

/** Only these are rendered for each request; every other page is a file. */
const ON_DEMAND = new Set(['/search', '/sellers/dashboard'])

/** Astro's handler of the release being served. It is loaded when first needed. */
export function createOnDemandPages({
  release,
  search,
  report,
}: {
  release: () => Release
  search: PageLocals['search']
  report: ReportFailure
}) {
  const load = createPageCodeLoader()
  async function render(req: IncomingMessage, res: ServerResponse, next: () => void) {
    const { pageCode, searchChoices, banner } = release()
    const handler = await load(pageCode)
    for (const [name, value] of Object.entries(PAGE_HEADERS)) res.setHeader(name, value)
    await handler(req, res, () => next(), { search, searchChoices, banner })
  }
  return function serve(
    req: IncomingMessage,
    res: ServerResponse,
    path: string,
    next: () => void,
  ): boolean {
    if (!ON_DEMAND.has(path) || (req.method !== 'GET' && req.method !== 'HEAD')) return false
    render(req, res, next).catch((error: unknown) => {
      const failure = report('pages.unavailable', error)
      if (res.headersSent) return void res.destroy()
      return sendResponse(res, failure)
    })
    return true
  }
}
