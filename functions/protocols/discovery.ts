import type { ResourceRow } from '../../src/domain/protocols/registry-entry.ts'
import { MAX_OFFSET, MAX_QUERY_CHARACTERS } from '../../src/domain/search/search-parameters.ts'
import { toCaip2 } from '../../src/domain/trust/usd-assets.ts'
import { type DirectoryParts, findIds } from './directory.ts'
import {
  createReadEndpoint,
  type ProtocolLimits,
  QueryFault,
  type QueryReader,
  readPagedQuery,
  readQuery,
} from './requests.ts'

const DEFAULT_PAGE = 20
const MOST_PAGE = 100

type DiscoveryParts = DirectoryParts & ProtocolLimits

/** `/discovery/resources` and `/discovery/search`: our paid operations in the x402 discovery shape. */
export function createDiscoveryEndpoints(parts: DiscoveryParts) {
  const open = (answer: (rows: readonly ResourceRow[], search: string) => unknown) =>
    createReadEndpoint(parts, 'Read by GET.', async ({ search }) => ({
      body: answer(await parts.release().protocolData.resources(), search),
    }))
  return {
    discovery_resources: open(listResources),
    discovery_search: open((rows, search) => findResources(parts, rows, search)),
  }
}

const BAD_CURSOR = 'cursor: expected the cursor of a page before, for the same search.'
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
  { release, ledger }: DiscoveryParts,
  rows: readonly ResourceRow[],
  search: string,
): unknown {
  const requested = ['query', 'q', ...FILTERS]
  const { query, after, toCursor } = readPagedQuery(search, requested, BAD_CURSOR)
  const [text = ''] = ['query', 'q'].flatMap((name) => query.text(name, MAX_QUERY_CHARACTERS) ?? [])
  const limit = query.whole('limit', 1, MOST_PAGE) ?? DEFAULT_PAGE
  const start = Number(after ?? 0)
  const fits = readFilters(query)
  const byListing = Map.groupBy(rows.filter(fits), ({ id }) => id)
  const ids = findIds(release(), text, Number.POSITIVE_INFINITY)
  const found = ids.flatMap((id) => byListing.get(id) ?? [])
  const next = start + limit
  const shown = found.slice(start, next)
  ledger.usage.searched([...new Set(shown.map(({ id }) => id))], 'api')
  return {
    x402Version: 2,
    resources: shown.map(({ entry }) => entry),
    pagination: { limit, cursor: next < found.length ? toCursor(String(next)) : null },
  }
}

/** Filters consider everything known about an operation, `accepts` or not. */
function readFilters(query: QueryReader): (row: ResourceRow) => boolean {
  const type = query.text('type')
  const scheme = query.text('scheme')
  const extension = query.text('extensions')
  const network = readNetwork(query.text('network'))
  const payTo = query.text('payTo')?.toLowerCase()
  const price = query.text('maxUsdPrice')
  const most = price === undefined ? undefined : readPrice(price)
  return (row) =>
    (type === undefined || type === row.entry.type) &&
    (scheme === undefined || row.schemes.includes(scheme)) &&
    (extension === undefined || extension === 'bazaar' || extension === 'directory') &&
    (network === undefined || row.networks.includes(network)) &&
    (payTo === undefined ||
      row.payouts.some((payout) => payout.toLowerCase().endsWith(`:${payTo}`))) &&
    (most === undefined || (row.min_usd !== null && row.min_usd <= most))
}

function readNetwork(text: string | undefined): string | undefined {
  const id = text === undefined ? undefined : toCaip2(text)
  if (id === null)
    throw new QueryFault('network: expected a CAIP-2 id or a name such as base or solana-devnet.')
  return id
}

function readPrice(text: string): number {
  if (!/^\d{1,9}(?:\.\d{1,9})?$/.test(text))
    throw new QueryFault('maxUsdPrice: expected US dollars such as 0.05.')
  return Number(text)
}
