import { randomUUID } from 'node:crypto'
import type { LiveListing } from '../../src/domain/listing/listing-states.ts'
import { toAsciiAddress } from '../../src/domain/listing/target-url.ts'
import type { PageAnswer } from '../../src/domain/search/search-response.ts'
import {
  findHostOwner,
  hostOf,
  isPublicName,
  ownerAt,
  type SharedHosts,
} from '../../src/domain/sellers/claim-rules.ts'
import { type NotListedReason, toAddressNote } from '../../src/domain/sellers/not-listed.ts'
import { largestOf, present } from '../../src/domain/wire/json.ts'
import { DAY_MS } from '../../src/domain/wire/shapes.ts'
import type { ClickSource } from '../../src/domain/wire/vocabulary.ts'
import { valueAt } from '../../src/search/index/columns.ts'
import { findExact } from '../../src/search/index/exact-table.ts'
import { findId, readBody, readId, type SearchIndex } from '../../src/search/index/index-file.ts'
import { bitsFor, passes } from '../../src/search/query/filter-rows.ts'
import type { RankedRow } from '../../src/search/query/rank-rows.ts'
import type { Parts, RawPath } from '../features/feature.ts'
import { refuseParameters } from '../http/answers.ts'
import type { Release } from '../release/release.ts'
import { createBatches, sendResponse } from '../server/node-answers.ts'
import { nodeClientOf, refusalOf } from '../server/rate-limits.ts'
import { rankOperations } from './find-operations.ts'
import { type AnsweredQuery, createSearch, type PageMembers, type Search } from './search.ts'

export type SearchParts = Pick<Parts, 'release' | 'problem' | 'limits' | 'config' | 'ledger'>

/** Marks a search that is sent while somebody types. */
const TYPING_HEADER = 'search-typing'

/** A search at its address, on Node's own request and response, without intermediate copies and objects. */
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
      // A client that has left needs no answer.
      if (res.destroyed) return
      const isTyping = req.headers[TYPING_HEADER] === '1'
      const reply = search(query, { page: isTyping ? 'typing' : undefined })
      // Lets the other requests in this batch search before any is answered.
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
    // `JSON.parse` returns `any`; our own search wrote these bytes.
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
        listingOf: (id) => release().listings.get(id),
      }),
    noteOn: (index, text) => noteOnAddress(index, text, release()),
    randomUuid: randomUUID,
    onShown: shown.add,
  })
}

/**
 * Counts how often searches showed each organic row. A search only adds one to a number, which
 * costs almost nothing; ids are read, and counts reported, once for many searches.
 * @param report called with the counts since the last call, each listing once
 */
function createShownRows(report: (listingId: string, times: number) => void) {
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

const decoder = new TextDecoder()

/** What a release contains besides its index of listings. */
interface Shown {
  operations: SearchIndex
  sharedHosts: SharedHosts
  listingOf(id: string): Pick<LiveListing, 'mark'> | undefined
}

/** Members that rows have only on the search page. */
export function pageMembers(
  index: SearchIndex,
  { query, outcome }: AnsweredQuery,
  { operations, sharedHosts, listingOf }: Shown,
): PageMembers[] {
  const { rows } = outcome.organic
  const bodies = rows.map(({ row }) => parseBody(index, row))
  const matching =
    query.q === undefined
      ? new Map<string, MatchingOperation>()
      : matchingOperations(operations, query.q, new Set(bodies.map(({ id }) => String(id))))
  return bodies.map(({ id, url }, at) => {
    const { mark } = listingOf(String(id)) ?? {}
    const domain = domainOf(String(url), sharedHosts) ?? undefined
    const day = query.sort === 'newest' ? valueAt(index.added, rows[at]?.row ?? 0) : Number.NaN
    const added = Number.isNaN(day) ? undefined : new Date(day * DAY_MS).toISOString().slice(0, 10)
    return present({ mark, domain, added, operation: matching.get(String(id)) })
  })
}

/** The domain of a listing; null if strangers share the host. */
function domainOf(url: string, sharedHosts: SharedHosts): string | null {
  const owner = findHostOwner(hostOf(url) ?? '', sharedHosts)
  return owner.kind === 'nobody' || (owner.kind === 'owned' && owner.isPlatform)
    ? null
    : owner.domain
}

type MatchingOperation = NonNullable<PageMembers['operation']>

/**
 * For each listing, the best operation for the question: one that does the question's task or, if the question
 * names none, is at least half as relevant as the best of all.
 */
function matchingOperations(index: SearchIndex, q: string, listings: ReadonlySet<string>) {
  const found = new Map<string, MatchingOperation>()
  const limit = 2 * listings.size
  const { rows, read, task } = rankOperations(index, { q, limit, offset: 0 })
  const doing = task === null ? null : bitsFor(index, `task:${task}`)
  const half = largestOf(rows.map(({ relevance }) => relevance)) / 2
  for (const { row, listing, relevance } of rows) {
    if (doing === null ? relevance < half : !passes(doing, row)) continue
    if (found.has(listing) || !listings.has(listing)) continue
    const { name, method, url = '', price } = read(row).operation
    const named = name ?? (method === undefined ? null : `${method} ${pathOf(url)}`)
    // A match without an operation's name is the whole listing, which the row already names.
    if (named !== null) found.set(listing, { name: named, ...present({ price }) })
  }
  return found
}

/** The path as people write it, with braces around variables. */
function pathOf(url: string): string {
  return (URL.parse(url)?.pathname ?? url).replaceAll('%7B', '{').replaceAll('%7D', '}')
}

/** `JSON.parse` returns `any`; the build wrote these bytes. */
function parseBody(index: SearchIndex, row: number) {
  return JSON.parse(decoder.decode(readBody(index, row)))
}

const ADDRESS = /^(https?:\/\/)?(?:[a-z0-9-]+\.)+[a-z0-9-]+(?::\d+)?(?:[/?#]\S*)?$/i

/** Why a searched address has no listing; null for other texts, and for the address of a listing. */
export function noteOnAddress(
  index: SearchIndex,
  text: string,
  { findNotListed, sharedHosts }: Pick<Release, 'findNotListed' | 'sharedHosts'>,
): string | null {
  const [address, scheme] = ADDRESS.exec(toAsciiAddress(text.trim())) ?? []
  if (address === undefined) return null
  const url = scheme === undefined ? `https://${address}` : address
  const host = URL.parse(url)?.hostname
  if (host === undefined || isListed(index, host, sharedHosts) || findId(index, address) >= 0)
    return null
  const found = findNotListed(url)
  // File and program names also have dots.
  const isAddress = scheme !== undefined || isPublicName(host) || found.host !== host
  return isAddress ? toAddressNote(found) : null
}

/** Why an address has no listing, as a code; null if a listing is called at that address. */
export function whyNotListed(
  { search, findNotListed, sharedHosts }: Pick<Release, 'search' | 'findNotListed' | 'sharedHosts'>,
  url: string,
): NotListedReason | null {
  const host = URL.parse(url)?.hostname
  if (host === undefined || isListed(search, host, sharedHosts)) return null
  const found = findNotListed(url)
  return 'listing' in found ? null : found
}

/** Whether a listing has this host, or the domain to which the host belongs. */
function isListed(index: SearchIndex, host: string, sharedHosts: SharedHosts): boolean {
  return [host, ownerAt(host, sharedHosts)].some(
    (name) => findExact(index.exact, 'host', name).length > 0,
  )
}
