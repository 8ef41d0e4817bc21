import type { Gone, Tombstone } from '../../domain/derived/tombstone.ts'
import type { GoneServer } from '../../domain/doors/registry-entry.ts'
import type { UrlRules } from '../../domain/listing/target-url.ts'
import { createListingParser, type ListingFile } from '../content/read-listings.ts'

/**
 * MCP servers that left: a registry's readers delete what they copied when they are told its name.
 * A tombstone keeps the file as it was; where it doesn't, or rules have changed since, the id is
 * all we know.
 */
export function readGoneServers(
  gone: readonly Gone[],
  tombstones: ReadonlyMap<string, Tombstone>,
  optedOut: readonly ListingFile[],
  rules: UrlRules,
): GoneServer[] {
  const parse = createListingParser(rules)
  const former = new Map(optedOut.map(({ id, facts }) => [id, facts]))
  return gone
    .filter(({ id }) => id.startsWith('mcp.'))
    .map((each) => {
      const { id } = each
      const text = tombstones.get(id)?.listing
      const buried = text === undefined ? undefined : parse({ id, file: id }, text).listing?.facts
      return { ...each, facts: former.get(id) ?? buried }
    })
}
