/**
 * Names of the HTTP Field Name Registry, and names that browsers act on without one. What stands in
 * neither list is a seller's own.
 */

/** About the answer itself. */
export const DESCRIBES_ANSWER: ReadonlySet<string> = new Set(
  lines(`
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

/** About an origin, a connection, a request, or what a browser should do next. */
const SPEAKS_OF_MORE: readonly string[] = lines(`
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

function lines(text: string): string[] {
  return text.trim().split(/\s+/)
}
