import type { SeedSource } from '../facts/seed-source.ts'
import { mcpRegistry } from '../sources/mcp-registry/mcp-registry.ts'

/** Every importer, in the order in which `all` runs them. */
export const SOURCES: readonly SeedSource[] = [mcpRegistry]

export const SOURCE_IDS = SOURCES.map(({ id }) => id)

/** @throws Error for an id that is not in the list. */
export function findSeedSource(id: string): SeedSource {
  const source = SOURCES.find((known) => known.id === id)
  if (source === undefined) throw new Error(`expected one of ${SOURCE_IDS.join(', ')}, got ${id}`)
  return source
}
