import type { SeedSource } from '../facts/seed-source.ts'
import { a2a } from './a2a/a2a.ts'
import { bazaarDoctor, merona, vet402 } from './counted/counted.ts'
import { discovery } from './discovery/discovery.ts'
import { manifests } from './manifests/manifests.ts'
import { docker, toolhive } from './mcp-catalogs/mcp-catalogs.ts'
import { mcpRegistry } from './mcp-registry/mcp-registry.ts'
import { mpp } from './mpp/mpp.ts'
import { skills } from './skills/skills.ts'
import { x402Bazaar } from './x402-bazaar/x402-bazaar.ts'
import { x402List } from './x402-list/x402-list.ts'

/** Every importer, in the order in which `all` runs them. */
export const SOURCES: readonly SeedSource[] = [
  mcpRegistry,
  docker,
  toolhive,
  manifests,
  mpp,
  x402Bazaar,
  x402List,
  a2a,
  skills,
  merona,
  vet402,
  bazaarDoctor,
  discovery,
]

export const SOURCE_IDS = SOURCES.map(({ id }) => id)

/** @throws Error for an id that is not in the list. */
export function findSeedSource(id: string): SeedSource {
  const source = SOURCES.find((known) => known.id === id)
  if (source === undefined) throw new Error(`expected one of ${SOURCE_IDS.join(', ')}, got ${id}`)
  return source
}
