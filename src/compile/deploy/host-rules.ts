import { fileHeaders } from '../../domain/delivery/file-headers.ts'
import { DOORS } from '../../domain/wire/door-table.ts'
import { kindCardPath } from '../../domain/wire/links.ts'
import { ROUTES } from '../../domain/wire/route-table.ts'
import { toTransportHeaders } from '../../domain/wire/site-headers.ts'
import { type StaticFile, toUrlPath } from '../../domain/wire/static-file.ts'
import { ID_PREFIXES } from '../../domain/wire/vocabulary.ts'

/** What a host finds out by itself, or says only where an answer depends on the request. */
const LEFT_TO_HOST = new Set(['content-type', 'vary'])
/** Each listing's own: a block for each would be a file of megabytes. */
const TWIN_LINK = 'rel="alternate"'

/** Path below some folder, and its block of headers. */
type Block = [path: string, headers: string]

/**
 * `_headers` as static hosts read it: one block for each folder whose files share their headers, one
 * for each other file. No address has two blocks with different values: hosts would join them.
 */
export function toHeaderRules(baseUrl: string, files: readonly StaticFile[]): string {
  const toLines = (headers: Record<string, string>) =>
    Object.entries(headers)
      .filter(([header, value]) => !LEFT_TO_HOST.has(header) && !value.includes(TWIN_LINK))
      .map(([header, value]) => `  ${header}: ${value}`)
  const transport = toLines(toTransportHeaders(baseUrl))
  const blocks = files.map((file): Block => {
    const lines = [...toLines(fileHeaders(file)), ...transport]
    return [toUrlPath(file.file).slice(1), lines.join('\n')]
  })
  return `${joinEqual('', [...new Map(blocks)])
    .map(([path, headers]) => `${path}\n${headers}`)
    .join('\n')}\n`
}

/**
 * `_redirects` for static hosts: addresses of JSON without an extension, which a host would not find
 * in `index.json`. What only functions answer stands as comments, with the lines that would proxy it.
 */
export function toRedirectRules(files: readonly StaticFile[]): string {
  const routes = Object.values(ROUTES).map(({ path }) => path)
  const addresses = files
    .filter(({ file }) => file.endsWith('/index.json'))
    .map(({ file }) => toUrlPath(file))
    .map((address) => routes.find((path) => toPattern(path).test(address)) ?? address)
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

/** Pages that are rendered for each request. */
const PAGES = ['/search', '/sellers/check'].map((path) => ({ path, answer: 'live' as const }))

/** One block for a folder where all below it are equal; else what lies right in it, then its folders. */
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
