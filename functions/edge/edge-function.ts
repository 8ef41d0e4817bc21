import type { ReleaseFile } from '../../src/domain/derived/release-file.ts'
import { ROUTES } from '../../src/domain/wire/route-table.ts'
import { toTransportHeaders } from '../../src/domain/wire/site-headers.ts'
import { loadSearchIndex } from '../../src/search/index/load-search-index.ts'
import { answerPreflight, refuseMethod } from '../http/method-answers.ts'
import { createProblems } from '../http/problem.ts'
import { toSearchTexts } from '../release/prepare-texts.ts'
import { createSearch, type Search } from '../search/search.ts'
import { type IndexSource, readIndex } from './read-index.ts'

/** What the release's own build writes into the bundle. */
declare const RELEASE: Pick<ReleaseFile, 'base_url' | 'texts' | 'also_search'>

const METHODS = ['GET', 'HEAD', 'OPTIONS']
const problem = createProblems(RELEASE.base_url)
const transport = toTransportHeaders(RELEASE.base_url)
let opening: Promise<Search> | undefined

/**
 * `GET /api/v1/search` for a function host: the same answers as the server's, from one file and the
 * index. Limits and compression are the host's; searches are not counted, as no ledger is there.
 */
export default {
  async fetch(request: Request, env: IndexSource): Promise<Response> {
    const response = await answer(request, env)
    for (const [name, value] of Object.entries(transport)) response.headers.set(name, value)
    return response
  },
}

async function answer(request: Request, env: IndexSource): Promise<Response> {
  const { pathname, search: query } = new URL(request.url)
  if (pathname !== ROUTES.search.path)
    return problem('not-found', {
      detail: `This function answers ${ROUTES.search.path}; /openapi.json lists every endpoint.`,
    })
  if (request.method === 'OPTIONS') return answerPreflight(pathname, METHODS)
  if (!METHODS.includes(request.method)) return refuseMethod(request.method, METHODS, problem)
  try {
    opening ??= open(env)
    return reply(await opening, request, query.slice(1))
  } catch (error) {
    // The next request tries again: a bucket that did not answer may do so then.
    opening = undefined
    const id = crypto.randomUUID()
    console.error(JSON.stringify({ event: 'search.failed', id, reason: String(error) }))
    return problem('internal', {
      detail: `Quote this id when you report it: ${id}.`,
      extra: { id },
    })
  }
}

async function open(env: IndexSource): Promise<Search> {
  const index = loadSearchIndex(await readIndex(env))
  const texts = toSearchTexts(RELEASE)
  return createSearch({
    index: () => index,
    texts: () => texts,
    randomUuid: () => crypto.randomUUID(),
  })
}

function reply(search: Search, request: Request, rawQuery: string): Response {
  const page = request.headers.get('search-typing') === '1' ? 'typing' : undefined
  const found = search(rawQuery, { page })
  if (found.status === 200)
    return new Response(request.method === 'HEAD' ? null : found.body, { headers: found.headers })
  const names = found.problems.map(({ name }) => name).join(', ')
  return problem('invalid-parameter', {
    detail: `These parameters cannot be used: ${names}.`,
    errors: found.problems,
  })
}
