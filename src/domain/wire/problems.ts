/** One table for the formatter, for OpenAPI, and for the pages at `/problems/<code>`, which print `help`. */
export const PROBLEMS = {
  'invalid-parameter': {
    status: 400,
    title: 'A parameter is not valid',
    help: 'A query parameter or body field has a value that is not allowed. `errors` names each one and says what is allowed.',
  },
  'invalid-body': {
    status: 400,
    title: 'The request body is not valid',
    help: 'The body must be one JSON object. Check the syntax and send it as application/json.',
  },
  'malformed-request': {
    status: 400,
    title: 'The request is malformed',
    help: 'The request line and the headers contradict each other, or break the rules of HTTP. Send one Host header and a plain request target.',
  },
  'token-invalid': {
    status: 400,
    title: 'The link is not valid',
    help: 'A sign-in link works once, within 15 minutes, and a newer one replaces it: ask for a new link.',
  },
  'not-signed-in': {
    status: 401,
    title: 'You are not signed in',
    help: 'Seller endpoints need the session cookie of a signed-in seller. Sign in with your email address first.',
  },
  'token-required': {
    status: 401,
    title: 'This directory is closed',
    help: 'Its operator gives tokens to those who may read it. Send one as a bearer token in Authorization, or in Proxy-Authorization where Authorization is for a seller; a browser asks for it as a password.',
  },
  'cross-site': {
    status: 403,
    title: 'The request came from another site',
    help: 'A browser may send this request from our own pages only. Clients that are not browsers may send it too.',
  },
  'not-found': {
    status: 404,
    title: 'Page not found',
    help: 'No page or endpoint has this address. The OpenAPI document at /openapi.json lists every endpoint.',
  },
  'listing-not-found': {
    status: 404,
    title: 'No such listing',
    help: 'No listing has this id. Search for it by name: ids look like x402.example or mcp.example.',
  },
  'listing-moved': {
    status: 308,
    title: 'This listing has another id now',
    help: 'The listing is the same, but its address changed. `Location` has the new address and `moved_to` the new id. A call that is repeated there keeps its method, body and payment; nothing was sent to the seller yet.',
  },
  'listing-gone': {
    status: 410,
    title: 'This listing is gone',
    help: 'This listing was removed. `reason` says why, `replaced_by` names its successor, if it has one. If `moved_to` is present, the service is listed under that id, on another host: look at that listing before you call it.',
  },
  'claim-not-found': {
    status: 404,
    title: 'No such claim',
    help: 'You have no claim with this id. The list of your claims shows the ids you can check.',
  },
  'receipt-not-found': {
    status: 404,
    title: 'No such receipt',
    help: 'A receipt appears a moment after its call ended: ask again in a second. If the answer named no transaction, the receipt appears once the payment is found on its chain, within the hour. There is no receipt for calls that the caller abandoned, calls that nobody paid for, or calls beyond the number that we judge.',
  },
  'method-not-allowed': {
    status: 405,
    title: 'The method is not allowed here',
    help: 'The `Allow` header lists the methods that this address accepts.',
  },
  changed: {
    status: 409,
    title: 'The listing is not what you expected',
    help: 'Something that the call expected of the listing (`Call-Expect`) has changed. `changed` names each difference, with what was expected and what was found. No payment was passed on.',
  },
  'payload-too-large': {
    status: 413,
    title: 'The body is too large',
    help: 'A relayed body may have at most 10 MiB, and a JSON body for our own endpoints at most 16 KiB.',
  },
  'uri-too-long': {
    status: 414,
    title: 'The address is too long',
    help: 'A request target may have at most 8 KiB.',
  },
  'unsupported-media-type': {
    status: 415,
    title: 'The body has the wrong type',
    help: 'JSON endpoints take `Content-Type: application/json` only.',
  },
  'not-relayable': {
    status: 422,
    title: 'This listing cannot be called through the relay',
    help: 'Call the seller directly: `link_out` has the address.',
  },
  'claim-method-unavailable': {
    status: 422,
    title: 'This listing cannot be claimed this way',
    help: 'The detail says which proofs the host of this listing allows, if any.',
  },
  'rate-limited': {
    status: 429,
    title: 'Too many requests',
    help: 'Wait as long as `Retry-After` says. The `RateLimit` headers show the budget.',
  },
  internal: {
    status: 500,
    title: 'Something broke on our side',
    help: 'The `id` in the answer is also in our log; quote it when you report this.',
  },
  'not-implemented': {
    status: 501,
    title: 'Not built yet',
    help: 'This endpoint is a roadmap stub. /api/v1/roadmap says what is live.',
  },
  'seller-unreachable': {
    status: 502,
    title: 'The service could not be reached',
    help: 'The connection to the seller failed or broke before an answer came. If the call carried a payment, check your wallet before you pay again.',
  },
  'seller-redirected': {
    status: 502,
    title: 'The service answered with a redirect',
    help: 'We do not follow redirects, because a payment header must not reach another host. `location` says where the seller pointed.',
  },
  'seller-refused': {
    status: 502,
    title: "The service's address is refused",
    help: 'The host resolves to an address that is not public, so nothing was sent.',
  },
  'reports-full': {
    status: 503,
    title: 'The queue of reports is full',
    help: 'Too many reports wait for review, in total or about this service. Try again after `Retry-After`.',
  },
  'mail-unavailable': {
    status: 503,
    title: 'Mail cannot be sent right now',
    help: 'Try again in a few minutes.',
  },
  'store-unavailable': {
    status: 503,
    title: 'The store cannot be reached right now',
    help: 'Try again in a few minutes; nothing was changed.',
  },
  'relay-busy': {
    status: 503,
    title: 'Too many calls are in flight',
    help: 'Too many calls are running. `detail` says whether anything was sent. Try again after `Retry-After`.',
  },
  'seller-timeout': {
    status: 504,
    title: 'The service did not answer in time',
    help: 'If the call carried a payment, it may have settled anyway. Check before you pay again.',
  },
  'relay-loop': {
    status: 508,
    title: 'The relay would call itself',
    help: "The target is this service's own host.",
  },
} as const satisfies Record<string, { status: number; title: string; help: string }>

export type ProblemCode = keyof typeof PROBLEMS

export const PROBLEM_CODES = Object.keys(PROBLEMS).filter(isProblemCode)

export function isProblemCode(text: string): text is ProblemCode {
  return Object.hasOwn(PROBLEMS, text)
}

/** An error that the operator can fix. A command prints only its message, without a stack. */
export class OperatorError extends Error {
  override name = 'OperatorError'
}

/** The code that Node, undici or a database gives an error; empty if it gives none. */
export function codeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? code : ''
}

/** Why a submission is refused, in the same words for programs and for people. */
export interface Refused {
  kind: 'refused'
  code: ProblemCode
  reason: string
  headers?: Record<string, string>
}
