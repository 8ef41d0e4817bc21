import {
  fileHeaders,
  findContentType,
  findTypeByExtension,
  type TypedFile,
  toTransportHeaders,
  toUrlPath,
} from '../domain/wire/published-files.ts'
import { PAGES_WITH_MARKDOWN, ROUTES } from '../domain/wire/routes.ts'

/** Headers that a host adds itself, or sends only if an answer depends on the request. */
const LEFT_TO_HOST = new Set(['content-type', 'vary'])
/** Part of a header that differs per listing: a block for each would make a file of megabytes. */
const TWIN_LINK = 'rel="alternate"'

/** A path within some folder, and its block of headers. */
type Block = [path: string, headers: string]

/**
 * `_headers` as static hosts read it: one block for each folder whose files share their headers,
 * one for each other file. No address has two blocks with different values: hosts would merge them.
 */
export function toHeaderRules(baseUrl: string, files: readonly TypedFile[]): string {
  const transport = toHeaderLines(toTransportHeaders(baseUrl))
  const blocks = files.map(
    (file): Block => [toUrlPath(file.file).slice(1), toHeaderLines(fileHeaders(file))],
  )
  return joinEqual('', [...new Map(blocks)])
    .map(([path, headers]) => `${path}\n${headers}${transport}`)
    .join('')
}

function toHeaderLines(headers: Record<string, string>): string {
  return Object.entries(headers)
    .filter(([header, value]) => !LEFT_TO_HOST.has(header) && !value.includes(TWIN_LINK))
    .map(([header, value]) => `  ${header}: ${value}\n`)
    .join('')
}

const PATTERNS = Object.values(ROUTES).map(({ path }) => ({ path, pattern: toPattern(path) }))

/** The route of a JSON file, which has no extension; empty for other files. */
function routeOf({ file }: TypedFile): string {
  if (!file.endsWith('/index.json')) return ''
  const address = toUrlPath(file)
  return PATTERNS.find(({ pattern }) => pattern.test(address))?.path ?? address
}

/** `_redirects` for static hosts: JSON routes, whose files a host would not find as `index.json`. */
export function toRedirectRules(files: readonly TypedFile[]): string {
  const addresses = files.map(routeOf).filter((address) => address !== '')
  const rules = [...new Set(addresses)].toSorted().map((path) => `${path} ${path}/index.json 200\n`)
  return rules.join('')
}

/** One block for a folder in which all blocks are equal; otherwise blocks for its files, then its folders. */
function joinEqual(folder: string, blocks: readonly Block[]): Block[] {
  const [first] = blocks
  if (folder !== '' && first && blocks.every(([, headers]) => headers === first[1]))
    return [[`${folder}/*`, first[1]]]
  const byFolder = Map.groupBy(blocks, ([path]) => path.slice(0, path.indexOf('/') + 1))
  const own = byFolder.get('') ?? []
  byFolder.delete('')
  return [
    ...own.map(([path, headers]): Block => [`${folder}/${path}`, headers]),
    ...[...byFolder].flatMap(([name, inner]) => {
      const below = inner.map(([path, headers]): Block => [path.slice(name.length), headers])
      return joinEqual(`${folder}/${name.slice(0, -1)}`, below)
    }),
  ]
}

function toPattern(path: string): RegExp {
  return new RegExp(`^${path.replaceAll('.', '\\.').replace(/:\w+/g, '[^/]+')}$`)
}

/** Where `OUT_DIR` is mounted on the web host; the one line to change. */
const ROOT = '/srv/directory'

/**
 * A server block for nginx in front of several instances: files from the release, everything live from
 * the functions. It is generated, so that its headers are the ones our own server sends. Anything but
 * a plain read of a file goes to the functions, which handle every error, redirect and method.
 */
export function toNginxRules(baseUrl: string, files: readonly TypedFile[]): string {
  const headers: ToHeaders = (values) => addHeaders({ ...values, ...toTransportHeaders(baseUrl) })
  return `# Files of a release, and its functions behind them. Include inside http { }, beside
#   upstream directory_functions { server 127.0.0.1:4321; keepalive 32; }
${MAPS}
server {
  listen 80;
  root ${ROOT}/current/public;
  absolute_redirect off;
  merge_slashes off;
  gzip_static on;
  gzip_vary on;
  default_type application/octet-stream;
  charset utf-8;
  charset_types text/css text/javascript text/plain text/markdown;
  types { ${toTypes(files)} }
  # A body that is too large is refused by the functions, in their words.
  client_max_body_size 12m;
  large_client_header_buffers 8 128k;
  # nginx has only GET and HEAD for files; the functions know the other methods.
  error_page 405 418 = @functions;
  if ($directory_odd) { return 418; }

${toFileLocations(files, headers)}

${FUNCTIONS}
}
`
}

type ToHeaders = (values: Record<string, string>) => string

const MAPS = `
# A page requested as Markdown is answered by a function.
map $http_accept $directory_page { default index.html; ~markdown none; }
# Requests without a query get the file, those with a query go to the functions.
map $args $directory_whole { "" index; default none; }
# Addresses that must not be answered with the file at that path: addresses with escapes or a slash
# at the end, index files, and the compressed copies.
map $request_uri $directory_odd {
  default 0;
  "~^/api/v1/call/" 0;
  "~^[^?]*(%|//)" 1;
  "~^[^?]+/(\\?|$)" 1;
  "~^[^?]*/index\\.(html|json)(\\?|$)" 1;
  "~^[^?]*\\.(html|json|svg|css|js|txt|xml|atom|md|wasm|webmanifest)\\.(br|gz)(\\?|$)" 1;
}
`

