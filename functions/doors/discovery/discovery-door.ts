import type { H3Event } from 'h3'
import type { ResourceRow } from '../../../src/domain/doors/discovery-resource.ts'
import { MAX_OFFSET, MAX_QUERY_CHARACTERS } from '../../../src/domain/search/search-query.ts'
import { createDirectory, type Directory, type DirectoryParts } from '../entry/directory.ts'
import { type DoorLimits, takeForDoor } from '../entry/door-limits.ts'
import { readPageToken, toPageToken } from '../entry/page-token.ts'
import { toPlainAnswer, toPlainError } from '../entry/plain-error.ts'
import { QueryFault, type QueryReader, readQuery } from '../entry/read-page.ts'

const DEFAULT_PAGE = 20
const MOST_PAGE = 100
/** Listings a text search looks at for their operations. */
const MOST_LISTINGS = 200
const SEARCH_STEP = 50

type DiscoveryParts = DirectoryParts & DoorLimits
type Answer = (rows: readonly ResourceRow[], search: string) => unknown

/** `/discovery/resources` and `/discovery/search`: our paid operations in the x402 discovery shape. */
export function createDiscoveryDoors(parts: DiscoveryParts) {
  const directory = createDirectory(parts, 'api')
  return {
    discovery_resources: createDoor(parts, listResources),
    discovery_search: createDoor(parts, (rows, search) => findResources(directory, rows, search)),
  }
}

function createDoor(parts: DiscoveryParts, answer: Answer) {
  return async function discoveryDoor({ req, url }: H3Event): Promise<Response> {
    if (req.method !== 'GET' && req.method !== 'HEAD')
      return toPlainError(405, 'Read by GET.', { Allow: 'GET, HEAD' })
    const { allowed, taken } = await takeForDoor(parts, 'search', req)
    if (!allowed) return toPlainError(429, 'Too many requests', taken)
    try {
      const rows = await parts.release().doorData.resources()
      return toPlainAnswer(answer(rows, url.search), taken)
    } catch (error) {
      if (error instanceof QueryFault) return toPlainError(400, error.message, taken)
      throw error
    }
  }
}

const FILTERS = ['type', 'payTo', 'scheme', 'network', 'extensions', 'maxUsdPrice']

/** `GET /discovery/resources`. */
function listResources(rows: readonly ResourceRow[], search: string): unknown {
  const query = readQuery(search, [...FILTERS, 'limit', 'offset'])
  const limit = query.whole('limit', 1, MOST_PAGE) ?? DEFAULT_PAGE
  const offset = query.whole('offset', 0, MAX_OFFSET) ?? 0
  const fits = readFilters(query)
  const fitting = rows.filter(fits)
  return {
    x402Version: 2,
    items: fitting.slice(offset, offset + limit).map(({ entry }) => entry),
    pagination: { limit, offset, total: fitting.length },
  }
}

/** `GET /discovery/search`: the operations of the listings that our search finds, in its order. */
function findResources(
  directory: Directory,
  rows: readonly ResourceRow[],
  search: string,
): unknown {
  const query = readQuery(search, ['query', ...FILTERS, 'limit', 'cursor'])
  const text = query.text('query', MAX_QUERY_CHARACTERS) ?? ''
  const limit = query.whole('limit', 1, MOST_PAGE) ?? DEFAULT_PAGE
  const start = readCursor(query.text('cursor'), text)
  const fits = readFilters(query)
  const byListing = Map.groupBy(rows.filter(fits), ({ id }) => id)
  const found = findIds(directory, text).flatMap((id) => byListing.get(id) ?? [])
  const next = start + limit
  return {
    x402Version: 2,
    resources: found.slice(start, next).map(({ entry }) => entry),
    pagination: { limit, cursor: next < found.length ? toPageToken(String(next), text) : null },
  }
}

function readCursor(token: string | undefined, text: string): number {
  if (token === undefined) return 0
  const start = readPageToken(token, text)
  if (start === null) throw new QueryFault('cursor: expected the cursor of a page before.')
  return Number(start)
}

function findIds(directory: Directory, text: string): string[] {
  const ids: string[] = []
  for (let offset = 0; offset < MOST_LISTINGS; offset += SEARCH_STEP) {
    const found = directory.search({
      ...(text !== '' && { q: text }),
      kind: 'http_api',
      limit: SEARCH_STEP,
      offset,
    })
    if ('problems' in found) return ids
    for (const { id } of found.rows) ids.push(id)
    if (ids.length >= found.total) return ids
  }
  return ids
}

/** Filters judge what was published, as `accepts` holds nothing. */
function readFilters(query: QueryReader): (row: ResourceRow) => boolean {
  const type = query.text('type')
  const scheme = query.text('scheme')
  const extension = query.text('extensions')
  const network = query.text('network')
  const payTo = query.text('payTo')?.toLowerCase()
  const price = query.text('maxUsdPrice')
  const most = price === undefined ? undefined : readPrice(price)
  return (row) =>
    (type === undefined || type === row.entry.type) &&
    // The rail's one published scheme; what else a seller takes its own 402 says.
    (scheme === undefined || (scheme === 'exact' && row.rails.includes('x402'))) &&
    (extension === undefined || extension === 'bazaar' || extension === 'directory') &&
    (network === undefined || row.networks.includes(network)) &&
    (payTo === undefined ||
      row.payouts.some((payout) => payout.toLowerCase().endsWith(`:${payTo}`))) &&
    (most === undefined || (row.min_usd !== null && row.min_usd <= most))
}

function readPrice(text: string): number {
  if (!/^\d{1,9}(?:\.\d{1,9})?$/.test(text))
    throw new QueryFault('maxUsdPrice: expected US dollars such as 0.05.')
  return Number(text)
}
