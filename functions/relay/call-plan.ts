import type { IncomingMessage } from 'node:http'
import { type Gone, type LiveListing, toGoneText } from '../../src/domain/listing/listing-states.ts'
import { networksOf, railsOf } from '../../src/domain/listing/pricing.ts'
import { MAX_URL_LENGTH } from '../../src/domain/listing/target-url.ts'
import { MAX_TERMS_BYTES } from '../../src/domain/relay/payments.ts'
import {
  type Difference,
  type Expectation,
  judgePayment,
  parseExpectation,
  toSentences,
} from '../../src/domain/relay/pins.ts'
import {
  EXPOSED_HEADERS,
  findPaymentHeaderFault,
  PROXY_NAME,
} from '../../src/domain/relay/relayed-headers.ts'
import { CALL_PREFIX } from '../../src/domain/wire/links.ts'
import { codeOf, PROBLEMS, type ProblemCode } from '../../src/domain/wire/problems.ts'
import { toTransportHeaders } from '../../src/domain/wire/published-files.ts'
import { ROUTES } from '../../src/domain/wire/routes.ts'
import { decodePercents } from '../../src/domain/wire/text.ts'
import { HTTP_METHODS } from '../../src/domain/wire/vocabulary.ts'
import type { MakeProblem, ProblemOptions } from '../http/answers.ts'
import {
  AddressRefusedError,
  ConnectDeadlineError,
  isOwnHost,
  OwnAddressError,
  PURPOSES,
} from '../net/guard.ts'
import type { Config } from '../ports/config.ts'
import { type Release, toUnknownText } from '../release/release.ts'
import { type Budget, createBudget } from '../server/budget.ts'
import { splitTarget } from '../server/node-answers.ts'

/** Where a call goes. */
export interface CallPlan {
  listing: LiveListing
  target: URL
  path: string
  expectation: Expectation | null
}

interface PlanContext {
  release: Pick<Release, 'gone' | 'listings'>
  config: Config
  own: URL
  limits: RelayLimits
  refuse: MakeCallProblem
}

/** HEAD is not allowed: a seller's framework may treat it as an unpaid GET. */
const ALLOW = [...ROUTES.call.methods, 'OPTIONS'].join(', ')

/** Resolves no name and counts nothing. @returns the plan, or the answer if nothing is to be sent */
export function planCall(req: IncomingMessage, context: PlanContext): CallPlan | Response {
  const { release, refuse } = context
  const method = req.method ?? ''
  if (method === 'OPTIONS') return answerPreflight(req)
  if (!ROUTES.call.methods.some((known) => known === method))
    return refuse(
      {
        code: 'method-not-allowed',
        error: 'http_request_denied',
        detail: `The relay accepts ${ALLOW}, got ${method}.`,
      },
      { headers: { Allow: ALLOW } },
    )
  const { path, query } = splitTarget(req.url ?? '')
  const id = decodePercents(path.slice(CALL_PREFIX.length)) ?? ''
  const listing = release.listings.get(id)
  const gone = listing === undefined ? release.gone.get(id) : undefined
  if (gone !== undefined) return toGoneCall(gone, req.url ?? '', refuse)
  if (listing === undefined)
    return refuse({
      code: 'listing-not-found',
      error: 'destination_not_found',
      detail: toUnknownText(release, id),
    })
  return planListing(req, listing, query, context)
}

function planListing(
  req: IncomingMessage,
  listing: LiveListing,
  rawQuery: string,
  context: PlanContext,
): CallPlan | Response {
  const { config, own, refuse } = context
  const query = parseCallQuery(rawQuery)
  const target = parseCallTarget(listing.url, query)
  const isRelayable = listing.buy === 'relay_x402'
  if ('fault' in target && (isRelayable || query.wantsInfo))
    return refuse(
      {
        code: 'invalid-parameter',
        error: 'http_request_error',
        detail: `endpoint: ${target.fault}.`,
      },
      { errors: [{ in: 'query', name: 'endpoint', detail: target.fault }] },
    )
  if (query.wantsInfo) return toInfoResponse(listing, context)
  if (!isRelayable || 'fault' in target) return toNotRelayable(listing, config, refuse)
  // Catches a loop by host name; the guard catches a loop by address.
  if (isOwnHost(target.url, own))
    return refuse({
      code: 'relay-loop',
      error: 'proxy_loop_detected',
      detail: `The target ${target.url.host} is this service's own host.`,
    })
  const fault = findMessageFault(req, context)
  if (fault !== null) return fault
  const expectation = readExpectation(req, listing, refuse)
  if (expectation instanceof Response) return expectation
  return { listing, target: target.url, path: target.path, expectation }
}

