/** Pages have no inline script, style or handler; Pagefind's index reader is WebAssembly. */
export const PAGE_CSP = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  // Pagefind may read its index in a worker made from one of its own files.
  "worker-src 'self'",
  "manifest-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': PAGE_CSP,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'strict-origin-when-cross-origin',
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=()',
}

/** A badge is shown on other sites: it may be embedded as an image and runs nothing. */
export const BADGE_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': "default-src 'none'; sandbox",
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'cross-origin',
}

/** Data and pages are cached for a minute in a browser, an hour at a CDN. */
export const SHORT_CACHE = 'public, max-age=60, s-maxage=3600, stale-while-revalidate=86400'

/** Files with a hash in their name never change. */
export const LONG_CACHE = 'public, max-age=31536000, immutable'

/** Public data may be read from any origin. */
export const DATA_HEADERS: Readonly<Record<string, string>> = {
  'access-control-allow-origin': '*',
  'x-content-type-options': 'nosniff',
}

/** Two years, as preload lists require. Not for subdomains: they may not be ours. */
const HSTS = 'max-age=63072000'

/** Headers of everything we answer: once reached by https, never again without it (RFC 6797). */
export function toTransportHeaders(baseUrl: string): Readonly<Record<string, string>> {
  return baseUrl.startsWith('https:') ? { 'strict-transport-security': HSTS } : {}
}
