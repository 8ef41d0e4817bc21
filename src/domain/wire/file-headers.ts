/** Data and pages live a minute in a browser, an hour at a CDN. */
export const SHORT_CACHE = 'public, max-age=60, s-maxage=3600, stale-while-revalidate=86400'

/** Names with a hash in them never change what they hold. */
export const LONG_CACHE = 'public, max-age=31536000, immutable'

/** Public data may be read from any origin. */
export const DATA_HEADERS: Readonly<Record<string, string>> = {
  'access-control-allow-origin': '*',
  'x-content-type-options': 'nosniff',
}
