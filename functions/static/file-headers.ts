import { BADGE_HEADERS, PAGE_HEADERS } from '../../src/domain/site-headers.ts'
import type { StaticFile } from '../../src/domain/static-file.ts'

/** contract §4: data and pages live a minute in a browser, an hour at a CDN. */
const SHORT_CACHE = 'public, max-age=60, s-maxage=3600, stale-while-revalidate=86400'
/** Names with a hash in them never change what they hold. */
const LONG_CACHE = 'public, max-age=31536000, immutable'

const DATA_HEADERS = { 'access-control-allow-origin': '*', 'x-content-type-options': 'nosniff' }

/** Headers a static file always carries, whatever is asked of it. */
export function fileHeaders({ file, type }: StaticFile): Record<string, string> {
  const isHashed = file.startsWith('_astro/') || /^pagefind\/(?:fragment|index|filter)\//.test(file)
  return {
    'content-type': type,
    'cache-control': isHashed ? LONG_CACHE : SHORT_CACHE,
    ...(type.startsWith('text/html')
      ? PAGE_HEADERS
      : file.startsWith('badge/')
        ? { ...DATA_HEADERS, ...BADGE_HEADERS }
        : DATA_HEADERS),
  }
}