/** Ids contain dots, so a listing's address is a folder, which contains the page or the JSON. */
function toFileLocations(files: readonly TypedFile[], headers: ToHeaders): string {
  const of = (file: string) => {
    const { 'content-type': _, ...others } = fileHeaders({ file, type: findContentType(file) })
    return headers(others)
  }
  const [home, page] = [of('index.html'), of('docs/index.html')]
  const [data, hashed, badge] = [of('openapi.json'), of('_astro/a.js'), of('badge/a.svg')]
  const markdown = `add_header vary accept; add_header link '<$address.md>; rel="alternate"; type="text/markdown"';`
  const withQuery = FUNCTION_WITH_QUERY.map((path) => {
    const [extension, own] = path.startsWith('/api/') ? ['json', data] : ['html', page]
    return `location = ${path} { try_files ${path}/$directory_whole.${extension} @functions; ${own} }`
  })
  const locations = [
    `location = / { try_files /index.html @functions; ${home} }`,
    `location / { try_files $uri/index.html @files; ${page} }`,
    `location ~ ^/[^/]+\\.html$ { try_files $uri @functions; ${page} }`,
    `location ~ ^(?<address>/(?:${PAGES_WITH_MARKDOWN.join('|')})/[^/]+)$ { try_files $uri/$directory_page @functions; ${page} ${markdown} }`,
    `location @files { try_files $uri @functions; ${data} }`,
    `location ~ ${KIT_PATTERN} { if ($args) { return 418; } try_files $uri @functions; ${data} }`,
    `location /api/ { try_files $uri/index.json $uri @functions; ${data} }`,
    `location /badge/ { try_files $uri @functions; ${badge} }`,
    `location /_astro/ { try_files $uri @functions; ${hashed} }`,
    `location ~ ^/pagefind/[0-9]+/(fragment|index|filter)/ { try_files $uri @functions; ${hashed} }`,
    ...files.filter(isSingle).map((file) => toSingle(file, headers)),
    ...withQuery,
  ]
  return locations.map((location) => `  ${location}`).join('\n')
}

/** Types by extension, as nginx maps them; nginx adds the charset itself. */
function toTypes(files: readonly TypedFile[]): string {
  const byExtension = new Map(
    files.filter((file) => !isSingle(file)).map(({ file, type }) => [extensionOf(file), type]),
  )
  return [...byExtension]
    .filter(([, type]) => type !== 'application/octet-stream')
    .map(([extension, type]) => `${bare(type)} ${extension};`)
    .toSorted()
    .join(' ')
}

/** The rule for a file without an extension, or whose protocol requires another type than its extension implies. */
function toSingle(file: TypedFile, headers: ToHeaders): string {
  const { 'content-type': type = '', ...others } = fileHeaders(file)
  return `location = /${file.file} { types { } default_type '${bare(type)}'; try_files $uri @functions; ${headers(others)} }`
}

/** Whether a web server would infer another type from the file's name. */
function isSingle({ file, type }: TypedFile): boolean {
  return findTypeByExtension(file) !== type
}

function extensionOf(file: string): string {
  return file.slice(file.lastIndexOf('.') + 1)
}

function bare(type: string): string {
  return type.replace('; charset=utf-8', '')
}

const ONCE = 'proxy_next_upstream off;'

const PROXY = [
  'proxy_pass http://directory_functions;',
  'proxy_http_version 1.1;',
  'charset off;',
  'proxy_set_header Host $http_host;',
  'proxy_set_header Connection "";',
  'proxy_set_header X-Forwarded-For $remote_addr;',
  'proxy_set_header X-Request-Id $request_id;',
  'proxy_set_header Accept-Encoding $http_accept_encoding;',
].join(' ')

/** The relay streams both ways, so nginx must not buffer, and must allow time for a payment to settle. */
const FUNCTIONS = `  # Live answers.
  location = /api/v1/search { ${PROXY} }
  # A request that pays or writes is sent once: by default nginx tries a second server if one fails.
  location ^~ /go/ { ${PROXY} ${ONCE} }
  location ^~ /gone/ { ${PROXY} }
  location ^~ /api/v1/sellers/ { ${PROXY} ${ONCE} }
  location ^~ /api/v1/call/ { ${PROXY} ${ONCE} proxy_buffering off; proxy_request_buffering off; proxy_read_timeout 340s; }
  location @functions { ${PROXY} ${ONCE} }`

function addHeaders(values: Record<string, string>): string {
  return Object.entries(values)
    .map(([name, value]) => {
      const quote = value.includes('"') ? "'" : '"'
      return `add_header ${name} ${quote}${value}${quote};`
    })
    .join(' ')
}

/** Addresses answered by a file if there is no query, and by a function if there is one. */
const FUNCTION_WITH_QUERY: readonly string[] = [ROUTES.compare_list.path, '/compare']

/** The address of a listing's kit, answered by a file without a query, and by a function with one. */
const KIT_PATTERN = '^/api/v1/listings/[^/]+/kit\\.json$'
