import * as v from 'valibot'
import type { SourceRow } from '../../src/domain/derived/tables.ts'
import { defaultAddress, type InvokeEntry, sampleAddress } from '../../src/domain/listing/invoke.ts'
import { RegistryNameSchema, VersionSchema } from '../../src/domain/listing/listing-facts.ts'
import { MAX_ID_LENGTH } from '../../src/domain/listing/listing-text.ts'
import { endpointsOf } from '../../src/domain/sources/join-rows.ts'
import { isJsonObject, present } from '../../src/domain/wire/json.ts'
import {
  type ChosenSeeds,
  type Fault,
  faultOf,
  findCallableUrlFault,
  gatherSeeds,
  type HostRules,
  type Mapped,
  type MapRules,
  mapReported,
  refuse,
  type Seed,
  toSlug,
} from '../facts/map-rows.ts'
import { toPlainText, toSeedLine } from '../facts/seed-texts.ts'
import {
  authOf,
  mapInvoke,
  parseRegistryRow,
  type RegistryRow,
  type RegistryServer,
  type SourceRef,
} from '../facts/server-json.ts'
import type { SeedSource } from '../fetch/read-source.ts'

const REGISTRY_URL = 'https://registry.modelcontextprotocol.io'
const REGISTRY_SOURCE = 'mcp_registry'

const MAX_SLUG_LENGTH = MAX_ID_LENGTH - 'mcp.'.length

const MAX_MESSAGE = 200

export function mapServer(row: RegistryRow, rules: MapRules): Mapped {
  const { server, official, more } = row
  const { name } = server
  const source = findSource(row, rules.sources)
  if ('reason' in source) return refuse(name, source)
  const callable = mapCallable(server, rules)
  return mapReported(
    {
      key: name,
      prefix: 'mcp',
      slug: registrySlug(name),
      published: dayOf(row),
      names: [nameOf(server)],
      stated: [server.description],
      ...more,
      ...(official.status === 'deprecated' && { deprecated: toDeprecated(row) }),
      facts:
        'reason' in callable
          ? callable
          : { ...callable.facts, ...registryFacts(server, source), sources: [source] },
      dropped: 'reason' in callable ? [] : callable.faults.map((left) => ({ ...left, name })),
    },
    rules,
  )
}

/** The day on which it was published, `2026-11-20`; absent if the row doesn't say. */
function dayOf({ official: { publishedAt } }: RegistryRow): string | undefined {
  return publishedAt?.slice(0, 10)
}

/** The notice for a deprecated server, with the registry's one sentence, which often names a successor. */
function toDeprecated({ official: { statusMessage, statusChangedAt } }: RegistryRow) {
  return present({
    at: statusChangedAt ?? undefined,
    message: toSeedLine(statusMessage, MAX_MESSAGE) ?? undefined,
  })
}

/** The title, if there is one, even if nothing in it is readable: the title is the seller's choice. */
function nameOf({ title, name }: RegistryServer): string {
  return toPlainText(title ?? '') === '' ? (name.split('/')[1] ?? '') : (title ?? '')
}

/** A server's endpoints and a page about it; both are required. */
function mapCallable(server: RegistryServer, rules: HostRules) {
  const { entries, faults } = mapInvoke(server, rules)
  if (entries.length === 0)
    return faultOf(
      faults[0]?.reason ?? 'no_invoke',
      faults.map(({ detail }) => detail).join('; ') || 'expected a remote or a package',
    )
  const url = findPage(server, entries, rules)
  if (url === null)
    return faultOf('no_url', 'expected a websiteUrl, a repository or a package with a public page')
  const auth = authOf(entries)
  const kind = 'mcp_server' as const
  return { facts: { kind, url, ...(auth !== null && { auth }), invoke: entries }, faults }
}

/** Name and version are proved only in the registry's own rows; elsewhere they may be invented. */
function registryFacts({ name, version }: RegistryServer, { source }: SourceRef) {
  if (source !== REGISTRY_SOURCE) return {}
  return {
    ...(v.is(RegistryNameSchema, name) && { registry_name: name }),
    ...(v.is(VersionSchema, version) && { version }),
  }
}

