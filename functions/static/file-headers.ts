import { DATA_HEADERS, LONG_CACHE, SHORT_CACHE } from '../../src/domain/wire/file-headers.ts'
import { BADGE_HEADERS, PAGE_HEADERS } from '../../src/domain/wire/site-headers.ts'
import type { StaticFile } from '../../src/domain/wire/static-file.ts'

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
