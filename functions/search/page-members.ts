import type { FoundOperation } from '../../src/domain/kit/found-operations.ts'
import type { SearchQuery } from '../../src/domain/search/search-parameters.ts'
import type { PageResponse } from '../../src/domain/search/search-response.ts'
import { findHostOwner, hostOf, type SharedHosts } from '../../src/domain/sellers/claim-rules.ts'
import { readBody, readId, type SearchIndex } from '../../src/search/index/index-file.ts'
import { rankIndex, type SearchOutcome } from '../../src/search/query/search-index.ts'

/** Best operations searched for those of the listings shown. */
const LOOKED_AT = 100
const decoder = new TextDecoder()

/** Parts of a release in addition to its index of listings. */
interface Shown {
  operations: SearchIndex | undefined
  sharedHosts: SharedHosts
  /** Path of a listing's mark. */
  markOf(id: string): string | undefined
}

type PageMembers = Pick<PageResponse['results'][number], 'mark' | 'domain' | 'operation'>
export type ToPageMembers = (
  index: SearchIndex,
  answered: { query: SearchQuery; outcome: SearchOutcome },
) => PageMembers[]

/** Members of each row on the search page beyond the compact view: mark, domain, best operation. */
export function pageMembers(
  index: SearchIndex,
  { query, outcome }: { query: SearchQuery; outcome: SearchOutcome },
  { operations, sharedHosts, markOf }: Shown,
): PageMembers[] {
  const bodies = outcome.organic.rows.map(({ row }) => parseBody(index, row))
  const matching =
    operations === undefined || query.q === undefined
      ? new Map<string, string>()
      : matchingOperations(operations, query.q, new Set(bodies.map(({ id }) => String(id))))
  return bodies.map(({ id, url }) => {
    const [mark, domain, operation] = [
      markOf(String(id)),
      domainOf(String(url), sharedHosts),
      matching.get(String(id)),
    ]
    return {
      ...(mark !== undefined && { mark }),
      ...(domain !== null && { domain }),
      ...(operation !== undefined && { operation }),
    }
  })
}

/** Null where strangers share the host. */
function domainOf(url: string, sharedHosts: SharedHosts): string | null {
  const owner = findHostOwner(hostOf(url) ?? '', sharedHosts)
  return owner.kind === 'nobody' || (owner.kind === 'owned' && owner.isPlatform)
    ? null
    : owner.domain
}

/** By listing, its best operation for the words, if among the first. */
function matchingOperations(index: SearchIndex, q: string, listings: ReadonlySet<string>) {
  const found = new Map<string, string>()
  for (const { row } of rankIndex(index, { q, limit: LOOKED_AT, offset: 0 }).rows) {
    const [listing = ''] = readId(index, row).split('~')
    if (found.has(listing) || !listings.has(listing)) continue
    const { name, method, url = '' }: FoundOperation['operation'] = parseBody(index, row).operation
    const named = name ?? (method === undefined ? null : `${method} ${pathOf(url)}`)
    // A whole listing is already named by its row.
    if (named !== null) found.set(listing, named)
  }
  return found
}

/** As people write it: with the braces of its variables. */
function pathOf(url: string): string {
  return (URL.parse(url)?.pathname ?? url).replaceAll('%7B', '{').replaceAll('%7D', '}')
}

/** Typed `any` by `JSON.parse`: the build wrote these bytes. */
function parseBody(index: SearchIndex, row: number) {
  return JSON.parse(decoder.decode(readBody(index, row)))
}
