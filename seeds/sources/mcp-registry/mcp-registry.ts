import { sampleAddress } from '../../../src/domain/listing/invoke.ts'
import { endpointsOf } from '../../../src/domain/sources/listing-marks.ts'
import { isJsonObject } from '../../../src/domain/wire/parse-json.ts'
import { gatherSeeds, type MappedSeed, refuse } from '../../facts/map-rows.ts'
import { faultOf } from '../../facts/refusal.ts'
import type { Seed } from '../../facts/seed-facts.ts'
import type { ChosenSeeds, MapRules, SeedSource } from '../../facts/seed-source.ts'
import { mapServer } from './map-server.ts'
import { parseRegistryRow, REGISTRY_URL, type RegistryRow } from './registry-row.ts'

/** The MCP registry, the newest version of every server, including those marked as deleted. */
export const mcpRegistry: SeedSource = {
  id: 'mcp-registry',
  title: 'servers of the MCP registry',
  liveUrl: `${REGISTRY_URL}/v0.1/servers?limit=100&version=latest&include_deleted=true`,
  promisesAll: true,
  shape: {
    lists: ['servers'],
    expected: 'a page of servers or a line of JSON for each',
    isRow: (value) => isJsonObject(value.server) || typeof value.name === 'string',
  },
  choose,
  sinceParameter: 'updated_since',
}

/**
 * Maps foreign rows to listings. Of servers that offer the same as another, the first published
 * stays; a name under the remote's own domain takes precedence, so that nobody takes a vendor's
 * place by naming its address.
 */
function choose(values: readonly unknown[], rules: MapRules): ChosenSeeds {
  const refused: MappedSeed[] = []
  const mapped = pickNewest(values, refused).map((row) => mapServer(row, rules))
  const chosen = gatherSeeds([...refused, ...mapped], {
    rankOf: (seed) => `${isOwnDomain(seed) ? '0' : '1'} ${seed.published ?? '9999'} ${seed.key}`,
    marksOf: ({ facts }) => endpointsOf(facts.invoke),
    isAnyEnough: false,
  })
  const deleted = chosen.refused.filter(({ reason }) => reason === 'deleted')
  return { ...chosen, deleted: deleted.map(({ name }) => name) }
}

/** One row per name: the registry has one per version. */
function pickNewest(values: readonly unknown[], refused: MappedSeed[]): RegistryRow[] {
  const byName = new Map<string, RegistryRow>()
  for (const value of values) {
    const parsed = parseRegistryRow(value)
    if (!parsed.ok) refused.push(parsed)
    else if (parsed.row.isLatest) keepNewer(byName, parsed.row, refused)
    else {
      const { name, version } = parsed.row.server
      refused.push(refuse(name, faultOf('not_latest', `version ${version ?? '?'}`)))
    }
  }
  return [...byName.values()]
}

function keepNewer(byName: Map<string, RegistryRow>, row: RegistryRow, refused: MappedSeed[]) {
  const key = row.server.name.toLowerCase()
  const other = byName.get(key)
  const isNewer = other === undefined || (row.published ?? '') > (other.published ?? '')
  if (isNewer) byName.set(key, row)
  if (other === undefined) return
  const detail = `expected one row a name; kept ${isNewer ? 'the newer' : 'the first'}`
  const left = isNewer ? other : row
  refused.push(refuse(left.server.name, { reason: 'duplicate_name', detail }))
}

/** `com.example/x` with a remote at or under example.com. */
function isOwnDomain({ key, facts }: Seed): boolean {
  const domain = (key.split('/')[0] ?? '').toLowerCase().split('.').reverse().join('.')
  return (facts.invoke ?? []).some((entry) => {
    const host = entry.kind === 'mcp' ? (URL.parse(sampleAddress(entry))?.hostname ?? '') : ''
    return host !== '' && (host === domain || host.endsWith(`.${domain}`))
  })
}
