import { fileHeaders, isHashed, type TypedFile } from '../../domain/delivery/file-headers.ts'
import { DOORS } from '../../domain/wire/door-table.ts'
import { kindCardPath, SECURITY_PATH } from '../../domain/wire/links.ts'
import { ROUTES } from '../../domain/wire/route-table.ts'
import { toTransportHeaders } from '../../domain/wire/site-headers.ts'
import { findContentType, toUrlPath } from '../../domain/wire/static-file.ts'
import { ID_PREFIXES } from '../../domain/wire/vocabulary.ts'
import { extensionOf, isSingle } from './nginx-rules.ts'

/** Headers a host adds itself, or sends only where an answer depends on the request. */
const LEFT_TO_HOST = new Set(['content-type', 'vary'])
/** Headers that differ per listing: a block for each would make a file of megabytes. */
const TWIN_LINK = 'rel="alternate"'

/** Path below some folder, and its block of headers. */
type Block = [path: string, headers: string]

/**
 * Files by the first folder of their addresses, empty for those in none. Of hashed names that
 * change with each build, only the first of each folder and type.
 */
export function groupByFolder(names: readonly string[]): Map<string, string[]> {
  const seen = new Set<string>()
  const lasting = names.filter((file) => {
    if (!isHashed(file)) return true
    const sign = file.replace(/[^/]*\./, '')
    return !seen.has(sign) && seen.add(sign)
  })
  return Map.groupBy(lasting, (file) => {
    const address = toUrlPath(file)
    return address.slice(1, Math.max(1, address.indexOf('/', 1)))
  })
}

/**
 * The files of such a folder that need rules: where headers are equal, only the first of each type
 * and address. @param names sorted
 */
export function toHeaderFiles(names: readonly string[], folder: string): TypedFile[] {
  const files = names.map((file) => ({ file, type: findContentType(file) }))
  const headers = new Set(files.map((file) => toHeaderLines(fileHeaders(file))))
  if (folder === '' || headers.size > 1) return files
  const telling = new Map<string, TypedFile>()
  for (const file of files) {
    const sign = isSingle(file) ? file.file : `${extensionOf(file.file)} ${routeOf(file)}`
    if (!telling.has(sign)) telling.set(sign, file)
  }
  return [...telling.values()]
}

/**
 * `_headers` as static hosts read it: one block for each folder whose files share their headers,
 * one for each other file. No address has two blocks with different values: hosts would merge them.
 */
export function toHeaderRules(baseUrl: string, files: readonly TypedFile[]): string {
  const transport = toHeaderLines(toTransportHeaders(baseUrl))
  const blocks = files.map(
    (file): Block => [
      toUrlPath(file.file).slice(1),
      `${toHeaderLines(fileHeaders(file))}${transport}`,
    ],
  )
  return joinEqual('', [...new Map(blocks)])
    .map(([path, headers]) => `${path}\n${headers}`)
    .join('')
}

function toHeaderLines(headers: Record<string, string>): string {
  return Object.entries(headers)
    .filter(([header, value]) => !LEFT_TO_HOST.has(header) && !value.includes(TWIN_LINK))
    .map(([header, value]) => `  ${header}: ${value}\n`)
    .join('')
}

const PATTERNS = Object.values(ROUTES).map(({ path }) => ({ path, pattern: toPattern(path) }))

/** The route for JSON without an extension, or its own address; empty for others. */
function routeOf({ file }: TypedFile): string {
  if (!file.endsWith('/index.json')) return ''
  const address = toUrlPath(file)
  return PATTERNS.find(({ pattern }) => pattern.test(address))?.path ?? address
}

/**
 * `_redirects` for static hosts: addresses of JSON without an extension, which a host would not
 * find in `index.json`. Routes only functions answer are comments, with lines to proxy them.
 */
export function toRedirectRules(files: readonly TypedFile[]): string {
  const addresses = files.map(routeOf).filter((address) => address !== '')
  const rewrites = [...new Set(addresses)]
    .toSorted()
    .map((path) => `${path} ${path}/index.json 200`)
  const live = [...Object.values(ROUTES), ...Object.values(DOORS), ...PAGES]
    .filter(({ answer }) => answer === 'live')
    .map(({ path }) => (path === ROUTES.call.path ? '/api/v1/call/*' : path))
  const proxied = [...new Set(live)].map(
    (path) => `# ${path} https://functions.example${path.replace('*', ':splat')} 200`,
  )
  return [
    ...rewrites,
    '',
    '# A function draws the card of each listing; without one it is the card of its kind:',
    ...CARDS,
    '',
    '# Functions answer these. Put their host in, and take the # away, where the host can proxy:',
    ...proxied,
    '',
  ].join('\n')
}

const KINDS = {
  x402: 'http_api',
  api: 'http_api',
  mcp: 'mcp_server',
  a2a: 'a2a_agent',
  kit: 'kit',
} as const
const CARDS = ID_PREFIXES.map((prefix) => `/og/${prefix}.* ${kindCardPath(KINDS[prefix])} 302`)

/** Rendered for each request. */
const PAGES = [
  '/search',
  '/sellers/check',
  '/sellers/dashboard',
  '/sellers/sign-in',
  '/report',
  SECURITY_PATH,
].map((path) => ({ path, answer: 'live' as const }))

/** One block for a folder where all below it are equal; else its own files, then its folders. */
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
