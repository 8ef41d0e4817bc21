import * as v from 'valibot'
import { isJsonObject, memberOf } from '../../src/domain/wire/json.ts'
import type { MapRules } from '../facts/map-rows.ts'
import {
  foreignText,
  foreignTexts,
  gatherSeeds,
  type Mapped,
  optionalList,
  refuse,
} from '../facts/map-rows.ts'
import { NO_META, parseRegistryRow, type RegistryServer } from '../facts/server-json.ts'
import { followAddresses, ReadDocument } from '../fetch/read-sellers.ts'
import { type ListedFacts, parseAddresses, type SeedSource } from '../fetch/read-source.ts'
import { toCatalogTools, toTool } from './mcp-catalogs.ts'
import { mapServer, tidyUrl } from './mcp-registry.ts'

const SOURCE = 'package_manifests'
const PACKAGES_URL = 'https://registry.npmjs.org'

/**
 * MCP servers as described by their packages: `package.json`, the registry's `server.json`, and the
 * `manifest.json` in a bundle (MCPB, formerly DXT). Files in one folder, or from one package and
 * its repository, describe one server.
 *
 * A package vouches for itself alone: if a `server.json` is next to a `package.json`, only that
 * package is used, because anybody may write a stranger's address into their own file.
 */
export const manifests: SeedSource = {
  id: 'manifests',
  title: 'MCP servers by the manifests of their packages, with keys and tools',
  liveUrl: '',
  lists: ['manifests'],
  expected: 'a package.json, a server.json, a manifest.json, or a list of them',
  isRow: ({ name, server }) => typeof name === 'string' || isJsonObject(server),
  readText: parseAddresses,
  place: (row, folder) => (typeof row === 'string' ? row : new ReadDocument(folder, row)),
  fromContent: toPackageAddresses,
  follow: (values, reader) => followAddresses(values, reader, neighboursOf),
  choose(values, rules) {
    const places = Map.groupBy(
      values.filter((each) => each instanceof ReadDocument),
      ({ place }, at) => place ?? at,
    )
    return gatherSeeds([...places.values()].map((files) => mapFound(files, rules)))
  },
}

/** Where the package registry has the manifests of listed packages. */
function toPackageAddresses(listings: readonly ListedFacts[]): string[] {
  const names = listings.flatMap(({ facts: { invoke = [] } }) =>
    invoke.flatMap((entry) =>
      entry.kind === 'mcp_package' && entry.registry === 'npm' ? [entry.identifier] : [],
    ),
  )
  return [...new Set(names)]
    .sort()
    .map((name) => `${PACKAGES_URL}/${name.replace('/', '%2F')}/latest`)
}

/** Where a package's repository would have its other manifests. */
function neighboursOf(document: unknown): string[] {
  const parsed = v.safeParse(PackageSchema, document)
  const { url, directory } = (parsed.success && parsed.output.repository) || {}
  const [, name] = /^https:\/\/github\.com\/([\w-]+\/[\w.-]+)$/.exec(tidyUrl(url ?? '')) ?? []
  const below = /^(?:[\w-][\w.-]*\/?){1,10}$/.test(directory ?? '') ? `/${directory}` : ''
  const root = `https://raw.githubusercontent.com/${name}/HEAD${below.replace(/\/$/, '')}`
  return name === undefined ? [] : [`${root}/server.json`, `${root}/manifest.json`]
}

const list = optionalList
const record = v.nullish(v.record(v.string(), v.unknown()))

const PackageSchema = v.object({
  name: v.pipe(v.string(), v.regex(/^(?:@[\w.-]+\/)?[\w.-]{1,214}$/)),
  ...foreignTexts('description', 'homepage'),
  /** An address, or GitHub's short form of one. */
  repository: v.nullish(
    v.union([
      v.pipe(
        v.string(),
        v.transform((text) => ({
          url: text.replace(/^(?:github:)?(?=[\w-]+\/[\w.-]+$)/, 'https://github.com/'),
          directory: null,
        })),
      ),
      v.object(foreignTexts('url', 'directory')),
    ]),
  ),
  bin: v.nullish(v.union([v.string(), v.record(v.string(), v.unknown())])),
})

const BundleSchema = v.object({
  name: foreignText,
  ...foreignTexts('display_name', 'description'),
  server: v.object({ mcp_config: v.nullish(v.object({ env: record })) }),
  user_config: record,
  compatibility: v.nullish(v.object({ platforms: list })),
  tools: list,
  _meta: record,
})
type Bundle = v.InferOutput<typeof BundleSchema>

interface Found {
  own?: v.InferOutput<typeof PackageSchema>
  server?: RegistryServer
  bundle?: Bundle
}

