import { resolve } from 'node:path'
import type { RegistryRow, ResourceRow } from '../../src/domain/protocols/registry-entry.ts'
import { MAX_OFFSET, MAX_QUERY_CHARACTERS } from '../../src/domain/search/search-parameters.ts'
import { toCaip2 } from '../../src/domain/trust/usd-assets.ts'
import { largestOf } from '../../src/domain/wire/json.ts'
import type { Parts } from '../features/feature.ts'
import { createChangeLog, followLog } from '../feeds/changes.ts'
import { type DirectoryParts, findIds } from './directory.ts'
import {
  type Answered,
  createReadEndpoint,
  type ProtocolLimits,
  QueryFault,
  type QueryReader,
  readPagedQuery,
  readPathPart,
  readQuery,
} from './requests.ts'

const SERVERS_A_PAGE = 30
const MOST_PAGE = 100
const BAD_CURSOR = 'cursor: expected the nextCursor of a page before, for the same search.'

type RegistryParts = ProtocolLimits & Pick<Parts, 'release' | 'config'>
type Answer = (servers: readonly RegistryRow[], url: URL) => Answered | Promise<Answered>

/** The read API of the MCP registry (its OpenAPI of 2025-12-01); each server has one version. */
export function createRegistryEndpoints(parts: RegistryParts) {
  const readDates = createChangeDates(resolve(parts.config.OUT_DIR))
  const list: Answer = (servers, url) => listServers(servers, url, readDates)
  return {
    registry_servers: createEndpoint(parts, list),
    registry_versions: createEndpoint(parts, listVersions),
    registry_version: createEndpoint(parts, readVersion),
    policy_servers: createEndpoint(parts, withinPolicy(parts, list)),
    policy_versions: createEndpoint(parts, withinPolicy(parts, listVersions)),
    policy_version: createEndpoint(parts, withinPolicy(parts, readVersion)),
  }
}

/** The same registry below `/policies/<id>`, with only the servers that fit the policy. */
function withinPolicy({ release }: RegistryParts, answer: Answer): Answer {
  return (servers, url) => {
    const [, , policy = '', ...rest] = url.pathname.split('/')
    // Each policy has its page.
    if (!release().files.has(`/policies/${policy}`))
      return { status: 404, error: 'Policy not found' }
    const fitting = servers.filter(({ policies }) => policies?.includes(policy) !== false)
    const inside = new URL(`/${rest.join('/')}${url.search}`, url)
    return answer(fitting, inside)
  }
}

function createEndpoint(parts: RegistryParts, answer: Answer) {
  return createReadEndpoint(parts, 'This registry is read-only.', async (url) =>
    answer(await parts.release().protocolData.servers(), url),
  )
}

const LIST_PARAMETERS = ['search', 'updated_since', 'version', 'include_deleted']

/** `GET /v0.1/servers`, by name; the cursor holds the last name of the previous page. */
async function listServers(
  servers: readonly RegistryRow[],
  { search }: URL,
  readDates: () => Promise<ChangeDates>,
): Promise<Answered> {
  const { query, after, toCursor } = readPagedQuery(search, LIST_PARAMETERS, BAD_CURSOR)
  const limit = query.whole('limit', 1, MOST_PAGE) ?? SERVERS_A_PAGE
  const since = readInstant(query.text('updated_since'))
  // A client that asks for changes keeps copies and must learn of removals.
  const withDeleted = query.flag('include_deleted') ?? since !== undefined
  const words = query.text('search')?.toLowerCase()
  const version = query.text('version')
  const dates = since === undefined ? undefined : await readDates()
  const fitting = servers.filter(
    (row) =>
      (after === undefined || row.name > after) &&
      (withDeleted || !row.deleted) &&
      (since === undefined || changedAt(row, dates) >= since) &&
      (words === undefined || isAbout(row, words)) &&
      (version === undefined || version === 'latest' || version === row.version),
  )
  const page = fitting.slice(0, limit)
  const last = page.at(-1)
  return {
    body: {
      servers: page.map(({ entry }) => entry),
      metadata: {
        count: page.length,
        ...(fitting.length > limit && last && { nextCursor: toCursor(last.name) }),
      },
    },
  }
}

/** When it was added, removed or last changed; unknown times count as just now. */
function changedAt({ id, changed }: RegistryRow, dates: ChangeDates | undefined): number {
  const published = dates?.get(id)
  if (changed === null && published === undefined) return Number.POSITIVE_INFINITY
  return largestOf([changed, published].flatMap((text) => (text ? [Date.parse(text)] : [])))
}

function isAbout({ name, entry }: RegistryRow, words: string): boolean {
  const { description } = entry.server
  return (
    name.toLowerCase().includes(words) ||
    (typeof description === 'string' && description.toLowerCase().includes(words))
  )
}

function readInstant(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const at = /^\d{4}-\d{2}-\d{2}T/.test(text) ? Date.parse(text) : Number.NaN
  if (Number.isNaN(at))
    throw new QueryFault('updated_since: expected an RFC 3339 time such as 2026-01-31T00:00:00Z.')
  return at
}

/** Answers about one server; a removed one is found when requested. */
function ofServer(answer: (row: RegistryRow, version: string) => Answered): Answer {
  return (servers, { pathname, search }) => {
    // As in /v0.1/servers/com.example%2Fweather/versions/latest.
    const [, , , name = '', , version = ''] = pathname.split('/').map(readPathPart)
    const withDeleted = readQuery(search, ['include_deleted']).flag('include_deleted') ?? false
    const row = servers.find((one) => one.name === name && (withDeleted || !one.deleted))
    return row === undefined ? { status: 404, error: 'Server not found' } : answer(row, version)
  }
}

const listVersions = ofServer(({ entry }) => ({
  body: { servers: [entry], metadata: { count: 1 } },
}))

/** `GET /v0.1/servers/{name}/versions/{version}`; `latest` is the only one. */
const readVersion = ofServer((row, version) =>
  version === 'latest' || version === row.version
    ? { body: row.entry }
    : { status: 404, error: 'Server version not found' },
)

/** When the last change of each listing was published, by id. */
type ChangeDates = ReadonlyMap<string, string>

/** @returns empty where no log is kept; a listing whose rows were dropped from the log is missing */
function createChangeDates(outDir: string): () => Promise<ChangeDates> {
  const dates = new Map<string, string>()
  const readOn = followLog(createChangeLog(outDir), {
    keep: ({ id, at }) => dates.set(id, at),
    forget: () => dates.clear(),
  })
  return async () => {
    await readOn()
    return dates
  }
}

const RESOURCES_A_PAGE = 20

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

const BAD_PLACE = 'cursor: expected the cursor of a page before, for the same search.'
const FILTERS = ['type', 'payTo', 'scheme', 'network', 'extensions', 'maxUsdPrice']

/** `GET /discovery/resources`. */
function listResources(rows: readonly ResourceRow[], search: string): unknown {
  const query = readQuery(search, [...FILTERS, 'limit', 'offset'])
  const limit = query.whole('limit', 1, MOST_PAGE) ?? RESOURCES_A_PAGE
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
  const { query, after, toCursor } = readPagedQuery(search, requested, BAD_PLACE)
  const [text = ''] = ['query', 'q'].flatMap((name) => query.text(name, MAX_QUERY_CHARACTERS) ?? [])
  const limit = query.whole('limit', 1, MOST_PAGE) ?? RESOURCES_A_PAGE
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
