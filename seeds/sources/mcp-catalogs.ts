import * as v from 'valibot'
import { readTools, toToolFacts } from '../../src/domain/probe/mcp.ts'
import { isJsonObject } from '../../src/domain/wire/json.ts'
import { count, InstantSchema } from '../../src/domain/wire/shapes.ts'
import { chooseRows, foreignTexts, type MapRules, type SeedEvidence } from '../facts/map-rows.ts'
import { NO_META } from '../facts/server-json.ts'
import type { SeedSource } from '../fetch/read-source.ts'
import { mapServer } from './mcp-registry.ts'

const MAX_ENTRIES = 500
const list = v.nullish(v.pipe(v.array(v.unknown()), v.maxLength(MAX_ENTRIES)))
const counted = v.fallback(v.optional(count), undefined)

/**
 * A server in Docker's catalogue (`server.yaml` with its `tools.json`, or a row in the catalogue
 * built from them) or in ToolHive's (`spec.yaml`, or a row in `registry.json`).
 */
const RowSchema = v.object({
  name: v.pipe(v.string('expected text'), v.regex(/^[\w.-]{1,100}$/, 'expected a name')),
  /** `url` is the address of ToolHive's remote servers. */
  ...foreignTexts('title', 'description', 'image', 'url', 'transport', 'repository_url'),
  about: v.nullish(v.object(foreignTexts('title', 'description'))),
  source: v.nullish(v.object(foreignTexts('project'))),
  remote: v.nullish(v.object(foreignTexts('url', 'transport_type'))),
  config: v.nullish(v.object({ secrets: list, env: list })),
  secrets: list,
  env: list,
  env_vars: list,
  tools: list,
  /** ToolHive's counts: the repository's stars, the image's pulls. */
  metadata: v.fallback(
    v.nullish(v.object({ stars: counted, pulls: counted, last_updated: InstantSchema })),
    undefined,
  ),
})
type Row = v.InferOutput<typeof RowSchema>

/** Names and parameters of a server's tools as evidence. */
export function toCatalogTools(words: readonly unknown[], { now }: MapRules): SeedEvidence {
  const { items, isCut } = readTools(words)
  if (items.length === 0) return {}
  const tools = items.map(toToolFacts).sort((a, b) => (a.name < b.name ? -1 : 1))
  return { interface: { at: now, from: 'catalog', tools, ...(isCut && { truncated: true }) } }
}

/** The catalogue's usage counts, on the day that it states. */
function toUse({ metadata }: Row, source: string): SeedEvidence {
  const { stars, pulls, last_updated: as_of } = metadata ?? {}
  if (stars === undefined && !pulls) return {}
  // Zero pulls means not counted, because most images are in a registry without counts.
  const reported_use = [
    ...(pulls ? [{ source, what: 'downloads', value: pulls, as_of }] : []),
    ...(stars !== undefined ? [{ source, what: 'stars', value: stars, as_of }] : []),
  ]
  return { reported_use }
}

function toServer(row: Row, namespace: string) {
  const { about, source, remote, config } = row
  const url = remote?.url ?? row.url
  const secrets = [...(config?.secrets ?? []), ...(row.secrets ?? [])]
  const settings = [...(config?.env ?? []), ...(row.env ?? []), ...(row.env_vars ?? [])]
  const environmentVariables = [
    ...secrets.flatMap((each) => toSetting(each, true)),
    ...settings.flatMap((each) => toSetting(each, false)),
  ]
  const identifier = row.image?.replace(/@sha256:[0-9a-f]+$/, '').replace(/:latest$/, '')
  const packaged = {
    registryType: 'oci',
    identifier: identifier?.replace(/^docker\.io\//, ''),
    transport: { type: 'stdio' },
    environmentVariables,
  }
  const type = remote?.transport_type ?? row.transport ?? 'streamable-http'
  return {
    name: `${namespace}/${row.name}`,
    title: about?.title ?? row.title,
    description: about?.description ?? row.description,
    repository: { url: source?.project ?? row.repository_url },
    remotes: url ? [{ type, url }] : [],
    packages: identifier && !url ? [packaged] : [],
  }
}

function toSetting(value: unknown, isSecret: boolean): object[] {
  if (!isJsonObject(value)) return []
  const name = isSecret ? value.env : value.name
  if (typeof name !== 'string') return []
  const secret = isSecret || value.secret === true
  return [{ name, isSecret: secret, isRequired: isSecret || value.required === true }]
}

/** ToolHive's placeholder for tools that a server only names at run time. */
const NAMED_LATER = 'set_during_runtime'

/** A name alone, or a name with its arguments; a catalogue's descriptions are not copied. */
export function toTool(value: unknown): object[] {
  if (typeof value === 'string') return value === NAMED_LATER ? [] : [{ name: value }]
  if (!isJsonObject(value) || typeof value.name !== 'string') return []
  const { name, arguments: words } = value
  if (!Array.isArray(words)) return [{ name }]
  const known = words.filter(isJsonObject).filter((word) => typeof word.name === 'string')
  const properties = Object.fromEntries(
    known.map((word) => [
      String(word.name),
      typeof word.type === 'string' && TYPES.has(word.type) ? { type: word.type } : {},
    ]),
  )
  const required = known.filter((word) => word.optional === false).map((word) => String(word.name))
  const needs = required.length > 0 && { required }
  return [{ name, inputSchema: { type: 'object', properties, ...needs } }]
}

const TYPES = new Set(['string', 'number', 'integer', 'boolean', 'array', 'object'])

interface Catalog extends Pick<SeedSource, 'id' | 'title' | 'liveUrl'> {
  source: string
  entryUrl: (name: string) => string
}

function createCatalogSource({ source, entryUrl, ...about }: Catalog): SeedSource {
  return {
    ...about,
    lists: ['registry', 'servers', 'remote_servers'],
    expected: 'a catalogue of MCP servers, as YAML or JSON',
    isRow: (value) => typeof value.name === 'string',
    takesYaml: true,
    choose: chooseRows(RowSchema, 'name', (row, rules) => {
      const reported = { source, ref: entryUrl(row.name) }
      const tools = toCatalogTools((row.tools ?? []).flatMap(toTool), rules)
      const more = { evidence: { ...tools, ...toUse(row, source) } }
      const server = toServer(row, about.id)
      return mapServer({ server, official: NO_META, foundAt: [], reported, more }, rules)
    }),
  }
}

export const docker = createCatalogSource({
  id: 'docker',
  title: "servers of Docker's MCP catalogue, with their tools",
  liveUrl: 'https://desktop.docker.com/mcp/catalog/v3/catalog.yaml',
  source: 'docker_mcp_registry',
  entryUrl: (name) =>
    `https://github.com/docker/mcp-registry/blob/main/servers/${name}/server.yaml`,
})

export const toolhive = createCatalogSource({
  id: 'toolhive',
  title: "servers of ToolHive's registry, with the names of their tools",
  liveUrl:
    'https://raw.githubusercontent.com/stacklok/toolhive/main/pkg/registry/data/registry.json',
  source: 'toolhive_registry',
  entryUrl: (name) =>
    `https://github.com/stacklok/toolhive-registry/blob/main/registry/${name}/spec.yaml`,
})
