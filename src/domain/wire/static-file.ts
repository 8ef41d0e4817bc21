/** A file that a release publishes. */
export interface StaticFile {
  /** Path below the release's public folder. */
  file: string
  type: string
  size: number
  /** Hex SHA-256 of its bytes; the source of the strong ETag. */
  digest: string
}

/** Whether a file is the compressed copy of another: a build makes those that are fetched as they are. */
export function isDumpCopy(file: string): boolean {
  return file.endsWith('.ndjson.gz')
}

/** @example toUrlPath('listing/x402.foo/index.html') → '/listing/x402.foo' */
export function toUrlPath(file: string): string {
  return `/${file.replace(/(?:^|\/)index\.(?:html|json)$/, '')}`
}

/** Types of the files a release holds, by extension. The last match of a dotted name counts. */
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
  yaml: 'application/yaml',
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

/** Documents whose address has no extension, or whose protocol requires its own type. */
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

/** The type any web server would infer. */
export function findTypeByExtension(file: string): string {
  const extension = file.slice(file.lastIndexOf('.') + 1)
  return Object.hasOwn(TYPES, extension) ? (TYPES[extension] ?? '') : 'application/octet-stream'
}

/** Smaller files travel as they are. */
const MIN_COMPRESSED_BYTES = 1024

/** Whether a file of this type and size (bytes) has compressed copies beside it. */
export function isCopied(type: string, size: number): boolean {
  return size >= MIN_COMPRESSED_BYTES && COMPRESSIBLE.test(type)
}