/**
 * A call to a listing that moved is never forwarded: the caller repeats it, and 308 keeps method, body
 * and payment. A call meant for one host must not go to another without the caller's consent.
 */
function toGoneCall(gone: Gone, target: string, refuse: MakeCallProblem): Response {
  const { id, moved_to, another_host } = gone
  const location =
    moved_to !== undefined && another_host === undefined && target.replace(id, moved_to)
  return refuse(
    {
      code: location ? 'listing-moved' : 'listing-gone',
      error: 'destination_not_found',
      detail: `${toGoneText(gone)} Nothing was sent.`,
    },
    { extra: { ...gone }, ...(location && { headers: { Location: location } }) },
  )
}

/** What the caller expects; a refusal if the header cannot be parsed, or if the call already differs from it. */
function readExpectation(
  req: IncomingMessage,
  listing: LiveListing,
  refuse: MakeCallProblem,
): Expectation | null | Response {
  const expectation = parseExpectation(req.rawHeaders)
  if (typeof expectation === 'string')
    return refuse(
      { code: 'invalid-parameter', error: 'http_request_error', detail: expectation },
      { errors: [{ in: 'header', name: 'Call-Expect', detail: expectation }] },
    )
  const changed = expectation === null ? [] : findChanged(req, listing, expectation)
  return changed.length > 0 ? toChanged(changed, refuse) : expectation
}

/** Differences known before anything is sent: in the listing, or in the call's payment. */
function findChanged(
  req: IncomingMessage,
  { digest: found }: LiveListing,
  expectation: Expectation,
): Difference[] {
  const { digest: expected = found } = expectation
  return [
    ...(expected === found ? [] : [{ what: 'digest' as const, expected, found }]),
    ...judgePayment(req.rawHeaders, expectation),
  ]
}

function toNotRelayable(listing: LiveListing, config: Config, refuse: MakeCallProblem): Response {
  const reason = listing.not_relayable_reason ?? 'It is not a paid HTTP API on rail x402.'
  return refuse(
    {
      code: 'not-relayable',
      error: 'http_request_denied',
      detail: `${listing.id} cannot be called through the relay. ${reason} Call the seller directly: link_out has the address.`,
    },
    {
      extra: {
        listing_id: listing.id,
        reason,
        link_out: listing.url,
        go: `${config.BASE_URL}/go/${listing.id}?src=api`,
      },
    },
  )
}

function findMessageFault(req: IncomingMessage, { limits, refuse }: PlanContext): Response | null {
  const fault = findPaymentHeaderFault(req.rawHeaders)
  if (fault !== null)
    return refuse({
      code: 'malformed-request',
      error: 'http_request_error',
      detail: `${fault}. Nothing was sent.`,
    })
  const length = Number(req.headers['content-length'] ?? 0)
  if (length > limits.requestBodyBytes)
    return refuse({
      code: 'payload-too-large',
      error: 'http_request_denied',
      detail: `A relayed body may have at most ${limits.requestBodyBytes} bytes, got ${length}. Nothing was sent.`,
    })
  return null
}

const DEFAULT_HEADERS =
  'Content-Type, Authorization, X-PAYMENT, PAYMENT-SIGNATURE, Accept-Payment, Access-Control-Expose-Headers'

/** A browser sends a preflight once an hour, not before every purchase. */
const MAX_AGE_SECONDS = 3600

/**
 * Any origin may call, with any header that its preflight names: `*` never covers `Authorization`, and
 * real clients send `Access-Control-Expose-Headers` as a request header.
 */
function answerPreflight(req: IncomingMessage): Response {
  const requested = req.headers['access-control-request-headers']
  const isList = requested !== undefined && /^[\w!#$%&'*+.^`|~, \t-]{1,4096}$/.test(requested)
  return new Response(null, {
    status: 204,
    headers: {
      Allow: ALLOW,
      'Access-Control-Allow-Origin': '*',
      'Access-Control-Allow-Methods': ALLOW,
      'Access-Control-Allow-Headers': isList ? requested : DEFAULT_HEADERS,
      'Access-Control-Expose-Headers': EXPOSED_HEADERS.join(', '),
      'Access-Control-Max-Age': String(MAX_AGE_SECONDS),
      Vary: 'Access-Control-Request-Headers',
    },
  })
}

function toInfoResponse(listing: LiveListing, { config, limits }: PlanContext): Response {
  return Response.json(toRelayInfoView(listing, toWireNames(limits)), {
    headers: {
      'Cache-Control': 'no-store',
      'Access-Control-Allow-Origin': '*',
      'X-Content-Type-Options': 'nosniff',
      Link: `<${config.BASE_URL}/api/v1/listings/${listing.id}>; rel="describedby"`,
    },
  })
}

/** Snake case, and milliseconds as seconds. @example { graceMs: 10_000 } → { grace_seconds: 10 } */
function toWireNames(values: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => {
      const shown = name
        .replace(/Ms$/, 'Seconds')
        .replace(/[A-Z]/g, (big) => `_${big.toLowerCase()}`)
      if (typeof value === 'object') return [shown, toWireNames(value)]
      return [shown, name.endsWith('Ms') ? value / 1000 : value]
    }),
  )
}

