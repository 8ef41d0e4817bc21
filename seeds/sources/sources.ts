import type { SeedSource } from '../fetch/read-source.ts'
import { a2a } from './a2a.ts'
import { counted } from './counted.ts'
import { discovery } from './discovery.ts'
import { manifests } from './manifests.ts'
import { docker, toolhive } from './mcp-catalogs.ts'
import { mcpRegistry } from './mcp-registry.ts'
import { mpp } from './mpp.ts'
import { skills } from './skills.ts'
import { x402Bazaar } from './x402-bazaar.ts'
import { x402List } from './x402-list.ts'

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
  ...counted,
  discovery,
]

export const SOURCE_IDS = SOURCES.map(({ id }) => id)
