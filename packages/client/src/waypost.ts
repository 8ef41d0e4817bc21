import type {
  Categories,
  Changes,
  ChangesParameters,
  CompactRow,
  CompactSearchResponse,
  Compare,
  Kit,
  LintParameters,
  LintReport,
  Listing,
  OperationsAnswer,
  ReportBody,
  ReportTaken,
  SearchParameters,
  SearchResponse,
  SearchResult,
  Sources,
  Stats,
  Task,
  TaskPlan,
  Tasks,
} from './answers.ts'
import { type CallReply, type CallRequest, callThroughRelay } from './relayed-call.ts'
import { type AskOptions, askJson } from './requests.ts'

export interface WaypostOptions {
  /** The directory's address, `https://directory.example`; a path below it is kept. */
  baseUrl: string
  /** Instead of the platform's own, such as one that goes through a proxy. */
  fetch?: typeof fetch
  /** Retries of repeatable requests: 3 by default. */
  retries?: number
  /** Milliseconds one try may take until its answer is read: 30,000 by default. */
  timeoutMs?: number
  /** Header fields of every request, such as a User-Agent. */
  headers?: Record<string, string>
}

export interface RelayInfo extends Record<string, unknown> {
  relayable: boolean
  /** Why not; null where it is. */
  reason: string | null
}

/** Parameters of a search for operations. */
export type OperationsParameters = Omit<SearchParameters, 'sort' | 'facets' | 'view' | 'explain'>

export interface PlanFilters {
  max_price_usd?: number | undefined
  rail?: string | undefined
  network?: string | undefined
  /** At most 5. */
  limit?: number | undefined
}

interface Signalled {
  signal?: AbortSignal | undefined
}

type SearchAnswer<Requested> = Requested extends { view: 'compact' }
  ? CompactSearchResponse
  : SearchResponse
type Search = <const Requested extends SearchParameters>(
  requested: Requested,
  options?: Signalled,
) => Promise<SearchAnswer<Requested>>
type SearchRow<Requested> = Requested extends { view: 'compact' } ? CompactRow : SearchResult

/** A directory's methods; all but `call` and `report` only read and may be repeated. */
export type Waypost = ReturnType<typeof createWaypost>

/** Rows per page of an iterator, the service's maximum. */
const PAGE = 50
/** Milliseconds a check of a slow service may take. */
const LOOK_TIMEOUT = 120_000

/** @throws TypeError when `baseUrl` is not an http(s) address */
export function createWaypost(given: WaypostOptions) {
  const baseUrl = toBase(given.baseUrl)
  const options = toAskOptions(given)
  const read = <Answer>(path: string, { signal }: Signalled = {}, timeoutMs = options.timeoutMs) =>
    askJson<Answer>(
      { url: `${baseUrl}${path}`, signal: signal ?? null, mayRepeat: true },
      { ...options, timeoutMs },
    )
  const search: Search = (requested, options) =>
    read(`/api/v1/search${toQuery(requested)}`, options)
  const at = (id: string, of = 'listings') => `/api/v1/${of}/${encodeURIComponent(id)}`
  return {
    /** The directory's address without a trailing slash. */
    baseUrl,
    search,
    /** Every result of a search, page after page, each listing once; stop at any time. */
    results: <const Requested extends SearchParameters>(
      requested: Requested,
      options?: Signalled,
    ) => eachResult(search, requested, options),
    /** Operations for a task, each with everything the first call takes. */
    operations: (requested: OperationsParameters, options?: Signalled) =>
      read<OperationsAnswer>(`/api/v1/operations${toQuery(requested)}`, options),
    /** What buyers want done, each task with its contract. */
    tasks: (options?: Signalled) => read<Tasks>('/api/v1/tasks', options),
    task: (id: string, options?: Signalled) => read<Task>(at(id, 'tasks'), options),
    /** Interchangeable sellers of a task, each with its filled request. */
    plan: (id: string, input: object, filters?: PlanFilters, options?: Signalled) =>
      read<TaskPlan>(`${at(id, 'tasks')}/plan${toQuery({ ...input, ...filters })}`, options),
    listing: (id: string, options?: Signalled) => read<Listing>(at(id), options),
    kit: (id: string, options?: Signalled) => read<Kit>(`${at(id)}/kit.json`, options),
    compare: (ids: readonly string[], options?: Signalled) =>
      read<Compare>(`/api/v1/compare${toQuery({ ids: ids.join(',') })}`, options),
    categories: (options?: Signalled) => read<Categories>('/api/v1/categories', options),
    sources: (options?: Signalled) => read<Sources>('/api/v1/sources', options),
    stats: (options?: Signalled) => read<Stats>('/api/v1/stats', options),
    /** One page of what changed in the directory since a cursor or a time. */
    changes: (requested: ChangesParameters = {}, options?: Signalled) =>
      read<Changes>(`/api/v1/changes${toQuery(requested)}`, options),
    /** A service's answers, as a client would see them; takes at most a minute. */
    lint: (requested: LintParameters, options?: Signalled) =>
      read<LintReport>(`/api/v1/lint${toQuery(requested)}`, options, LOOK_TIMEOUT),
    /** Reports a service to list, or an error, to the directory's maintainers; they decide. */
    report: (report: ReportBody, { signal }: Signalled = {}) => {
      const headers = { 'content-type': 'application/json' }
      const url = `${baseUrl}/api/v1/reports`
      const sent = { url, method: 'POST', headers, body: JSON.stringify(report) }
      const requested = { ...sent, signal: signal ?? null, mayRepeat: false }
      return askJson<ReportTaken>(requested, options)
    },
    /** Whether and how the relay would call a listing; the seller is not contacted. */
    callInfo: (id: string, endpoint?: string, options?: Signalled) => {
      const query = toQuery({ relay_info: 1, endpoint })
      return read<RelayInfo>(`/api/v1/call/${encodeURIComponent(id)}${query}`, options)
    },
    /** One call to a seller, through the relay, paid by the caller's own wallet where allowed. */
    call: (id: string, request: CallRequest = {}): Promise<CallReply> =>
      callThroughRelay(baseUrl, id, request, options),
  }
}

async function* eachResult<const Requested extends SearchParameters>(
  search: Search,
  requested: Requested,
  options?: Signalled,
): AsyncGenerator<SearchRow<Requested>, void, undefined> {
  const seen = new Set<string>()
  for (let offset = requested.offset ?? 0; ; ) {
    const page = await search({ limit: PAGE, ...requested, offset }, options)
    for (const row of page.results) {
      // A release may be swapped between two pages: rows that moved down are not returned twice.
      if (seen.has(row.id)) continue
      seen.add(row.id)
      // `view` chose the form of the rows, as the signature says.
      yield row as SearchRow<Requested>
    }
    offset += page.results.length
    if (page.results.length === 0 || offset >= page.total) return
  }
}

function toAskOptions(given: WaypostOptions): AskOptions {
  return {
    fetch: given.fetch ?? ((input, init) => fetch(input, init)),
    retries: given.retries ?? 3,
    timeoutMs: given.timeoutMs ?? 30_000,
    headers: given.headers ?? {},
  }
}

function toBase(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new TypeError(`baseUrl: expected an http(s) address, got ${JSON.stringify(text)}`)
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`
}

/** @example toQuery({ q: 'web search', has: ['openapi', 'llms_txt'], kind: undefined }) → '?q=web+search&has=openapi%2Cllms_txt' */
function toQuery(parameters: object): string {
  const given = Object.entries(parameters).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, Array.isArray(value) ? value.join(',') : String(value)]],
  )
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`
}
