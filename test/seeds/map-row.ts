import { parseRegistryRow } from '../../seeds/facts/server-json.ts'
import { mapServer } from '../../seeds/sources/mcp-registry.ts'

export const RULES = {
  categories: new Set(['geo_weather', 'web_search', 'developer_tools']),
  sources: [
    tableRow('mcp_registry', 'https://registry.modelcontextprotocol.io', 'used'),
    tableRow('open_list', 'https://lists.example/open', 'used'),
    tableRow('closed_list', 'https://lists.example/closed', 'facts_only'),
  ],
  allowPlaceholders: true,
  now: '2026-11-20T00:00:00.000Z',
}

export const WEATHER = {
  name: 'io.github.user/weather',
  description: 'Weather forecasts for any place.',
  packages: [{ registryType: 'npm', identifier: '@user/weather', transport: { type: 'stdio' } }],
}

export function mapRow(row: unknown) {
  return mapServer(parseRow(row), RULES)
}

export function parseRow(row: unknown) {
  const parsed = parseRegistryRow(row)
  if ('refusal' in parsed) throw new Error(`the fixture is not a row: ${parsed.refusal.detail}`)
  return parsed.row
}

export function pack(registryType: string, identifier: string) {
  return { packages: [{ registryType, identifier, transport: { type: 'stdio' } }] }
}

export function official(meta: object) {
  return { 'io.modelcontextprotocol.registry/official': { status: 'active', ...meta } }
}

function tableRow(id: string, url: string, decision: 'used' | 'facts_only') {
  return { id, name: id, url, license: 'MIT', attribution: '', decision, reason: 'for the test' }
}
