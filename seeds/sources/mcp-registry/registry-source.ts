import type { SourceRow } from '../../../src/domain/derived/source-table.ts'
import type { RegistryRow } from './registry-row.ts'

export const REGISTRY_URL = 'https://registry.modelcontextprotocol.io'
export const REGISTRY_SOURCE = 'mcp_registry'

export interface SourceRef {
  source: string
  ref: string
}

/**
 * Where a row's facts come from. A row of the registry is its own entry; a saved row says where it
 * was found, and the table of sources says whose that is and whether its text may be carried over.
 *
 * @returns null when every place a row was found at keeps its texts to itself.
 */
export function findSource(row: RegistryRow, sources: readonly SourceRow[]): SourceRef | null {
  if (row.foundAt.length === 0)
    return { source: REGISTRY_SOURCE, ref: registryEntryUrl(row.server.name) }
  for (const ref of row.foundAt) {
    const owner = sources
      .filter(({ url }) => ref.startsWith(url))
      .sort((a, b) => b.url.length - a.url.length)[0]
    if (owner?.decision === 'used') return { source: owner.id, ref }
  }
  return null
}

/** @example registryEntryUrl('io.github.user/weather') → '…/v0.1/servers/io.github.user%2Fweather/versions/latest' */
function registryEntryUrl(name: string): string {
  return `${REGISTRY_URL}/v0.1/servers/${encodeURIComponent(name)}/versions/latest`
}
