import { randomUUID } from 'node:crypto'
import type { PageAnswer } from '../../src/domain/search/search-response.ts'
import type { ClickSource } from '../../src/domain/wire/vocabulary.ts'
import { readId, type SearchIndex } from '../../src/search/index/index-file.ts'
import type { RankedRow } from '../../src/search/query/rank-rows.ts'
import type { Parts, RawPath } from '../features/feature.ts'
import { refuseParameters } from '../http/answers.ts'
import { createBatches } from '../server/batches.ts'
import { sendResponse } from '../server/node-answers.ts'
import { nodeClientOf, refusalOf } from '../server/rate-limits.ts'
import { noteOnAddress } from './listed-address.ts'
import { pageMembers } from './page-members.ts'
import { createSearch, type Search } from './search.ts'

export type SearchParts = Pick<Parts, 'release' | 'problem' | 'limits' | 'config' | 'ledger'>

/** Marks a search while somebody types. */
const TYPING_HEADER = 'search-typing'

/**
 * A search at its address, on Node's own request and response: without intermediate copies and
 * objects.
 */
export function createSearchPath(
  path: string,
  { problem, limits, config }: Pick<SearchParts, 'problem' | 'limits' | 'config'>,
  search: Search,
): RawPath {
  const turnEnds = createBatches()
  return {
    path,
    async answer(req, res, query) {
      const taken = await limits.take('search', nodeClientOf(req, config))
      const refusal = refusalOf(taken, problem)
      if (refusal !== null) return sendResponse(req, res, refusal)
      await turnEnds()
      // A client that left needs no answer.
      if (res.destroyed) return
      const isTyping = req.headers[TYPING_HEADER] === '1'
      const reply = search(query, { page: isTyping ? 'typing' : undefined })
      // The others in its batch search first.
      await null
      if (reply.status !== 200)
        return sendResponse(req, res, refuseParameters(problem, reply.problems))
      const { headers, body } = reply
      res.writeHead(200, { ...headers, ...taken.headers, 'Content-Length': body.length })
      res.end(body)
    },
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