/**
 * The relay's own errors. Each has `Proxy-Status` (RFC 9209), which a relayed answer never has in
 * our name, so a caller can tell our 502 or 429 from the seller's.
 */
type CallProblem = { code: ProblemCode; error: string; detail: string }

export type MakeCallProblem = (
  problem: CallProblem,
  options?: Omit<ProblemOptions, 'detail'>,
) => Response

const MAY_HAVE_SETTLED =
  'If the call carried a payment, it may have settled anyway. Check before you pay again.'

/** Reasons why we end a relayed call; all other failures come from Node. */
const ENDS = {
  too_large: say('payload-too-large', 'http_request_denied', PROBLEMS['payload-too-large'].help),
  stalled: say(
    'malformed-request',
    'http_request_error',
    'The request body stopped arriving, or came too slowly.',
  ),
  caller_gone: unreachable('connection_terminated', 'The caller closed the connection.'),
  gave_way: say(
    'relay-busy',
    'connection_limit_reached',
    `The relay is full, and this client has the most calls in flight. ${MAY_HAVE_SETTLED}`,
  ),
  late: say('seller-timeout', 'http_response_timeout', `No answer in time. ${MAY_HAVE_SETTLED}`),
  long_terms: unreachable(
    'http_response_body_size',
    `The 402 is longer than ${MAX_TERMS_BYTES} bytes when decompressed: its terms were not read, and no payment was passed on.`,
  ),
  invalid: unreachable('http_protocol_error', `The answer is not valid HTTP. ${MAY_HAVE_SETTLED}`),
}

export class CallAborted extends Error {
  override name = 'CallAborted'
  readonly why: keyof typeof ENDS
  constructor(why: keyof typeof ENDS) {
    super(why)
    this.why = why
  }
}

export function createCallProblems(problem: MakeProblem, baseUrl: string): MakeCallProblem {
  return ({ code, error, detail }, options = {}) =>
    problem(code, {
      detail,
      ...options,
      headers: {
        ...toTransportHeaders(baseUrl),
        'Proxy-Status': `${PROXY_NAME}; error=${error}`,
        'Access-Control-Expose-Headers': 'Proxy-Status, RateLimit, RateLimit-Policy, Retry-After',
        ...(code === 'relay-busy' && { 'Retry-After': '1' }),
        ...options.headers,
      },
    })
}

/**
 * A failure before the seller's headers arrived, as a problem of the relay. Node's and the seller's
 * messages are not repeated: they may quote what the caller sent.
 */
export function toCallProblem(error: unknown): CallProblem {
  if (error instanceof AddressRefusedError)
    return say('seller-refused', 'destination_ip_prohibited', `Nothing was sent: ${error.message}.`)
  if (error instanceof OwnAddressError)
    return say('relay-loop', 'proxy_loop_detected', "The target is this service's own address.")
  if (error instanceof ConnectDeadlineError)
    return say('seller-timeout', 'connection_timeout', 'No connection in time; nothing was sent.')
  return error instanceof CallAborted ? ENDS[error.why] : fromCode(codeOf(error))
}

/** 409: the seller, the listing or the payment is not what the caller expects. */
export function toChanged(changed: readonly Difference[], refuse: MakeCallProblem): Response {
  const detail = `${toSentences(changed)} No payment was passed on.`
  return refuse({ code: 'changed', error: 'http_request_denied', detail }, { extra: { changed } })
}

