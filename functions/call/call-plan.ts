import type { IncomingMessage } from 'node:http'
import { type Gone, toGoneText } from '../../src/domain/derived/tombstone.ts'
import type { LiveListing } from '../../src/domain/listing/live-listing.ts'
import { judgePayment, parseExpectation } from '../../src/domain/pins/expectation.ts'
import type { Difference, Expectation } from '../../src/domain/pins/offer.ts'
import { parseCallQuery, parseCallTarget } from '../../src/domain/relay/call-target.ts'
import { toRelayInfoView } from '../../src/domain/relay/relay-info-view.ts'
import { EXPOSED_HEADERS, findPaymentHeaderFault } from '../../src/domain/relay/relayed-headers.ts'
import { ROUTES } from '../../src/domain/wire/route-table.ts'
import { toWireNames } from '../../src/domain/wire/wire-names.ts'
import { isOwnHost } from '../net/guard.ts'
import type { Config } from '../ports/config.ts'
import { type Release, toUnknownText } from '../release/release.ts'
import { splitTarget } from '../server/node-answers.ts'
import { type MakeCallProblem, toChanged } from './call-problem.ts'
import type { RelayLimits } from './relay-limits.ts'

/** What a call asks for, judged by the request alone: no DNS lookup, nothing counted yet. */
export type CallPlan =
  | { kind: 'answer'; response: Response }
  | {
      kind: 'forward'
      listing: LiveListing
      target: URL
      path: string
      expectation: Expectation | null
    }

export interface PlanContext {
  release: Pick<Release, 'gone' | 'listings'>
  config: Config
  own: URL
  limits: RelayLimits
  refuse: MakeCallProblem
}

export const CALL_PATH = '/api/v1/call/'

/** HEAD is not among them: a seller's framework may take it for an unpaid GET. */
const ALLOW = [...ROUTES.call.methods, 'OPTIONS'].join(', ')

export function planCall(req: IncomingMessage, context: PlanContext): CallPlan {
  const { release, refuse } = context
  const method = req.method ?? ''
  if (method === 'OPTIONS') return answer(answerPreflight(req))
  if (!ROUTES.call.methods.some((known) => known === method))
    return answer(
      refuse(
        {
          code: 'method-not-allowed',
          error: 'http_request_denied',
          detail: `The relay takes ${ALLOW}, got ${method}.`,
        },
        { headers: { Allow: ALLOW } },
      ),
    )
  const { path, query } = splitTarget(req.url ?? '')
  const id = decodeId(path.slice(CALL_PATH.length))
  const listing = release.listings.get(id)
  const gone = listing === undefined ? release.gone.get(id) : undefined
  if (gone !== undefined) return answer(toGoneCall(gone, req.url ?? '', refuse))
  if (listing === undefined)
    return answer(
      refuse({
        code: 'listing-not-found',
        error: 'destination_not_found',
        detail: toUnknownText(release, id),
      }),
    )
  return planListing(req, listing, query, context)
}

function planListing(
  req: IncomingMessage,
  listing: LiveListing,
  rawQuery: string,
  context: PlanContext,
): CallPlan {
  const { config, own, refuse } = context
  const query = parseCallQuery(rawQuery)
  const target = parseCallTarget(listing.url, query)
  const isRelayable = listing.buy === 'relay_x402'
  if ('fault' in target && (isRelayable || query.wantsInfo))
    return answer(
      refuse(
        {
          code: 'invalid-parameter',
          error: 'http_request_error',
          detail: `endpoint: ${target.fault}.`,
        },
        { errors: [{ in: 'query', name: 'endpoint', detail: target.fault }] },
      ),
    )
  if (query.wantsInfo) return answer(toInfoResponse(listing, context))
  if (!isRelayable || 'fault' in target) return answer(toNotRelayable(listing, config, refuse))
  // Catches a loop by host name; the guard catches one by address.
  if (isOwnHost(target.url, own))
    return answer(
      refuse({
        code: 'relay-loop',
        error: 'proxy_loop_detected',
        detail: `The target ${target.url.host} is this service's own host.`,
      }),
    )
  const fault = findMessageFault(req, context)
  if (fault !== null) return answer(fault)
  const expectation = readExpectation(req, listing, refuse)
  if (expectation instanceof Response) return answer(expectation)
  return { kind: 'forward', listing, target: target.url, path: target.path, expectation }
}

/**
 * The caller repeats a call to a listing that moved; we never forward it: 308 keeps method, body
 * and payment. What was meant for one host must not go to another unasked.
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

/** What the caller expects; a refusal where it cannot be parsed or is already not met. */
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

/** Differences known before anything is sent: in the listing, or in the payment of the call. */
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
      detail: `A relayed body may have ${limits.requestBodyBytes} bytes, got ${length}. Nothing was sent.`,
    })
  return null
}

function decodeId(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return ''
  }
}

function answer(response: Response): CallPlan {
  return { kind: 'answer', response }
}

const DEFAULT_HEADERS =
  'Content-Type, Authorization, X-PAYMENT, PAYMENT-SIGNATURE, Accept-Payment, Access-Control-Expose-Headers'

/** A browser asks once an hour, not before every purchase. */
const MAX_AGE_SECONDS = 3600

/**
 * Any origin may call, with any header it asks for: `*` never covers `Authorization`, and the real
 * clients send `Access-Control-Expose-Headers` as a request header.
 */
function answerPreflight(req: IncomingMessage): Response {
  const asked = req.headers['access-control-request-headers']
  const isList = asked !== undefined && /^[\w!#$%&'*+.^`|~, \t-]{1,4096}$/.test(asked)
  return new Response(null, {
    status: 204,
    headers: {
      Allow: ALLOW,
      'Access-Control-Allow-Origin': '*',
      'Access-Control-Allow-Methods': ALLOW,
      'Access-Control-Allow-Headers': isList ? asked : DEFAULT_HEADERS,
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
