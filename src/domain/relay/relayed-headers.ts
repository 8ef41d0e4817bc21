/** Raw pairs: names keep their case, repeated lines stay, values are latin1 with one character per byte. */
export type RawHeaders = readonly string[]

/** Headers for one connection, not the message (RFC 9110 §7.6.1), and some that HTTP/1.1 clients still send. */
const HOP_BY_HOP = namesIn(`
    connection keep-alive proxy-connection proxy-authenticate proxy-authorization
    proxy-authentication-info te trailer transfer-encoding upgrade http2-settings
`)

/** If one of these headers came on two lines, two readers could see two different payments. */
const PAYMENT_HEADERS = ['x-payment', 'payment-signature', 'payment-authorization'] as const

/** Headers that a browser may read across origins. */
export const EXPOSED_HEADERS = [
  'PAYMENT-REQUIRED',
  'PAYMENT-RESPONSE',
  'X-PAYMENT-RESPONSE',
  'WWW-Authenticate',
  'Payment-Receipt',
  'Call-Receipt',
  'Call-Receipt-Secret',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'Proxy-Status',
  'Location',
] as const

/** Our name in `Proxy-Status` (RFC 9209). */
export const PROXY_NAME = 'directory-relay'

/** @returns what is wrong with the payment headers, or null */
export function findPaymentHeaderFault(raw: RawHeaders): string | null {
  const named = namesInConnection(raw)
  const names = paysByAuthorization(raw) ? [...PAYMENT_HEADERS, 'authorization'] : PAYMENT_HEADERS
  for (const name of names) {
    const lines = valuesOf(raw, name).length
    if (lines > 1) return `expected one ${name.toUpperCase()} header, got ${lines}`
    if (lines === 1 && named.has(name))
      return `expected ${name.toUpperCase()} not to be named in Connection: it would be dropped`
  }
  return null
}

/** Whether the call claims to pay: then its answer stays out of shared caches and is read fully. */
export function carriesPayment(raw: RawHeaders): boolean {
  return PAYMENT_HEADERS.some((name) => valuesOf(raw, name).length > 0) || paysByAuthorization(raw)
}

/** A request's payments, as sent, without the scheme name in `Authorization`. */
export function paymentsIn(raw: RawHeaders): string[] {
  const credentials = valuesOf(raw, 'authorization').filter((value) => /^payment\s/i.test(value))
  const payments = [...PAYMENT_HEADERS.flatMap((name) => valuesOf(raw, name)), ...credentials]
  return payments.map((value) => value.replace(/^payment\s+/i, ''))
}

function paysByAuthorization(raw: RawHeaders): boolean {
  return valuesOf(raw, 'authorization').some((value) => /^payment\s/i.test(value))
}

/** @param name in lower case */
export function valuesOf(raw: RawHeaders, name: string): string[] {
  const values: string[] = []
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const given = raw[index]
    // A request is scanned a dozen times; comparing lengths first rules out most names.
    if (given?.length === name.length && given.toLowerCase() === name)
      values.push(raw[index + 1] ?? '')
  }
  return values
}

/** @param keep decides whether a header stays, by its name in lower case and its value */
function filterHeaders(raw: RawHeaders, keep: (name: string, value: string) => boolean): string[] {
  const kept: string[] = []
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const name = raw[index] ?? ''
    const value = raw[index + 1] ?? ''
    if (keep(name.toLowerCase(), value)) kept.push(name, value)
  }
  return kept
}

const NO_NAMES: ReadonlySet<string> = new Set()

/** The headers named in `Connection`, in lower case. */
function namesInConnection(raw: RawHeaders): ReadonlySet<string> {
  const values = valuesOf(raw, 'connection')
  if (values.length === 0) return NO_NAMES
  // Fields that frame or protect the message stay, even if a sender names them in `Connection`.
  const names = values.flatMap((value) => value.toLowerCase().split(',')).map((name) => name.trim())
  return new Set(names.filter((name) => name !== 'content-length' && name !== 'content-type'))
}

/** @example namesIn(' te  trailer ') → ['te', 'trailer'] */
export function namesIn(text: string): string[] {
  return text.trim().split(/\s+/)
}

/** Headers in the HTTP Field Name Registry, and headers that browsers act on. All others are a seller's own. */

/** Fields about the answer itself. */
const DESCRIBES_ANSWER: ReadonlySet<string> = new Set(
  namesIn(`
    content-type content-length content-encoding content-language content-location content-range
    content-disposition content-digest content-md5 repr-digest unencoded-digest digest mime-version
    signature signature-input delta-base im memento-datetime odata-version odata-entityid
    date location allow accept accept-encoding accept-patch accept-post accept-query accept-ranges
    cache-control cdn-cache-control surrogate-control age expires pragma warning vary cache-status
    proxy-status server-timing
    etag last-modified preference-applied repeatability-result
    link link-template deprecation sunset server
    retry-after ratelimit ratelimit-policy
    payment-required payment-response payment-receipt
    www-authenticate optional-www-authenticate authentication-info dpop-nonce accept-signature
    content-security-policy x-frame-options
  `),
)