/** The website, else the repository, a remote's own address, the package's page, or its owner's site. */
function findPage(server: RegistryServer, entries: readonly InvokeEntry[], rules: HostRules) {
  const candidates = [
    server.websiteUrl,
    server.repository?.url,
    ...entries.map((entry) => (entry.kind === 'mcp' ? defaultAddress(entry) : packagePage(entry))),
    pageOfOwner(server.name),
  ]
  const urls = candidates.map((candidate) => tidyUrl(candidate ?? ''))
  return urls.find((url) => url !== '' && findCallableUrlFault(url, rules) === null) ?? null
}

/**
 * The owner's page, from the namespace: the registry gives a name only to the owner of its domain
 * or GitHub account.
 * @example pageOfOwner('com.example/weather') → 'https://example.com'
 */
function pageOfOwner(name: string): string {
  const namespace = (name.split('/')[0] ?? '').toLowerCase()
  const [, account] = /^io\.github\.([\w-]+)$/.exec(namespace) ?? []
  return account === undefined
    ? `https://${namespace.split('.').reverse().join('.')}`
    : `https://github.com/${account}`
}

/** @example tidyUrl('git+https://github.com/user/weather.git') → 'https://github.com/user/weather' */
export function tidyUrl(text: string): string {
  return text
    .trim()
    .replace(/^git\+/, '')
    .replace(/^git@github\.com:/, 'https://github.com/')
    .replace(/^http:\/\/(?=(?:www\.)?(?:github|gitlab)\.com\/)/, 'https://')
    .replace(/^(https:\/\/(?:github|gitlab)\.com\/[^?#]+?)\.git$/, '$1')
}

function packagePage(entry: Extract<InvokeEntry, { kind: 'mcp_package' }>): string {
  const { registry, identifier } = entry
  switch (registry) {
    case 'npm':
      return `https://www.npmjs.com/package/${identifier}`
    case 'pypi':
      return `https://pypi.org/project/${identifier}/`
    case 'nuget':
      return `https://www.nuget.org/packages/${identifier}`
    case 'mcpb':
      return identifier
    case 'oci':
      return imagePage(identifier)
  }
}

function imagePage(image: string): string {
  const [first = '', ...path] = image.split('/')
  if (path.length > 0 && first.includes('.')) return `https://${image}`
  return `https://hub.docker.com/${path.length === 0 ? '_' : 'r'}/${image}`
}

/**
 * The slug for a registry name. It depends only on the name, so that every import, on any machine
 * and in any order, gives the same id.
 *
 * Its form rules out collisions. In a plain name (`namespace/server`, single separators, no capital
 * and no dot in the server's part) only the slash becomes a dot, which can be undone: the last dot
 * was the slash. Every other name gets a hash of the whole name at its end, and no plain name ends
 * like a hash. The case of a namespace doesn't matter: it is a domain or an account name, where
 * case never distinguishes two owners.
 * @example registrySlug('io.github.user/weather') → 'io.github.user.weather'
 * @example registrySlug('io.github.user/Weather_API') → 'io.github.user.weather_api-e6edc801'
 */
export function registrySlug(name: string): string {
  const [namespace = '', server = ''] = name.split('/')
  const canonical = `${namespace.toLowerCase()}/${server}`
  return toSlug(`${namespace}.${server}`, canonical, {
    room: MAX_SLUG_LENGTH,
    nameless: 'server',
    isPlain: /^[a-z0-9]+(?:[.-][a-z0-9]+)*\/[a-z0-9]+(?:[_-][a-z0-9]+)*$/.test(canonical),
  })
}

/** The MCP registry: the newest version of every server, including servers marked as deleted. */
export const mcpRegistry: SeedSource = {
  id: 'mcp-registry',
  title: 'servers of the MCP registry',
  liveUrl: `${REGISTRY_URL}/v0.1/servers?limit=100&version=latest&include_deleted=true`,
  promisesAll: true,
  lists: ['servers'],
  expected: 'a page of servers or a line of JSON for each',
  isRow: (value) => isJsonObject(value.server) || typeof value.name === 'string',
  choose,
  sinceParameter: 'updated_since',
}

/**
 * Maps foreign rows to listings. If several servers offer the same endpoints and packages, the first published stays; but
 * a name under the remote's own domain takes precedence, so that nobody takes a vendor's place by
 * naming its address.
 */
function choose(values: readonly unknown[], rules: MapRules): ChosenSeeds {
  const refused: Mapped[] = []
  const mapped = pickNewest(values, refused).map((row) => mapServer(row, rules))
  return gatherSeeds([...refused, ...mapped], {
    rankOf: (seed) => `${isOwnDomain(seed) ? '0' : '1'} ${seed.published ?? '9999'} ${seed.key}`,
    marksOf: ({ facts }) => endpointsOf(facts.invoke),
    isAnyEnough: false,
  })
}

/** One row per name; the registry has one per version. */
function pickNewest(values: readonly unknown[], refused: Mapped[]): RegistryRow[] {
  const latest: RegistryRow[] = []
  for (const value of values) {
    const parsed = parseRegistryRow(value)
    if ('refusal' in parsed) refused.push(parsed)
    else if (parsed.row.official.isLatest) latest.push(parsed.row)
    else {
      const { name, version } = parsed.row.server
      refused.push(refuse(name, faultOf('not_latest', `version ${version ?? '?'}`)))
    }
  }
  const byName = Map.groupBy(latest, ({ server }) => server.name.toLowerCase())
  return [...byName.values()].flatMap((rows) => {
    const [newest, ...others] = rows.toSorted((a, b) =>
      (dayOf(b) ?? '').localeCompare(dayOf(a) ?? ''),
    )
    if (newest === undefined) return []
    for (const other of others) {
      const kept = (dayOf(other) ?? '') < (dayOf(newest) ?? '') ? 'the newer' : 'the first'
      const detail = `expected one row per name, kept ${kept}`
      refused.push(refuse(other.server.name, { reason: 'duplicate_name', detail }))
    }
    return [newest]
  })
}

/** Whether `com.example/x` has a remote at or under example.com. */
function isOwnDomain({ key, facts }: Seed): boolean {
  const domain = (key.split('/')[0] ?? '').toLowerCase().split('.').reverse().join('.')
  return (facts.invoke ?? []).some((entry) => {
    const host = entry.kind === 'mcp' ? (URL.parse(sampleAddress(entry))?.hostname ?? '') : ''
    return host !== '' && (host === domain || host.endsWith(`.${domain}`))
  })
}

/**
 * The source of a row's facts. A registry row is its own source; a saved row says where it was found, and the source
 * table says whose source that is and whether its text may be copied.
 * @returns why the row is not listed, if its server is gone or none of its sources allows copying its texts
 */
function findSource(
  { server, official: { status, statusMessage }, foundAt, reported }: RegistryRow,
  sources: readonly SourceRow[],
): SourceRef | Fault {
  if (status !== 'active' && status !== 'deprecated' && status !== '') {
    const why = statusMessage === '' ? '' : `: ${statusMessage}`
    const detail = `expected status active, got ${status}${why}`
    return { reason: status === 'deleted' ? 'deleted' : 'inactive', detail }
  }
  if (reported !== undefined && sources.some((row) => row.id === reported.source && isUsed(row)))
    return reported
  if (reported === undefined && foundAt.length === 0) {
    const entry = `${encodeURIComponent(server.name)}/versions/latest`
    return { source: REGISTRY_SOURCE, ref: `${REGISTRY_URL}/v0.1/servers/${entry}` }
  }
  for (const ref of foundAt) {
    const [owner] = sources
      .filter(({ url }) => ref.startsWith(url))
      .sort((a, b) => b.url.length - a.url.length)
    if (owner !== undefined && isUsed(owner)) return { source: owner.id, ref }
  }
  const places = reported?.ref ?? foundAt.join(', ')
  return faultOf('source_terms', `expected a source that allows copying its texts, got ${places}`)
}

function isUsed({ decision }: SourceRow): boolean {
  return decision === 'used'
}
