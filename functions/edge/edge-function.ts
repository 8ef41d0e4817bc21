import type { ReleaseFile } from '../../src/domain/derived/release-file.ts'
import { ROUTES } from '../../src/domain/wire/route-table.ts'
import { toTransportHeaders } from '../../src/domain/wire/site-headers.ts'
import { loadSearchIndex } from '../../src/search/index/load-search-index.ts'
import { answerPreflight, refuseMethod } from '../http/method-answers.ts'
import { createProblems, refuseParameters } from '../http/problem.ts'
import { toSearchTexts } from '../release/prepare-texts.ts'
import { createSearch, type Search } from '../search/search.ts'

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
  return refuseParameters(problem, found.problems)
}

/**
 * Where the search function finds the bytes of its index: whichever of these its host gives. They
 * are asked once, with the first request.
 */
interface IndexSource {
  /** The bytes themselves, or a function that reads them from a file. */
  SEARCH_INDEX?: Bytes | (() => Bytes | Promise<Bytes>)
  /** A binding that answers requests for files, as for static assets. */
  ASSETS?: { fetch(url: string): Promise<Response> }
  /** A bucket of an object store. */
  BUCKET?: { get(key: string): Promise<{ arrayBuffer(): Promise<ArrayBuffer> } | null> }
}

type Bytes = Uint8Array | ArrayBuffer

/** Its name beside the function, in assets and in buckets. */
const INDEX_FILE = 'search.index'

/** @throws Error naming what the host should give when it gives nothing, or has no such file */
async function readIndex({ SEARCH_INDEX, ASSETS, BUCKET }: IndexSource): Promise<Uint8Array> {
  if (SEARCH_INDEX !== undefined)
    return toBytes(typeof SEARCH_INDEX === 'function' ? await SEARCH_INDEX() : SEARCH_INDEX)
  if (ASSETS !== undefined) {
    const answer = await ASSETS.fetch(`https://assets.invalid/${INDEX_FILE}`)
    if (!answer.ok) throw new Error(`ASSETS answers ${answer.status} for ${INDEX_FILE}`)
    return toBytes(await answer.arrayBuffer())
  }
  const stored = await BUCKET?.get(INDEX_FILE)
  if (stored) return toBytes(await stored.arrayBuffer())
  throw new Error(
    BUCKET === undefined
      ? 'expected SEARCH_INDEX, ASSETS or BUCKET in the environment of the function'
      : `BUCKET has no ${INDEX_FILE}`,
  )
}

function toBytes(bytes: Bytes): Uint8Array {
  return bytes instanceof Uint8Array ? bytes : new Uint8Array(bytes)
}
