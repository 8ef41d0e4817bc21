import { MAX_TERMS_BYTES } from '../../src/domain/doors/paid-call.ts'
import { type Difference, toSentences } from '../../src/domain/pins/offer.ts'
import { PROXY_NAME } from '../../src/domain/relay/relayed-headers.ts'
import { PROBLEMS, type ProblemCode } from '../../src/domain/wire/problems.ts'
import { toTransportHeaders } from '../../src/domain/wire/site-headers.ts'
import type { MakeProblem, ProblemOptions } from '../http/answers.ts'
import { AddressRefusedError, ConnectDeadlineError, OwnAddressError } from '../net/guard.ts'

/**
 * The relay's own errors. Each carries `Proxy-Status` (RFC 9209), which a relayed answer never
 * carries in our name, so a caller can tell our 502 or 429 from the seller's.
 */
export type CallProblem = { code: ProblemCode; error: string; detail: string }

export type MakeCallProblem = (
  problem: CallProblem,
  options?: Omit<ProblemOptions, 'detail'>,
) => Response

const MAY_HAVE_SETTLED =
  'If the call carried a payment, it may have settled anyway. Check before you pay again.'

/** What can end a relayed call on our side; everything else comes from Node. */
const ENDS = {
  too_large: say('payload-too-large', 'http_request_denied', PROBLEMS['payload-too-large'].help),
  stalled: say(
    'malformed-request',
    'http_request_error',
    'The request body stopped arriving, or came too slowly.',
  ),
  caller_gone: unreachable('connection_terminated', 'The caller left.'),
  gave_way: say(
    'relay-busy',
    'connection_limit_reached',
    `The relay is full, and this client has most of the calls in flight. ${MAY_HAVE_SETTLED}`,
  ),
  late: say('seller-timeout', 'http_response_timeout', `No answer in time. ${MAY_HAVE_SETTLED}`),
  long_terms: unreachable(
    'http_response_body_size',
    `The 402 is longer than ${MAX_TERMS_BYTES} bytes, unpacked: its terms were not read, and no payment was passed on.`,
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
 * A failure before the seller's headers, as one of ours. Texts of Node and of the seller are not
 * repeated: they may quote what the caller sent.
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
    return unreachable('destination_ip_unroutable', 'The host cannot be reached: no route to it.')
  if (/CERT|SELF_SIGNED|UNABLE_TO_(GET|VERIFY)/.test(code))
    return unreachable('tls_certificate_error', 'The TLS certificate does not prove the host.')
  if (/^(ERR_SSL|EPROTO|ERR_TLS)/.test(code))
    return unreachable('tls_protocol_error', 'The TLS handshake failed.')
  if (code === 'HPE_HEADER_OVERFLOW')
    return unreachable(
      'http_response_header_section_size',
      `The answer's headers are too large. ${MAY_HAVE_SETTLED}`,
    )
  // The error of Node's parser for a seller that does not speak HTTP.
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

function codeOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return ''
  if (error instanceof AggregateError && error.errors.length > 0) return codeOf(error.errors[0])
  return 'code' in error && typeof error.code === 'string' ? error.code : ''
}
