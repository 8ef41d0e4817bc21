import { createHash } from 'node:crypto'
import type { H3Event } from 'h3'
import type { CompareView } from '../../src/domain/compare/compare-view.ts'
import type { TaskPage } from '../../src/domain/plans/task-plan.ts'
import {
  toCategoryMarkdown,
  toCompareMarkdown,
  toListingMarkdown,
  toTaskMarkdown,
} from '../../src/domain/protocols/directory-documents.ts'
import type { CategoriesView } from '../../src/domain/views/reference-views.ts'
import { SHORT_CACHE } from '../../src/domain/wire/published-files.ts'
import type { Handler, Parts } from '../features/feature.ts'
import { ANY_ORIGIN, UNCACHED } from '../http/answers.ts'
import type { Relay } from '../relay/relay.ts'
import { readBuilt } from '../release/release.ts'
import { matchesEtag } from '../static/static-files.ts'
import { createArdEndpoints } from './ard.ts'
import { createDirectory, type DirectoryParts } from './directory.ts'
import { createDiscoveryEndpoints } from './discovery.ts'
import { createRegistryEndpoints } from './registry.ts'
import { createBodyBudgets } from './requests.ts'

/** Listings of a category in its Markdown variant; the rest is a search away. */
const MOST_ROWS = 50

const loadMcp = () => import('./mcp.ts')
const loadA2a = () => import('./a2a.ts')

/**
 * Loads the protocols' packages, a large part of a start, so a server does it once it answers. Left
 * to the first message, everybody would wait half a second at that moment.
 */
export async function loadProtocols(): Promise<void> {
  await loadMcp()
  await loadA2a()
}

/** Other protocols. The first request loads the package of its protocol, if any. */
export function createProtocolsFeature(own: Parts, relay: Relay) {
  const parts = { ...own, ...createBodyBudgets() }
  const markdown = createMarkdownEndpoint(parts)
  const routes = {
    listing_markdown: markdown,
    category_markdown: markdown,
    compare_markdown: markdown,
    task_markdown: markdown,
    mcp: opensOnce(async () => (await loadMcp()).createMcpEndpoint(parts, relay)),
    a2a: opensOnce(async () => (await loadA2a()).createA2aEndpoint(parts)),
    ...createRegistryEndpoints(parts),
    ...createDiscoveryEndpoints(parts),
    ...createArdEndpoints(parts),
  }
  return { routes }
}

/** Requests that come while it opens wait for the same endpoint; one that failed to open is tried again. */
function opensOnce(open: () => Promise<Handler>): Handler {
  let endpoint: Promise<Handler> | undefined
  return async (event) => {
    endpoint ??= open().catch((error: unknown) => {
      endpoint = undefined
      throw error
    })
    return (await endpoint)(event)
  }
}

/** Markdown variants, rendered on request: few read them, and a build would pay for all. */
function createMarkdownEndpoint(parts: DirectoryParts & Pick<Parts, 'problem'>) {
  const directory = createDirectory(parts, 'api')
  const baseUrl = parts.config.BASE_URL
  const writers: Record<string, (id: string) => Promise<string | null>> = {
    async listing(id) {
      const [view, kit] = await Promise.all([directory.listing(id), directory.kit(id)])
      const { switches } = parts.release().site
      return view === null || kit === null
        ? null
        : toListingMarkdown(view, kit, { baseUrl, switches })
    },
    async category(id) {
      const view = await readBuilt<CategoriesView>(parts.release(), '/api/v1/categories')
      const category = view?.categories.find((row) => row.id === id)
      if (category === undefined) return null
      const found = directory.search({ category: id, limit: MOST_ROWS })
      return 'problems' in found ? null : toCategoryMarkdown(category, found, baseUrl)
    },
    async compare(slug) {
      const view = await readBuilt<CompareView>(parts.release(), `/api/v1/compare/${slug}`)
      return view === null ? null : toCompareMarkdown(view)
    },
    async tasks(id) {
      const view = await readBuilt<TaskPage>(parts.release(), `/api/v1/tasks/${id}`)
      return view === null ? null : toTaskMarkdown(view, baseUrl)
    },
  }
  return async function markdownEndpoint({ req, url }: H3Event): Promise<Response> {
    const [, folder = '', name = ''] = url.pathname.split('/')
    const text = (await writers[folder]?.(name.replace(/\.md$/, ''))) ?? null
    return text === null
      ? parts.problem('not-found', { detail: 'Without a page here, it has no Markdown variant.' })
      : toAnswer(text, req)
  }
}

function toAnswer(text: string, req: Request): Response {
  const etag = `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}-md"`
  const headers = {
    ...UNCACHED,
    'Content-Type': 'text/markdown; charset=utf-8',
    'Cache-Control': SHORT_CACHE,
    ...ANY_ORIGIN,
    ETag: etag,
    Vary: 'Accept',
  }
  if (matchesEtag(req.headers.get('if-none-match') ?? undefined, etag))
    return new Response(null, { status: 304, headers })
  return new Response(text, { headers })
}