/** Fields about an origin, a connection, a request, or what a browser should do next. */
const SPEAKS_OF_MORE: readonly string[] = namesIn(`
    a-im accept-additions accept-ch accept-charset accept-datetime accept-features accept-language
    access-control activate-storage-access alpn alt-svc alt-used alternates amp-cache-transform
    apply-to-redirect-ref attribution-reporting-register-os attribution-reporting-register-source
    attribution-reporting-register-trigger authentication-control authorization available-dictionary
    c-ext c-man c-opt c-pep c-pep-info cal-managed-id caldav-timezones capsule-protocol cdn-loop
    cert-not-after cert-not-before clear-site-data client-cert client-cert-chain close
    concealed-auth-export configuration-context connection content-base content-id
    content-script-type content-security-policy-report-only content-style-type content-version
    cookie cookie2 critical-ch cross-origin-embedder-policy cross-origin-embedder-policy-report-only
    cross-origin-opener-policy cross-origin-opener-policy-report-only cross-origin-resource-policy
    cta-common-access-token cmcd-object cmcd-request cmcd-session cmcd-status cmsd-dynamic cmsd-static
    dasl dav default-style depth derived-from destination detached-jws dictionary-id differential-id
    document-isolation-policy document-isolation-policy-report-only document-policy
    document-policy-report-only dpop early-data ediint-features expect expect-ct ext
    extension-responses feature-policy forwarded from getprofile hobareg host http2-settings
    idempotency-key if if-match if-modified-since if-none-match if-range if-schedule-tag-match
    if-unmodified-since include-referred-token-binding-id incremental integrity-policy
    integrity-policy-report-only isolation keep-alive label last-event-id lock-token man max-forwards
    meter method-check method-check-expires negotiate nel no-vary-search observe-browsing-topics
    odata-isolation odata-maxversion opt ordering-type origin origin-agent-cluster origin-trial
    oscore oslc-core-version overwrite p3p pep pep-info permissions-policy
    permissions-policy-report-only pics-label ping-from ping-to position prefer priority
    profileobject protocol protocol-info protocol-query protocol-request proxy-authenticate
    proxy-authentication-info proxy-authorization proxy-connection proxy-features proxy-instruction
    public public-key-pins public-key-pins-report-only range redirect-ref referer referer-root
    referrer-policy refresh repeatability-client-id repeatability-first-sent
    repeatability-request-id replay-nonce report-to reporting-endpoints require-document-policy safe
    schedule-reply schedule-tag sec-fetch-storage-access sec-gpc sec-purpose
    sec-session-challenge sec-session-id sec-session-registration sec-session-response
    sec-token-binding sec-websocket-accept sec-websocket-extensions sec-websocket-key
    sec-websocket-protocol sec-websocket-version secure-session-challenge
    secure-session-registration secure-session-response secure-session-skipped security-scheme
    service-worker-allowed service-worker-navigation-preload set-cookie set-cookie2 set-login set-txn
    setprofile slug soapaction sourcemap speculation-rules status-uri strict-transport-security
    supports-loading-mode surrogate-capability tcn te timeout timing-allow-origin tk topic
    traceparent tracestate trailer transfer-encoding ttl upgrade urgency uri use-as-dictionary
    user-agent variant-vary via want-content-digest want-digest want-repr-digest
    want-unencoded-digest x-content-type-options
`)

export const REGISTERED_FIELDS: ReadonlySet<string> = new Set([
  ...DESCRIBES_ANSWER,
  ...SPEAKS_OF_MORE,
])

/** Sellers also sign in on our origin, so a relayed answer may set no state, run nothing and fill no cache. */
interface AnswerFacts {
  status: number
  isPaid: boolean
}

/** Names reserved for us, so that no seller can name a receipt of its own. */
const OF_RECEIPTS = /^call-(?:receipt|witness)/

/** Unregistered headers that order a web server in front of us to send one of its own files. */
const FOR_WEB_SERVERS = new Set([
  'x-accel-redirect',
  'x-sendfile',
  'x-lighttpd-send-file',
  'x-reproxy-url',
])

const EXPOSED = EXPOSED_HEADERS.join(', ')

