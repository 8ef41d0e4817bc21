import type { LiveListing } from '../listing/listing-states.ts'
import { networksOf, railsOf } from '../listing/pricing.ts'
import { MAX_URL_LENGTH } from '../listing/target-url.ts'
import { HTTP_METHODS } from '../wire/vocabulary.ts'
import { EXPOSED_HEADERS } from './relayed-headers.ts'

/**
 * Where a relayed call goes. The query is never parsed and written again: `URLSearchParams` would
 * turn `%20` into `+`, `flag` into `flag=` and `%zz` into `%25zz`, and a seller that compares the
 * signed resource with the URL it received would refuse the payment. Our two parameters are cut out
 * of the raw text and every other byte stays where it was.
 */
type CallQuery = ReturnType<typeof parseCallQuery>

/** @example parseCallQuery('a=%20&endpoint=%2Fx&flag') → { endpoint: '/x', rest: 'a=%20&flag', … } */
export function parseCallQuery(rawQuery: string) {
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
    /** Decoded, or null when absent. */
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
export function parseCallTarget(listingUrl: string, query: CallQuery) {
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

/** Judged as text first: `new URL()` turns `//evil`, `/\evil`, `\thttp://evil` into other hosts. */
function parseEndpoint(text: string, base: URL): URL | string {
  const right = `a path such as /v1/weather, or a URL that starts with ${base.origin}/`
  if (text.length > MAX_URL_LENGTH) return `expected at most ${MAX_URL_LENGTH} characters`
  // biome-ignore lint/suspicious/noControlCharactersInRegex: refusing them is the point
  if (/[\u0000-\u0020\u007f\\#]/.test(text))
    return `expected no spaces, control characters, backslashes or fragments in ${right}`
  if (text.startsWith('/') ? text.startsWith('//') : !/^https?:\/\/[^/]/i.test(text))
    return `expected ${right}`
  const url = URL.parse(text, base)
  if (url === null) return `expected ${right}`
  const authority = text.startsWith('/') ? '' : (text.split(/[/?]/, 3)[2] ?? '')
  if (authority.includes('@')) return 'expected no user name or password in the endpoint'
  if (url.origin !== base.origin) return `expected the seller's own origin, ${base.origin}`
  return url
}

/** As HTML forms encode: `+` is a space. A broken escape stays as it is and fails later. */
function decodeForm(text: string): string {
  const spaced = text.replaceAll('+', ' ')
  try {
    return decodeURIComponent(spaced)
  } catch {
    return spaced
  }
}

/** The answer to `?relay_info`. @param limits of the relay itself, in bytes and seconds */
export function toRelayInfoView(listing: LiveListing, limits: Record<string, unknown>) {
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