function fromCode(code: string): CallProblem {
  if (/^(ENOTFOUND|EAI_|ENODATA|ESERVFAIL|EREFUSED|EBADNAME|EFORMERR)/.test(code))
    return unreachable('dns_error', 'The host name has no address.')
  if (code === 'ETIMEOUT')
    return say('seller-timeout', 'dns_timeout', 'The host name was not resolved in time.')
  if (code === 'ECONNREFUSED')
    return unreachable('connection_refused', 'The connection was refused.')
  if (code === 'EHOSTUNREACH' || code === 'ENETUNREACH')
    return unreachable(
      'destination_ip_unroutable',
      'The host cannot be reached: no route leads there.',
    )
  if (/CERT|SELF_SIGNED|UNABLE_TO_(GET|VERIFY)/.test(code))
    return unreachable('tls_certificate_error', 'The TLS certificate could not be verified.')
  if (/^(ERR_SSL|EPROTO|ERR_TLS)/.test(code))
    return unreachable('tls_protocol_error', 'The TLS handshake failed.')
  if (code === 'HPE_HEADER_OVERFLOW')
    return unreachable(
      'http_response_header_section_size',
      `The answer's headers are too large. ${MAY_HAVE_SETTLED}`,
    )
  // Node's parser reports this about a seller that does not speak HTTP.
  if (code.startsWith('HPE_')) return ENDS.invalid
  return unreachable(
    'connection_terminated',
    `The connection broke before an answer came. ${MAY_HAVE_SETTLED}`,
  )
}

function say(code: ProblemCode, error: string, detail: string): CallProblem {
  return { code, error, detail }
}

function unreachable(error: string, detail: string): CallProblem {
  return say('seller-unreachable', error, detail)
}

/** The relay's sizes and times, in bytes and milliseconds: the code applies them and `relay_info` publishes them. */
export const RELAY_LIMITS = {
  requestBodyBytes: 10 * 1024 * 1024,
  /** Names and values of one message's header fields, in each direction. */
  headerBytes: PURPOSES.relay.limits.headerBytes,
  connectMs: PURPOSES.relay.limits.connectMs,
  responseHeadersMs: 30_000,
  /** An offer may allow 300 s, and sellers settle once their handler is done, even if nobody listens. */
  paidResponseHeadersMs: 330_000,
  /** Longest silence within a body, in each direction. */
  idleBodyMs: 60_000,
  /** How fast a caller's body must arrive on average after the grace period, and how long it may take in total. */
  upload: { graceMs: 10_000, minBytesPerSecond: 1024, maxMs: 600_000 },
  /** A client may hold an eighth of a listing's calls, so that others can still call it. A network is an IPv6 /48. */
  inFlight: {
    perListing: 256,
    perListingAndClient: 32,
    perListingAndNetwork: 64,
    perClient: 128,
    perNetwork: 256,
    inAll: 1024,
  },
  /** Paid answers that are still read for their settlement after the caller left. */
  draining: { perClient: 16, perNetwork: 32, inAll: 128 },
}

export type RelayLimits = typeof RELAY_LIMITS

export interface Slot {
  leave(): void
  /** Set by whichever code acquired the slot; ends the call if the slot is needed. */
  evict: () => void
}

/**
 * Counts calls under way, so that a slow seller or a greedy client cannot take all slots. A slot is
 * counted for its listing and overall. If all slots are taken, the client that holds the most loses
 * its oldest call: a few clients with a hundred calls each must not keep other clients out.
 */
export function createInFlight(limits: RelayLimits['inFlight']) {
  const all = createBudget(limits)
  const listings = new Map<string, Budget>()
  const ofListing = (id: string): Budget => {
    const known = listings.get(id)
    if (known !== undefined) return known
    const created = createBudget({
      perClient: limits.perListingAndClient,
      perNetwork: limits.perListingAndNetwork,
      inAll: limits.perListing,
    })
    listings.set(id, created)
    return created
  }
  return {
    /** @returns the call's slot, or the name of the limit that was reached */
    enter(listingId: string, client: string): Slot | string {
      const own = ofListing(listingId)
      const [ofOwn, ofAll] = [own.reachedBy(client), all.reachedBy(client)]
      if (ofOwn !== null) return `listing and ${ofOwn}`
      if (ofAll !== null) return ofAll
      const evict = () => {
        slot.leave()
        slot.evict()
      }
      // A call evicted from its listing's slots also frees an overall slot.
      const here = own.take(client, { evict })
      if (typeof here === 'string') return 'listing'
      const inAll = all.take(client, { evict })
      const slot: Slot = {
        leave() {
          here.release()
          if (typeof inAll !== 'string') inAll.release()
          if (own.isFree() && listings.get(listingId) === own) listings.delete(listingId)
        },
        evict: () => {},
      }
      if (typeof inAll !== 'string') return slot
      slot.leave()
      return inAll
    },
  }
}

