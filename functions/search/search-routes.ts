import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type H3Event, HTTPResponse } from 'h3'
import type { PageAnswer } from '../../src/domain/search/search-response.ts'
import type { ClickSource } from '../../src/domain/wire/vocabulary.ts'
import { readId, type SearchIndex } from '../../src/search/index/index-file.ts'
import type { RankedRow } from '../../src/search/query/rank-rows.ts'
import type { Handler, Parts } from '../features/feature.ts'
import { refuseParameters } from '../http/answers.ts'
import { createBatches } from '../server/batches.ts'
import { splitTarget } from '../server/node-answers.ts'
import { clientOf, type LimitTaken, nodeClientOf, refusalOf } from '../server/rate-limits.ts'
import { noteOnAddress } from './listed-address.ts'
import { pageMembers } from './page-members.ts'
import { createSearch, type Search, type SearchOptions, type SearchReply } from './search.ts'

export type SearchParts = Pick<Parts, 'release' | 'problem' | 'limits' | 'config' | 'ledger'>

/** Answers on Node's response itself, or calls `next` for the route to answer. */
type RawSearch = (
  req: IncomingMessage,
  res: ServerResponse,
  query: string,
  next: () => void,
) => Promise<void>

/**
 * Two ways to one `GET /api/v1/search`: the route as h3 mounts it answers everything, on any host;
 * the one on Node's own request and response answers what nearly every request is, a search that
 * succeeds, without intermediate copies and objects. Both send the same headers and bytes.
 */
export function createSearchRoutes(parts: RouteParts, search: Search) {
  const counted: Counted = new WeakMap()
  return {
    route: createSearchRoute(parts, search, counted),
    raw: createRawSearch(parts, search, counted),
  }
}

/** Marks a search while somebody types. */
const TYPING_HEADER = 'search-typing'

/** A request that the raw one passes on was counted there; it is not counted twice. */
type Counted = WeakMap<object, LimitTaken>
type RouteParts = Omit<SearchParts, 'release' | 'ledger'>

/** A search as h3 mounts it, within the search's own limit. */
export function createSearchRoute(
  { problem, limits, config }: RouteParts,
  search: Search,
  counted?: Counted,
): Handler {
  return async function route({ req }: H3Event): Promise<Response | HTTPResponse> {
    const node = req.runtime?.node?.req
    const taken =
      (node && counted?.get(node)) ?? (await limits.take('search', clientOf(req, config)))
    const refusal = refusalOf(taken, problem)
    if (refusal !== null) return refusal
    const isTyping = req.headers.get(TYPING_HEADER) === '1'
    const reply = search(splitTarget(req.url).query, { page: isTyping ? 'typing' : undefined })
    if (reply.status === 200)
      return new HTTPResponse(reply.body, {
        status: 200,
        headers: { ...reply.headers, ...taken.headers },
      })
    return refuseParameters(problem, reply.problems)
  }
}

function createRawSearch(
  { limits, config }: RouteParts,
  search: Search,
  counted: Counted,
): RawSearch {
  const turnEnds = createBatches()
  return async function raw(req, res, query, next) {
    const taken = await limits.take('search', nodeClientOf(req, config)).catch(() => null)
    if (taken === null) return next()
    const pass = () => {
      counted.set(req, taken)
      next()
    }
    if (!taken.allowed) return pass()
    await turnEnds()
    // A client that left needs no answer.
    if (res.destroyed) return
    const isTyping = req.headers[TYPING_HEADER] === '1'
    const reply = searchOrNull(search, query, { page: isTyping ? 'typing' : undefined })
    // The others in its batch search first.
    await null
    if (reply?.status !== 200) return pass()
    res.writeHead(200, { ...reply.headers, ...taken.headers, 'Content-Length': reply.body.length })
    res.end(reply.body)
  }
}

/** The route reports a failure: it fails there again. */
function searchOrNull(search: Search, query: string, options: SearchOptions): SearchReply | null {
  try {
    return search(query, options)
  } catch {
    return null
  }
}

/** The same search for a page rendered on demand: the parsed answer, or the problems found. */
export function createPageSearch(parts: SearchParts) {
  const search = createReleaseSearch(parts, 'web')
  return (rawQuery: string, page: 'submitted' | 'typing' = 'submitted'): PageAnswer => {
    const reply = search(rawQuery, { page })
    // Typed `any` by `JSON.parse`: our own search wrote these bytes.
    return reply.status === 200
      ? JSON.parse(new TextDecoder().decode(reply.body))
      : { problems: reply.problems }
  }
}

/** The search over the current release, which counts what it shows. */
export function createReleaseSearch({ release, ledger }: SearchParts, src: ClickSource) {
  const { usage } = ledger
  const shown = createShownRows((id, times) => usage.searched([id], src, times))
  usage.beforeFlush(shown.report)
  return createSearch({
    index: () => release().search,
    texts: () => release().searchTexts,
    pageMembers: (index, answered) =>
      pageMembers(index, answered, {
        operations: release().operations,
        sharedHosts: release().sharedHosts,
        markOf: (id) => release().listings.get(id)?.mark,
      }),
    noteOn: (index, text) => noteOnAddress(index, text, release()),
    randomUuid: randomUUID,
    onShown: shown.add,
  })
}

/**
 * Counts how often searches showed each organic row. Adding one to a number costs a search next to
 * nothing; the listing's id is read, and the count looked up by it, once for many searches.
 *
 * @param report called with the counts since the last time: each listing once
 */
export function createShownRows(report: (listingId: string, times: number) => void) {
  let of: SearchIndex | undefined
  let times = new Uint32Array(0)
  let touched: number[] = []
  const reportAll = () => {
    if (of === undefined) return
    const [index, rows] = [of, touched]
    touched = []
    for (const row of rows) {
      report(readId(index, row), times[row] ?? 0)
      times[row] = 0
    }
  }
  return {
    add(index: SearchIndex, rows: readonly RankedRow[]): void {
      if (index !== of) {
        reportAll()
        of = index
        times = new Uint32Array(index.organicRows)
      }
      for (const { row } of rows) {
        const before = times[row] ?? 0
        if (before === 0) touched.push(row)
        times[row] = before + 1
      }
    },
    report: reportAll,
  }
}
