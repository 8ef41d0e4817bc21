import { parse } from 'yaml'
import { toToolFacts } from '../../../src/domain/probe/keep/tool-facts.ts'
import { readTools } from '../../../src/domain/probe/read/mcp-tools.ts'
import { isJsonObject, parseJson } from '../../../src/domain/wire/parse-json.ts'
import type { MappedSeed } from '../../facts/finish-seed.ts'
import { gatherSeeds } from '../../facts/gather-seeds.ts'
import type { Refusal } from '../../facts/refusal.ts'
import type { MapRules, SeedSource } from '../../facts/seed-source.ts'
import { mapServer } from '../mcp-registry/map-server.ts'
import { type CatalogRow, parseCatalogRow } from './catalog-row.ts'

interface Catalog {
  id: string
  title: string
  liveUrl: string
  /** Id in `tables/sources.yaml`. */
  source: string
  /** Where a server's own entry is shown. */
  entryUrl: (name: string) => string
}

/** Servers of Docker's catalogue, with the tools that it lists. */
export const docker = createCatalogSource({
  id: 'docker',
  title: "servers of Docker's MCP catalogue, with their tools",
  liveUrl: 'https://desktop.docker.com/mcp/catalog/v3/catalog.yaml',
  source: 'docker_mcp_registry',
  entryUrl: (name) =>
    `https://github.com/docker/mcp-registry/blob/main/servers/${name}/server.yaml`,
})

/** Servers of ToolHive's registry, with the names of their tools. */
export const toolhive = createCatalogSource({
  id: 'toolhive',
  title: "servers of ToolHive's registry, with the names of their tools",
  liveUrl:
    'https://raw.githubusercontent.com/stacklok/toolhive/main/pkg/registry/data/registry.json',
  source: 'toolhive_registry',
  entryUrl: (name) =>
    `https://github.com/stacklok/toolhive-registry/blob/main/registry/${name}/spec.yaml`,
})

function createCatalogSource(catalog: Catalog): SeedSource {
  const { id, title, liveUrl, source } = catalog
  return {
    id,
    title,
    liveUrl,
    promisesAll: false,
    sourceIds: [source],
    parse: (text) => ({ values: toRows(text), refused: [], next: null }),
    choose(values, rules) {
      const refused: Refusal[] = []
      const mapped = values.flatMap((value) => {
        const row = parseCatalogRow(value, id)
        if (!('detail' in row)) return [mapRow(row, catalog, rules)]
        refused.push({ reason: 'invalid_row', ...row })
        return []
      })
      return gatherSeeds(mapped, refused)
    },
  }
}

/** A catalogue by name, a list, one server, or a line for each. */
function toRows(text: string): unknown[] {
  const lines = text.trim().split('\n')
  const isLines = lines.length > 1 && lines.every((line) => line.startsWith('{'))
  if (isLines) return lines.map((line) => parseJson(line))
  const value = parseJson(text) ?? readYaml(text)
  if (Array.isArray(value)) return value
  if (!isJsonObject(value)) throw new Error('expected a catalogue of MCP servers, as YAML or JSON')
  const named = [value.registry, value.servers, value.remote_servers].filter(isJsonObject)
  if (named.length === 0) return [value]
  return named.flatMap((rows) =>
    Object.entries(rows).map(([name, row]) => (isJsonObject(row) ? { ...row, name } : row)),
  )
}

/** Without aliases: a catalogue of a few lines could else fill the memory. */
function readYaml(text: string): unknown {
  try {
    const value: unknown = parse(text, { maxAliasCount: 0, merge: false })
    return value
  } catch {
    return null
  }
}

function mapRow(row: CatalogRow, { source, entryUrl }: Catalog, rules: MapRules): MappedSeed {
  const ref = entryUrl(row.name)
  const foundAt = [ref]
  const official = { status: 'active', statusMessage: '', isLatest: true, published: null }
  const mapped = mapServer({ server: row.server, ...official, foundAt }, rules)
  if (!mapped.ok) return mapped
  const { items, isCut } = readTools(row.tools)
  const tools = items.map(toToolFacts).sort((a, b) => (a.name < b.name ? -1 : 1))
  const read = { at: rules.now, from: 'catalog', tools, ...(isCut && { truncated: true }) }
  const seed = { ...mapped.seed, facts: { ...mapped.seed.facts, sources: [{ source, ref }] } }
  return {
    ...mapped,
    seed: tools.length === 0 ? seed : { ...seed, evidence: { interface: read } },
  }
}
