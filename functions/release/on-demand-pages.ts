import { hash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { PAGE_HEADERS } from '../../src/domain/wire/published-files.ts'
import type { MakeProblem } from '../http/answers.ts'
import type { Config } from '../ports/config.ts'
import { type ReportFailure, sendResponse } from '../server/node-answers.ts'
import { nodeClientOf, type RateLimits, refusalOf } from '../server/rate-limits.ts'
import type { PageCode, Release } from './release.ts'

/** A page rendered for each request; every other page is a file. */
export interface Page {
  /** Set if the page has a form that posts to the page itself. */
  hasForm?: true
  /** Set if the page shows what only this reader may see. */
  isSecret?: true
  /** Set if the page is shown without a token even if the directory is closed. */
  isOpen?: true
  /** Fetches data before it is the page's turn, because other services are slow and pages wait in line. */
  prepare?(req: IncomingMessage, res: ServerResponse): Promise<Partial<App.Locals>>
  /** Computes the page's data when it is the page's turn. */
  compute?(target: string): Promise<Partial<App.Locals>>
}

interface PageParts {
  config: Pick<Config, 'BASE_URL' | 'TRUST_PROXY'>
  limits: RateLimits
  problem: MakeProblem
  release: () => Release
  search: NonNullable<App.Locals['search']>
  pages: ReadonlyMap<string, Page>
  report: ReportFailure
}

/**
 * Astro's handler for the release being served, loaded when first needed. Rendering costs as much
 * as a search, so the search limit covers it. Pages are rendered one after another, clients take
 * turns, and nothing is rendered for a client that has left.
 */
export function createOnDemandPages(parts: PageParts) {
  const { config, limits, problem, release, search, pages, report } = parts
  const load = createPageCodeLoader()
  const queue = createFairQueue()
  async function answer(req: IncomingMessage, res: ServerResponse, page: Page, next: () => void) {
    const prepared = await page.prepare?.(req, res)
    const client = nodeClientOf(req, config)
    // Pages are shown even while the store is down: requests are then counted in memory.
    const taken = await limits.take('search', client)
    const refusal = refusalOf(taken, problem)
    if (refusal !== null) return refuse(release(), req, res, refusal)
    for (const [name, value] of Object.entries(taken.headers)) res.setHeader(name, value)
    const entered = await queue.run(client, async () => {
      if (res.destroyed) return
      const computed = await page.compute?.(req.url ?? '')
      await render(req, res, next, { ...prepared, ...computed })
    })
    if (entered === 'done') return
    const headers = { ...taken.headers, 'Retry-After': '1' }
    await refuse(release(), req, res, problem('rate-limited', { detail: BUSY, headers }))
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
    const shared = { search, searchChoices, texts, base_url: config.BASE_URL }
    await handler(req, res, () => next(), { ...shared, ...prepared })
  }
  return {
    has: (path: string) => pages.has(path),
    /** Whether the page accepts a form. */
    hasForm: (path: string) => pages.get(path)?.hasForm === true,
    /** Answers GET, HEAD and forms for a page rendered on demand; false passes the request on. */
    serve(req: IncomingMessage, res: ServerResponse, path: string, next: () => void): boolean {
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

/** How many pieces of work may wait: per client and in total. */
const MAX_WAITING = { perClient: 32, inAll: 512 }

/** Does work one piece at a time; clients take turns, so that one client's queue does not delay others. */
function createFairQueue() {
  // Clients in the order of their turns; a Map keeps insertion order.
  const waiting = new Map<string, (() => Promise<void>)[]>()
  let count = 0
  let isRunning = false
  const takeNext = (): (() => Promise<void>) | undefined => {
    const [turn] = waiting
    if (turn === undefined) return undefined
    const [client, pieces] = turn
    const piece = pieces.shift()
    waiting.delete(client)
    if (pieces.length > 0) waiting.set(client, pieces)
    count -= 1
    return piece
  }
  const runAll = async () => {
    isRunning = true
    for (let piece = takeNext(); piece !== undefined; piece = takeNext()) {
      await piece()
      // Lets the process do other work between two pieces.
      await new Promise((resolve) => setImmediate(resolve))
    }
    isRunning = false
  }
  return {
    /** @returns `done` when the work is done, or `full` at once if the queue is full */
    async run(client: string, work: () => Promise<void>): Promise<'done' | 'full'> {
      const own = waiting.get(client) ?? []
      if (own.length >= MAX_WAITING.perClient || count >= MAX_WAITING.inAll) return 'full'
      const { promise, resolve, reject } = Promise.withResolvers<'done'>()
      own.push(() => work().then(() => resolve('done'), reject))
      waiting.set(client, own)
      count += 1
      if (!isRunning) void runAll()
      return promise
    },
  }
}

function takes({ hasForm }: Page, method: string | undefined): boolean {
  return method === 'GET' || method === 'HEAD' || (method === 'POST' && hasForm === true)
}

/** The page that explains what `rate-limited` means. */
const LIMITED_PAGE = '/problems/rate-limited'
const BUSY = 'Too many pages are being made for this client; try again in a second.'

async function refuse(
  { files }: Pick<Release, 'files'>,
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
  if (!files.serve(req, res, LIMITED_PAGE, refusal.status)) await sendResponse(req, res, refusal)
}

type AstroHandler = (
  req: IncomingMessage,
  res: ServerResponse,
  next: (error?: unknown) => void,
  locals: App.Locals,
) => unknown

/**
 * Imports page code once per name. A process never frees a module, so releases that differ only in
 * content must share theirs. After a failure the next request tries again.
 */
function createPageCodeLoader(): (code: PageCode) => Promise<AstroHandler> {
  const loaded = new Map<string, Promise<AstroHandler>>()
  return function load(code) {
    const known = loaded.get(code.name)
    if (known !== undefined) return known
    const importing = importVerified(code)
    loaded.set(code.name, importing)
    importing.catch(() => loaded.delete(code.name))
    return importing
  }
}

/** Reads everything at once, because the release may be removed later. @throws before any of its code runs */
async function importVerified({ folder, files }: PageCode): Promise<AstroHandler> {
  for (const [path, sha256] of files)
    if (hash('sha256', await readFile(join(folder, path))) !== sha256)
      throw new Error(`${path} differs from the published file: build again`)
  const modules: [string, unknown][] = await Promise.all(
    files.map(async ([path]) => [path, await import(pathToFileURL(join(folder, path)).href)]),
  )
  const entry = modules.find(([name]) => name.endsWith('/entry.mjs'))?.[1]
  const handler: unknown =
    typeof entry === 'object' && entry !== null ? Reflect.get(entry, 'handler') : undefined
  if (!isHandler(handler))
    throw new Error('the page code of the release has no handler: build again')
  return handler
}

function isHandler(value: unknown): value is AstroHandler {
  return typeof value === 'function'
}