/** The seller's headers as the caller gets them, including ours. */
export function toCallerHeaders(raw: RawHeaders, { status, isPaid }: AnswerFacts): string[] {
  const named = namesInConnection(raw)
  const own = filterHeaders(raw, (name, value) => {
    // A seller that signed with our name could pass its own error off as ours.
    if (name === 'proxy-status' && value.toLowerCase().includes(PROXY_NAME)) return false
    // RFC 9110 §8.6: an answer that cannot have a body has no length.
    if (name === 'content-length' && status === 204) return false
    return isPassed(name) && !named.has(name)
  })
  const isAttached = status !== 402 && valuesOf(own, 'content-type').some(isRunByBrowsers)
  const keepsDisposition = !isAttached || isAttachment(valuesOf(own, 'content-disposition'))
  const isComplete = keepsDisposition && !isPaid
  const kept = isComplete
    ? own
    : filterHeaders(own, (name) => {
        if (name === 'content-disposition') return keepsDisposition
        return !isPaid || !isAboutCaches(name)
      })
  const caches = isPaid ? toPrivate(own) : null
  if (!keepsDisposition) kept.push('Content-Disposition', 'attachment')
  // A relayed page would run on our origin, where sellers have their sessions.
  kept.push('Content-Security-Policy', 'sandbox', 'X-Content-Type-Options', 'nosniff')
  if (caches !== null) kept.push('Cache-Control', caches)
  else if (valuesOf(own, 'cache-control').length === 0) kept.push('Cache-Control', 'no-store')
  kept.push('Access-Control-Allow-Origin', '*', 'Access-Control-Expose-Headers', EXPOSED)
  return kept
}

/** We set `Access-Control-` headers ourselves; `Sec-` headers are for browsers, registered or not yet. */
function isPassed(name: string): boolean {
  if (/^(access-control|sec)-/.test(name) || FOR_WEB_SERVERS.has(name)) return false
  if (OF_RECEIPTS.test(name)) return false
  return DESCRIBES_ANSWER.has(name) || !REGISTERED_FIELDS.has(name)
}

/** Types in which browsers run scripts: HTML, SVG, XML. If a header names several types, the most dangerous decides. */
function isRunByBrowsers(contentType: string): boolean {
  const types = contentType.toLowerCase().split(/[;,]/)
  return types.some((type) => /^(text\/html|.+[/+]xml|text\/xsl)$/.test(type.trim()))
}

function isAttachment(values: string[]): boolean {
  return values.length === 1 && /^\s*attachment\s*(;|$)/i.test(values[0] ?? '')
}

/** Keeps an answer out of shared caches, which would leak it. @example 'public, max-age=60' → 'private, max-age=60' */
function toPrivate(raw: RawHeaders): string {
  const directives = valuesOf(raw, 'cache-control').flatMap(
    (value) => value.match(/(?:"(?:[^"\\]|\\.)*"|[^,"])+/g) ?? [],
  )
  const kept = directives
    .map((directive) => directive.trim())
    .filter((directive) => directive !== '' && !/^(public|s-maxage)\s*(=|$)/i.test(directive))
  if (kept.some((directive) => /^(private|no-store)$/i.test(directive))) return kept.join(', ')
  const isSilent = !raw.some((name, index) => index % 2 === 0 && isAboutCaches(name.toLowerCase()))
  return isSilent ? 'no-store' : ['private', ...kept].join(', ')
}

/** Whether a header controls caches: RFC 9213 allows every cache vendor its own header. */
function isAboutCaches(name: string): boolean {
  return /(?:^|-)cache-control$|^surrogate-control$|^x-accel-expires$/.test(name)
}

/** Headers that a seller must not see: our session, and the caller's address. */
const NOT_FOR_SELLERS = new Set([
  ...HOP_BY_HOP,
  ...namesIn(`
    expect host cookie cookie2 forwarded via x-real-ip x-client-ip x-cluster-client-ip
    call-expect call-witness x-original-forwarded-for x-envoy-external-address true-client-ip fastly-client-ip
    fly-client-ip cdn-loop cf-connecting-ip cf-connecting-ipv6 cf-pseudo-ipv4 cf-ipcountry
    cf-ray cf-visitor cf-worker x-amzn-trace-id x-amz-cf-id x-azure-clientip x-azure-socketip
    x-appengine-user-ip x-vercel-forwarded-for x-nf-client-connection-ip do-connecting-ip
    wl-proxy-client-ip x-proxyuser-ip
  `),
])

/**
 * @param ownOrigin `BASE_URL`: `Origin` and `Referer` headers that name this origin are dropped too,
 *   because the call comes from its caller, and a seller's checks must not take it for one of ours
 */
export function toSellerHeaders(raw: RawHeaders, ownOrigin: string): string[] {
  const named = namesInConnection(raw)
  return filterHeaders(raw, (name, value) => {
    if (NOT_FOR_SELLERS.has(name) || name.startsWith('x-forwarded-') || named.has(name))
      return false
    return (name !== 'origin' && name !== 'referer') || URL.parse(value)?.origin !== ownOrigin
  })
}
