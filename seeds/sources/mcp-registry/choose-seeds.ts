import { endpointsOf } from '../../facts/listing-marks.ts'
import type { Refusal } from '../../facts/refusal.ts'
import type { Seed } from '../../facts/seed-facts.ts'
import type { ChosenSeeds, MapRules } from '../../facts/seed-source.ts'
import { mapServer } from './map-server.ts'
import { parseRegistryRow, type RegistryRow } from './registry-row.ts'

/**
 * From foreign rows to listings. Every row ends in exactly one of `seeds` and `refused`.
 *
 * Of servers that offer nothing but what another offers, the first published stays; a name under
 * the remote's own domain goes before all, so that nobody takes a vendor's place by naming its
 * address.
 */
export function chooseSeeds(values: readonly unknown[], rules: MapRules): ChosenSeeds {
  const refused: Refusal[] = []
  const dropped: Refusal[] = []
  const mapped: Seed[] = []
  const held: Seed[] = []
  for (const row of pickNewest(values, refused)) {
    const result = mapServer(row, rules)
    if (!result.ok) {
      refused.push(result.refusal)
      if (result.held !== undefined) held.push(result.held)
    } else {
      mapped.push(result.seed)
      for (const each of result.dropped) dropped.push(each)
    }
  }
  const seeds = dropRepeated(mapped, refused)
  return {
    seeds: seeds.sort((a, b) => (a.key < b.key ? -1 : 1)),
    refused,
    dropped,
    held,
    deleted: refused.filter(({ reason }) => reason === 'deleted').map(({ name }) => name),
  }
}

/** One row a name: the registry has one per version. */
function pickNewest(values: readonly unknown[], refused: Refusal[]): RegistryRow[] {
  const byName = new Map<string, RegistryRow>()
  for (const value of values) {
    const parsed = parseRegistryRow(value)
    if (!parsed.ok)
      refused.push({ reason: 'invalid_row', name: parsed.name, detail: parsed.detail })
    else if (parsed.row.isLatest) keepNewer(byName, parsed.row, refused)
    else {
      const { name, version } = parsed.row.server
      refused.push({ reason: 'not_latest', name, detail: `version ${version ?? '?'}` })
    }
  }
  return [...byName.values()]
}

function keepNewer(byName: Map<string, RegistryRow>, row: RegistryRow, refused: Refusal[]): void {
  const key = row.server.name.toLowerCase()
  const other = byName.get(key)
  const isNewer = other === undefined || (row.published ?? '') > (other.published ?? '')
  if (isNewer) byName.set(key, row)
  if (other === undefined) return
  refused.push({
    reason: 'duplicate_name',
    name: (isNewer ? other : row).server.name,
    detail: `expected one row a name; kept ${isNewer ? 'the newer' : 'the first'}`,
  })
}

function dropRepeated(mapped: readonly Seed[], refused: Refusal[]): Seed[] {
  const owners = new Map<string, string>()
  const kept: Seed[] = []
  const inOrder = mapped
    .map((seed) => ({ seed, rank: rankOf(seed) }))
    .sort((a, b) => (a.rank < b.rank ? -1 : 1))
  for (const { seed } of inOrder) {
    const endpoints = endpointsOf(seed.facts)
    const owner = endpoints.map((endpoint) => owners.get(endpoint))
    if (owner.every((name) => name !== undefined)) {
      const detail = `expected an endpoint of its own; ${endpoints.join(', ')} is ${owner.join(', ')}`
      refused.push({ reason: 'same_endpoints', name: seed.key, detail })
      continue
    }
    for (const endpoint of endpoints) if (!owners.has(endpoint)) owners.set(endpoint, seed.key)
    kept.push(seed)
  }
  return kept
}

function rankOf(seed: Seed): string {
  const own = isOwnDomain(seed) ? '0' : '1'
  return `${own} ${seed.published ?? '9999'} ${seed.key}`
}

/** `com.example/x` with a remote at or under example.com. */
function isOwnDomain({ key, facts }: Seed): boolean {
  const domain = (key.split('/')[0] ?? '').toLowerCase().split('.').reverse().join('.')
  return (facts.invoke ?? []).some((entry) => {
    const host = entry.kind === 'mcp' ? (URL.parse(entry.url)?.hostname ?? '') : ''
    return host !== '' && (host === domain || host.endsWith(`.${domain}`))
  })
}