/**
 * Where a relayed call goes. The query is never parsed and written again: `URLSearchParams` would
 * turn `%20` into `+`, `flag` into `flag=` and `%zz` into `%25zz`, and a seller that compares the
 * signed resource with the URL it received would refuse the payment. Our two parameters are cut out
 * of the raw text; every other byte stays.
 */
type CallQuery = ReturnType<typeof parseCallQuery>

/** @example parseCallQuery('a=%20&endpoint=%2Fx&flag') → { endpoint: '/x', rest: 'a=%20&flag', … } */
function parseCallQuery(rawQuery: string) {
  const endpoints: string[] = []
  const rest: string[] = []
  let wantsInfo = false
  for (const part of rawQuery === '' ? [] : rawQuery.split('&')) {
    const equals = part.indexOf('=')
    const name = decodeForm(equals < 0 ? part : part.slice(0, equals))
    if (name === 'endpoint') endpoints.push(decodeForm(equals < 0 ? '' : part.slice(equals + 1)))
    else if (name === 'relay_info') wantsInfo = true
    else rest.push(part)
  }
  return {
    /** Decoded; null if absent. */
    endpoint: endpoints[0] ?? null,
    isEndpointRepeated: endpoints.length > 1,
    wantsInfo,
    /** Everything else, byte for byte, without the question mark. */
    rest: rest.join('&'),
  }
}

/**
 * The listing's own URL, or `endpoint` on its origin; `path` is for the request line.
 * @example parseCallTarget('https://a.example/v1', parseCallQuery('endpoint=/v2&q=1')) → '/v2?q=1'
 */
function parseCallTarget(listingUrl: string, query: CallQuery) {
  const base = new URL(listingUrl)
  if (query.isEndpointRepeated) return { fault: 'expected endpoint once, got it more than once' }
  const url = query.endpoint === null ? base : parseEndpoint(query.endpoint, base)
  if (typeof url === 'string') return { fault: url }
  const own = url.search.slice(1)
  const all = [own, query.rest].filter((part) => part !== '').join('&')
  const path = url.pathname + (all === '' ? '' : `?${all}`)
  if (query.endpoint !== null && url.pathname.length + own.length > MAX_URL_LENGTH)
    return { fault: `expected an endpoint of at most ${MAX_URL_LENGTH} characters` }
  return { url, path }
}

/** Checked as text before parsing: to `new URL()`, `//evil`, `/\evil` and `\thttp://evil` are other hosts. */
function parseEndpoint(text: string, base: URL): URL | string {
  const right = `a path such as /v1/weather, or a URL that starts with ${base.origin}/`
  if (text.length > MAX_URL_LENGTH) return `expected at most ${MAX_URL_LENGTH} characters`
  // biome-ignore lint/suspicious/noControlCharactersInRegex: refusing them is the point
  if (/[\u0000-\u0020\u007f\\#]/.test(text))
    return `expected ${right}, without spaces, control characters, backslashes or a fragment`
  if (text.startsWith('/') ? text.startsWith('//') : !/^https?:\/\/[^/]/i.test(text))
    return `expected ${right}`
  const url = URL.parse(text, base)
  if (url === null) return `expected ${right}`
  const authority = text.startsWith('/') ? '' : (text.split(/[/?]/, 3)[2] ?? '')
  if (authority.includes('@')) return 'expected no user name or password in the endpoint'
  if (url.origin !== base.origin) return `expected the seller's own origin, ${base.origin}`
  return url
}

/** Decodes as HTML forms encode: `+` is a space. A broken escape stays unchanged and fails later. */
function decodeForm(text: string): string {
  const spaced = text.replaceAll('+', ' ')
  return decodePercents(spaced) ?? spaced
}

/** The answer to `?relay_info`. @param limits the relay's own limits, in bytes and seconds */
function toRelayInfoView(listing: LiveListing, limits: Record<string, unknown>) {
  const relayable = listing.buy === 'relay_x402'
  return {
    listing_id: listing.id,
    relayable,
    reason: relayable ? null : listing.not_relayable_reason,
    buy: listing.buy,
    seller_origin: new URL(listing.url).origin,
    default_endpoint: listing.url,
    methods: listing.methods.length > 0 ? listing.methods : [...HTTP_METHODS],
    rails: [...railsOf(listing.pricing)],
    networks: networksOf(listing.pricing),
    pricing: listing.pricing,
    request_headers: [
      'PAYMENT-SIGNATURE',
      'X-PAYMENT',
      'Authorization',
      'Accept-Payment',
      'Content-Type',
    ],
    response_headers: [...EXPOSED_HEADERS],
    limits,
    custody: 'none',
    fee_usd: 0,
  }
}
