import { EXPECT_HEADER } from '../../../src/domain/relay/pins.ts'
import { callPath, kitPath } from '../../../src/domain/wire/links.ts'
import { isAtAddress } from '../../../src/domain/wire/text.ts'
import type {
  Categories,
  Changes,
  ChangesParameters,
  CompactKit,
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
import { type Lock, type LockEntry, pinnedIn, toExpected } from './lock.ts'
import {
  type PaymentTerms,
  type PayWith,
  type Quote,
  readQuotes,
  readTerms,
  receiptOf,
  signCheapest,
} from './payment.ts'
import { type AskOptions, askJson, discard, MAX_ANSWER_BYTES, send, toHeaders } from './requests.ts'
import { WaypostError } from './waypost-error.ts'

export interface WaypostOptions {
  /** The directory's address, `https://directory.example`; a path below it is kept. */
  baseUrl: string
  /** Replaces the platform's `fetch`, for example to use a proxy. */
  fetch?: typeof fetch
  /** Retries of repeatable requests: 3 by default. */
  retries?: number
  /** Milliseconds for one try, including reading the answer: 30,000 by default. */
  timeoutMs?: number
  /** Header fields for every request, such as a User-Agent. */
  headers?: Record<string, string>
}

export interface RelayInfo extends Record<string, unknown> {
  relayable: boolean
  /** Why the relay cannot call the listing; null if it can. */
  reason: string | null
}

/** Parameters for an operation search. */
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

/** A directory's methods; all except `call` and `report` only read and may be repeated. */
export type Waypost = ReturnType<typeof createWaypost>

/** Rows per page of an iterator, the service's maximum. */
const PAGE = 50
/** Milliseconds for `lint`, which may wait for a slow service. */
const LOOK_TIMEOUT = 120_000
/** Sellers settle after they answer: a paid call that is aborted early may have been paid. */
const PAID_TIMEOUT = 330_000

/** @throws TypeError if `baseUrl` is not an http(s) address */
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
    /** Operations for a task, each with everything needed for a first call. */
    operations: (requested: OperationsParameters, options?: Signalled) =>
      read<OperationsAnswer>(`/api/v1/operations${toQuery(requested)}`, options),
    /** The tasks that buyers want done, each with its contract. */
    tasks: (options?: Signalled) => read<Tasks>('/api/v1/tasks', options),
    task: (id: string, options?: Signalled) => read<Task>(at(id, 'tasks'), options),
    /** Interchangeable sellers for a task, each with its filled request. */
    plan: (id: string, input: object, filters?: PlanFilters, options?: Signalled) =>
      read<TaskPlan>(`${at(id, 'tasks')}/plan${toQuery({ ...input, ...filters })}`, options),
    listing: (id: string, options?: Signalled) => read<Listing>(at(id), options),
    kit: (id: string, options?: Signalled) => read<Kit>(`${at(id)}/kit.json`, options),
    compare: (ids: readonly string[], options?: Signalled) =>
      read<Compare>(`/api/v1/compare${toQuery({ ids: ids.join(',') })}`, options),
    categories: (options?: Signalled) => read<Categories>('/api/v1/categories', options),
    sources: (options?: Signalled) => read<Sources>('/api/v1/sources', options),
    stats: (options?: Signalled) => read<Stats>('/api/v1/stats', options),
    /** One page of changes in the directory since a cursor or a time. */
    changes: (requested: ChangesParameters = {}, options?: Signalled) =>
      read<Changes>(`/api/v1/changes${toQuery(requested)}`, options),
    /** Probes a service as a client would, and reports; takes at most a minute. */
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
    /** Whether and how the relay would call a listing, without contacting the seller. */
    callInfo: (id: string, endpoint?: string, options?: Signalled) => {
      const query = toQuery({ relay_info: 1, endpoint })
      return read<RelayInfo>(`/api/v1/call/${encodeURIComponent(id)}${query}`, options)
    },
    /** One call to a seller, through the relay, paid from the caller's own wallet if allowed. */
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
      // A release may be swapped between two pages: rows that moved down must not be returned twice.
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

interface CallRequest {
  /** A path, or an https URL on the seller's host; the listing's own URL by default. */
  endpoint?: string | undefined
  /** By default POST with a body, otherwise GET. */
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | undefined
  headers?: Record<string, string> | undefined
  /** Text and bytes are sent unchanged, any other value as JSON. */
  body?: unknown
  /** Pays if the seller demands payment; without `pay`, a 402 is returned with its terms. */
  pay?: PayWith | undefined
  /** The lock written by `waypost pin`: nothing is paid if listing, payee or price differ from the lock. */
  lock?: Lock | undefined
  signal?: AbortSignal | undefined
  /** Milliseconds for each of the two requests, including reading the answer. */
  timeoutMs?: number | undefined
  /** The longest answer that is read, decompressed; 64 MiB by default. */
  maxBytes?: number | undefined
}

export interface CallReply {
  /**
   * The seller's answer, or the relay's refusal (`application/problem+json`), unread. Reading its
   * body fails with a WaypostError if the body is too long, too slow or cut off.
   */
  response: Response
  /** The seller's x402 terms, if the seller demanded payment. */
  terms?: PaymentTerms
  /** The payment that was sent with the call; the receipt shows whether it settled. */
  paid?: Pick<Quote, 'rail' | 'usd' | 'payee'>
  /** The seller's report on the settlement. */
  receipt?: unknown
}

/**
 * One call through the relay, sent once, and once more with a payment if `pay` allows it: a request
 * that may cost money or change something is never repeated.
 * @throws WaypostError `changed` if the call differs from the lock, `over-budget` and
 *   `wallet-refused` before anything is paid, `too-large`, `unreachable`, `timeout`, or
 *   `payment-unsure` if an answer to a paid request never came
 */
async function callThroughRelay(
  baseUrl: string,
  id: string,
  request: CallRequest,
  options: AskOptions,
): Promise<CallReply> {
  const { pay, lock } = request
  const entry = lock && pinnedIn(lock, id)
  const call = { baseUrl, id, request, options }
  const { response: first, url, expected } = await callUnpaid(call, entry)
  const terms = first.status === 402 ? await readTerms(first) : null
  const reply = { response: first, ...(terms !== null && { terms }) }
  if (pay === undefined || first.status !== 402) return reply
  const { quote, payment } = await signCheapest(readQuotes(first, terms, pay), pay.maxUsd, entry)
  discard(first)
  const sent = { ...expected, [payment.name]: payment.value }
  const timeoutMs = request.timeoutMs ?? PAID_TIMEOUT
  const response = await sendCall(call, url, sent, timeoutMs).catch((cause: unknown) => {
    throw toUnsure(cause)
  })
  if (entry !== undefined) await refuseChanged(response)
  const { rail, usd, payee } = quote
  return { ...reply, response, paid: { rail, usd, payee }, receipt: receiptOf(response) }
}

interface Call {
  baseUrl: string
  id: string
  request: CallRequest
  options: AskOptions
}

/** Calls without payment; a moved or changed listing is called again in the form that the relay accepts. */
async function callUnpaid(call: Call, entry: LockEntry | undefined) {
  const { baseUrl, id, request, options } = call
  const { endpoint, timeoutMs = options.timeoutMs } = request
  const query = endpoint === undefined ? '' : `?endpoint=${encodeURIComponent(endpoint)}`
  let url = `${baseUrl}${callPath(encodeURIComponent(id))}${query}`
  let expected = entry && (await toExpectHeader(call, entry, entry.digest))
  let response = await sendCall(call, url, { ...expected }, timeoutMs)
  const moved = response.status === 308 ? response.headers.get('location') : null
  if (moved?.startsWith(callPath('')) === true) {
    discard(response)
    url = baseUrl + moved
    response = await sendCall(call, url, { ...expected }, timeoutMs)
  }
  const refusal = entry && (await findRefusal(response))
  if (entry !== undefined && refusal) {
    // Another of the listing's calls may have changed, but not this one.
    expected = await toExpectHeader(call, entry, null, refusal)
    response = await sendCall(call, url, { ...expected }, timeoutMs)
    await refuseChanged(response)
  }
  return { response, url, expected }
}

/**
 * The state that the relay must enforce: the listing as pinned or, without a digest, its current
 * state if the call itself is as pinned.
 * @throws WaypostError `changed` if the call is not as pinned
 */
async function toExpectHeader(
  call: Call,
  entry: LockEntry,
  digest: string | null,
  refusal?: WaypostError,
): Promise<Record<string, string>> {
  if (digest !== null) return { [EXPECT_HEADER]: toExpected(entry, digest) }
  const { endpoint, body, method = body === undefined ? 'GET' : 'POST' } = call.request
  const name = findCall(entry, method, endpoint)
  const kit = name && (await readKit(call, name))
  const isMoot = refusal !== undefined && kit && kit.digest === entry.digest
  if (!kit || isMoot || kit.operation.digest !== entry.calls[name]) {
    const detail = `${method} ${endpoint ?? call.id} differs from the pinned call. Nothing was sent.`
    throw refusal ?? new WaypostError('changed', detail)
  }
  return { [EXPECT_HEADER]: toExpected(entry, kit.digest) }
}

/** @returns undefined if the listing or the call is gone */
async function readKit({ baseUrl, id, request, options }: Call, name: string) {
  const query = `?view=compact&operation=${encodeURIComponent(name)}`
  const url = baseUrl + kitPath(encodeURIComponent(id)) + query
  const requested = { url, signal: request.signal ?? null, mayRepeat: true }
  try {
    return await askJson<CompactKit>(requested, options)
  } catch (error) {
    if (error instanceof WaypostError && [400, 404, 410].includes(error.status)) return undefined
    throw error
  }
}

/** The relay's report that the call differs from the lock; a seller's own 409 is a normal answer. */
async function findRefusal(response: Response): Promise<WaypostError | undefined> {
  if (response.status !== 409 || !response.headers.has('proxy-status')) return undefined
  const { detail = '' }: { detail?: string } = await response.json()
  return new WaypostError('changed', detail, { status: 409 })
}

async function refuseChanged(response: Response): Promise<void> {
  const refusal = await findRefusal(response)
  if (refusal !== undefined) throw refusal
}

function toUnsure(cause: unknown): WaypostError {
  const why = cause instanceof Error ? cause.message : cause
  const detail = `No answer came to the paid call (${why}). It may have been paid: look at the wallet before trying again.`
  return new WaypostError('payment-unsure', detail, { cause })
}

function sendCall(
  { request, options }: Call,
  url: string,
  added: Record<string, string>,
  timeoutMs: number,
): Promise<Response> {
  const { headers, body, signal = null, maxBytes = MAX_ANSWER_BYTES } = request
  const isPlain = body === undefined || typeof body === 'string' || body instanceof Uint8Array
  const type: Record<string, string> = isPlain ? {} : { 'content-type': 'application/json' }
  return send(
    {
      url,
      method: request.method ?? (body === undefined ? 'GET' : 'POST'),
      redirect: 'manual',
      headers: toHeaders(type, options.headers, headers, added),
      ...(body !== undefined && { body: toBody(body) }),
      signal,
    },
    { fetch: options.fetch, timeoutMs, maxBytes },
  )
}

function toBody(body: unknown): BodyInit {
  if (typeof body === 'string') return body
  return body instanceof Uint8Array ? new Uint8Array(body) : JSON.stringify(body)
}

/**
 * The pinned call that goes to an endpoint.
 * @param endpoint undefined means the listing's own URL
 * @example findCall(entry, 'POST', '/search') → 'POST https://api.exa.ai/search'
 */
function findCall({ calls }: LockEntry, method: string, endpoint?: string): string | undefined {
  const own = Object.keys(calls).filter((name) => name.startsWith(`${method} `))
  if (endpoint !== undefined)
    return own.find((name) => isAtAddress(name.slice(method.length + 1), endpoint))
  return own.length === 1 ? own[0] : undefined
}
