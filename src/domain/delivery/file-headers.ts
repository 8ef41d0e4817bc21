import { markdownPathOf } from '../wire/protocol-table.ts'
import {
  BADGE_HEADERS,
  DATA_HEADERS,
  LONG_CACHE,
  PAGE_HEADERS,
  SHORT_CACHE,
} from '../wire/site-headers.ts'
import { type StaticFile, toUrlPath } from '../wire/static-file.ts'

const API_CATALOG = '</.well-known/api-catalog>; rel="api-catalog"'

/** Where a machine at the front page goes next (RFC 9727 §3, RFC 8631). */
export const HOME_LINK = [
  API_CATALOG,
  '</openapi.json>; rel="service-desc"; type="application/json"',
  '</docs>; rel="service-doc"; type="text/html"',
  '</llms.txt>; rel="describedby"; type="text/plain"',
].join(', ')

const LINKS: Readonly<Record<string, { link: string }>> = {
  'index.html': { link: HOME_LINK },
  '.well-known/api-catalog': { link: API_CATALOG },
}

/** Whether a file's name changes with its bytes. */
export function isHashed(file: string): boolean {
  return file.startsWith('_astro/') || /^pagefind\/\d+\/(?:fragment|index|filter)\//.test(file)
}

export type TypedFile = Pick<StaticFile, 'file' | 'type'>

export function fileHeaders({ file, type }: TypedFile): Record<string, string> {
  return {
    'content-type': type,
    'cache-control': isHashed(file) ? LONG_CACHE : SHORT_CACHE,
    ...LINKS[file],
    ...(type.startsWith('text/html')
      ? { ...PAGE_HEADERS, ...markdownHeaders(toUrlPath(file)) }
      : file.startsWith('badge/')
        ? { ...DATA_HEADERS, ...BADGE_HEADERS }
        : DATA_HEADERS),
  }
}

/** A page with a Markdown variant links to it, and varies by `Accept`. */
function markdownHeaders(path: string): Record<string, string> {
  const markdown = markdownPathOf(path)
  if (markdown === null) return {}
  return { vary: 'accept', link: `<${markdown}>; rel="alternate"; type="text/markdown"` }
}
