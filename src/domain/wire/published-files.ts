import { markdownPathOf } from './routes.ts'

/** A file that a release publishes. */
interface StaticFile {
  /** Path below the release's public folder. */
  file: string
  type: string
  size: number
  /** Hex SHA-256 of the file's bytes, from which the strong ETag is made. */
  digest: string
}

/** Whether a file is the build's own compressed copy of a dump, which clients download as a separate file. */
export function isDumpCopy(file: string): boolean {
  return file.endsWith('.ndjson.gz')
}

/** @example toUrlPath('listing/x402.foo/index.html') → '/listing/x402.foo' */
export function toUrlPath(file: string): string {
  return `/${file.replace(/(?:^|\/)index\.(?:html|json)$/, '')}`
}

/** Types of the files in a release, by extension. If a name has several dots, the last part in this table decides. */
const TYPES: Record<string, string> = {
  html: 'text/html; charset=utf-8',
  json: 'application/json',
  ndjson: 'application/x-ndjson',
  gz: 'application/gzip',
  svg: 'image/svg+xml',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  mjs: 'text/javascript; charset=utf-8',
  txt: 'text/plain; charset=utf-8',
  md: 'text/markdown; charset=utf-8',
  xml: 'application/xml',
  atom: 'application/atom+xml',
  webmanifest: 'application/manifest+json',
  ico: 'image/x-icon',
  png: 'image/png',
  webp: 'image/webp',
  woff2: 'font/woff2',
  wasm: 'application/wasm',
}

const COMPRESSIBLE =
  /^(?:text\/|application\/(?:json|yaml|ai-catalog\+json|linkset\+json|mcp-server-card\+json|xml|atom\+xml|manifest\+json|wasm)|image\/svg\+xml)/

/** Types of documents whose address has no extension, or whose protocol requires its own type. */
const TYPES_BY_PATH: Record<string, string> = {
  '.well-known/ai-catalog.json': 'application/ai-catalog+json',
  '.well-known/api-catalog':
    'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"',
  'mcp/server-card': 'application/mcp-server-card+json',
  '.well-known/mcp/server-card.json': 'application/mcp-server-card+json',
}

/** @example findContentType('badge/x402.foo.svg') → 'image/svg+xml' */
export function findContentType(file: string): string {
  return TYPES_BY_PATH[file] ?? findTypeByExtension(file)
}

/** The type that any web server infers from the extension. */
export function findTypeByExtension(file: string): string {
  const extension = file.slice(file.lastIndexOf('.') + 1)
  return Object.hasOwn(TYPES, extension) ? (TYPES[extension] ?? '') : 'application/octet-stream'
}

/** Smaller files are not compressed. */
const MIN_COMPRESSED_BYTES = 1024

/** Whether a file of this type and size (bytes) has compressed copies next to it. */
export function isCopied(type: string, size: number): boolean {
  return size >= MIN_COMPRESSED_BYTES && COMPRESSIBLE.test(type)
}

/** What a page may load. A page has no inline script, style or handler; Pagefind's index reader is WebAssembly. */
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
const BADGE_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': "default-src 'none'; sandbox",
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'cross-origin',
}

/** Data and pages are cached for a minute in a browser, for an hour at a CDN. */
export const SHORT_CACHE = 'public, max-age=60, s-maxage=3600, stale-while-revalidate=86400'

/** Files with a hash in their name never change. */
const LONG_CACHE = 'public, max-age=31536000, immutable'

/** Public data may be read from any origin. */
const DATA_HEADERS: Readonly<Record<string, string>> = {
  'access-control-allow-origin': '*',
  'x-content-type-options': 'nosniff',
}

/** Two years, as preload lists require. Subdomains are left out: they may not be ours. */
const HSTS = 'max-age=63072000'

/** Headers for all our answers: a browser that reached us by https never goes back to http (RFC 6797). */
export function toTransportHeaders(baseUrl: string): Readonly<Record<string, string>> {
  return baseUrl.startsWith('https:') ? { 'strict-transport-security': HSTS } : {}
}

const API_CATALOG = '</.well-known/api-catalog>; rel="api-catalog"'

/** Links on the front page that show machines where to go next (RFC 9727 §3, RFC 8631). */
const HOME_LINK = [
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

/** Headers for a page with a Markdown variant: it links to the variant, and varies by `Accept`. */
function markdownHeaders(path: string): Record<string, string> {
  const markdown = markdownPathOf(path)
  if (markdown === null) return {}
  return { vary: 'accept', link: `<${markdown}>; rel="alternate"; type="text/markdown"` }
}
