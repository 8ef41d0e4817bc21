import type { ReleaseFile } from '../../src/domain/derived/tables.ts'
import { toTransportHeaders } from '../../src/domain/wire/published-files.ts'
import { ROUTES } from '../../src/domain/wire/routes.ts'
import { loadSearchIndex, type SearchIndex } from '../../src/search/index/index-file.ts'
import { answerPreflight, createProblems, refuseMethod, refuseParameters } from '../http/answers.ts'
import { prepareTexts } from '../release/prepare-texts.ts'
import { createFindOperations, createOperationsSearch } from '../search/find-operations.ts'
import { createSearch, type Search } from '../search/search.ts'

/** Facts about the release, which the build writes into the bundle. */
declare const RELEASE: Pick<ReleaseFile, 'base_url' | 'texts' | 'also_search' | 'tasks'>

const METHODS = ['GET', 'HEAD', 'OPTIONS']
const problem = createProblems(RELEASE.base_url)
const transport = toTransportHeaders(RELEASE.base_url)

/** Each route, with the file of its index and its search function. */
const ENDPOINTS = new Map<string, { file: IndexFile; over(index: SearchIndex): Search }>([
  [ROUTES.search.path, { file: 'search.index', over: searchOver }],
  [
    ROUTES.operations.path,
    {
      file: 'operations.index',
      over: (operations) =>
        createOperationsSearch(createFindOperations({ release: () => ({ operations }) })),
    },
  ],
])
const opened = new Map<string, Promise<Search>>()

/**
 * The live searches for a function host: the same answers as the server's, from one code file and
 * two indexes. Limits and compression are left to the host; searches are not counted.
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
  const endpoint = ENDPOINTS.get(pathname)
  if (endpoint === undefined)
    return problem('not-found', {
      detail: `This function answers ${[...ENDPOINTS.keys()].join(' and ')}; /openapi.json lists every endpoint.`,
    })
  if (request.method === 'OPTIONS') return answerPreflight(pathname, METHODS)
  if (!METHODS.includes(request.method)) return refuseMethod(request.method, METHODS, problem)
  try {
    const opening =
      opened.get(pathname) ??
      readIndex(env, endpoint.file).then((bytes) => endpoint.over(loadSearchIndex(bytes)))
    opened.set(pathname, opening)
    return reply(await opening, request, query.slice(1))
  } catch (error) {
    // Let the next request try again: a bucket that failed may answer then.
    opened.delete(pathname)
    const id = crypto.randomUUID()
    console.error(JSON.stringify({ event: 'search.failed', id, reason: String(error) }))
    return problem('internal', {
      detail: `Quote this id when you report it: ${id}.`,
      extra: { id },
    })
  }
}

function searchOver(index: SearchIndex): Search {
  const texts = prepareTexts(index, RELEASE)
  return createSearch({
    index: () => index,
    texts: () => texts,
    randomUuid: () => crypto.randomUUID(),
  })
}

function reply(search: Search, request: Request, rawQuery: string): Response {
  const page = request.headers.get('search-typing') === '1' ? 'typing' : undefined
  const found = search(rawQuery, { page })
  if (found.status !== 200) return refuseParameters(problem, found.problems)
  return new Response(request.method === 'HEAD' ? null : found.body, { headers: found.headers })
}

/** Places where the function may find the bytes of its indexes; its host provides one of them. */
interface IndexSource {
  /** The bytes of the index, or a function that reads them from a file. */
  SEARCH_INDEX?: Bytes | (() => Bytes | Promise<Bytes>)
  OPERATIONS_INDEX?: Bytes | (() => Bytes | Promise<Bytes>)
  /** A binding that answers requests for files, such as static assets. */
  ASSETS?: { fetch(url: string): Promise<Response> }
  /** A bucket of an object store. */
  BUCKET?: { get(key: string): Promise<{ arrayBuffer(): Promise<ArrayBuffer> } | null> }
}

type Bytes = Uint8Array | ArrayBuffer

/** Each index's name (as file, asset and bucket key), and the setting that holds its bytes. */
const GIVEN = { 'search.index': 'SEARCH_INDEX', 'operations.index': 'OPERATIONS_INDEX' } as const
type IndexFile = keyof typeof GIVEN

/** @throws Error that names what is missing: every place for the indexes, or the file in one of these places */
async function readIndex(env: IndexSource, file: IndexFile): Promise<Uint8Array> {
  const { ASSETS, BUCKET, [GIVEN[file]]: given } = env
  if (given !== undefined) return asBytes(typeof given === 'function' ? await given() : given)
  if (ASSETS !== undefined) {
    const answer = await ASSETS.fetch(`https://assets.invalid/${file}`)
    if (!answer.ok) throw new Error(`ASSETS answered ${answer.status} for ${file}`)
    return asBytes(await answer.arrayBuffer())
  }
  const stored = await BUCKET?.get(file)
  if (stored) return asBytes(await stored.arrayBuffer())
  throw new Error(
    BUCKET === undefined
      ? `expected ${GIVEN[file]}, ASSETS or BUCKET in the function’s environment`
      : `BUCKET has no ${file}`,
  )
}

function asBytes(bytes: Bytes): Uint8Array {
  return bytes instanceof Uint8Array ? bytes : new Uint8Array(bytes)
}