function mapFound(files: readonly ReadDocument[], rules: MapRules): Mapped {
  const found: Found = {}
  for (const { document } of files) {
    if (v.is(BundleSchema, document)) found.bundle ??= v.parse(BundleSchema, document)
    else if (isServer(document)) {
      const parsed = parseRegistryRow(document)
      if ('row' in parsed) found.server ??= parsed.row.server
      else if (files.length === 1) return parsed
    } else if (v.is(PackageSchema, document)) found.own ??= v.parse(PackageSchema, document)
  }
  const server = toServer(found)
  const rows = files.length
  if (server === null) {
    const name = found.bundle?.name ?? '(no name)'
    const detail = 'expected a package.json or a server.json beside a manifest.json'
    return refuse(name.slice(0, 250), { reason: 'no_invoke', detail, rows })
  }
  const reported = { source: SOURCE, ref: refOf(found) }
  const evidence = toCatalogTools(toolsOf(found.bundle), rules)
  const more = { tags: platformsOf(found.bundle), evidence, rows }
  return mapServer({ server, official: NO_META, foundAt: [], reported, more }, rules)
}

function isServer(file: unknown): boolean {
  return isJsonObject(file) && (Array.isArray(file.packages) || Array.isArray(file.remotes))
}

/** Where these facts come from: the package's page, else the server's own page. */
function refOf({ own, server }: Found): string {
  if (own !== undefined) return `https://www.npmjs.com/package/${own.name}`
  return tidyUrl(server?.repository?.url ?? server?.websiteUrl ?? '')
}

/** The facts from all files, in the registry's terms; null if no file says how to run the server. */
function toServer({ own, server, bundle }: Found): RegistryServer | null {
  const environmentVariables = toVariables(bundle)
  const named = (server?.packages ?? []).filter(isJsonObject)
  const withKeys = (entry: Record<string, unknown>) =>
    environmentVariables.length === 0 ? entry : { environmentVariables, ...entry }
  if (own === undefined) return server ? { ...server, packages: named.map(withKeys) } : null
  const [scope, name] = own.name.startsWith('@') ? own.name.slice(1).split('/') : ['', own.name]
  const alone = { registryType: 'npm', identifier: own.name, transport: { type: 'stdio' } }
  const vouched = named.filter(({ identifier }) => identifier === own.name)
  // A package without a program cannot be started by its name.
  const packages =
    vouched.length > 0 ? vouched : Object.keys(own.bin ?? {}).length > 0 ? [alone] : []
  return {
    name: `npm${scope === '' ? '' : `.${scope}`}/${name}`,
    title: bundle?.display_name ?? server?.title,
    description: server?.description ?? bundle?.description ?? own.description,
    websiteUrl: server?.websiteUrl,
    repository: { url: server?.repository?.url ?? own.repository?.url ?? own.homepage },
    packages: packages.map(withKeys),
  }
}

/** Settings that a bundle requires from its user, by the variables through which the server gets them. */
function toVariables({ server, user_config }: Partial<Bundle> = {}): object[] {
  return Object.entries(server?.mcp_config?.env ?? {}).flatMap(([name, value]) => {
    const [, key = ''] = /\$\{user_config\.([\w-]+)\}/.exec(String(value)) ?? []
    const requested = user_config?.[key]
    if (!isJsonObject(requested)) return []
    const { description, title, required, sensitive, default: fallback } = requested
    const isPlain = typeof fallback === 'string' && fallback !== '' && !fallback.includes('${')
    return [
      {
        name,
        description: typeof description === 'string' ? description : title,
        isRequired: required === true && fallback === undefined,
        isSecret: sensitive === true,
        ...(isPlain && { default: fallback }),
      },
    ]
  })
}

const PLATFORMS = { darwin: 'macos', linux: 'linux', win32: 'windows' } as const

/** A bundle's platforms as tags, if it does not run on all. */
function platformsOf({ compatibility }: Partial<Bundle> = {}): string[] {
  const named = Object.entries(PLATFORMS).flatMap(([name, tag]) =>
    compatibility?.platforms?.includes(name) === true ? [tag] : [],
  )
  return named.length === Object.keys(PLATFORMS).length ? [] : named
}

/** Tools with their parameters if the bundle has a whole `tools/list` answer, else only their names. */
function toolsOf({ tools, _meta }: Partial<Bundle> = {}): unknown[] {
  const answers = Object.values(_meta ?? {}).flatMap((each) => {
    const responses = isJsonObject(each) ? each.static_responses : undefined
    const answer = isJsonObject(responses) ? responses['tools/list'] : undefined
    return isJsonObject(answer) && Array.isArray(answer.tools) ? answer.tools : []
  })
  const whole = answers.filter(isJsonObject)
  const known = new Set(whole.map(({ name }) => name))
  const named = (tools ?? []).flatMap(toTool).filter((each) => !known.has(memberOf(each, 'name')))
  return [...whole, ...named]
}
