import { join } from 'node:path'
import { prepareTexts } from '../../functions/release/prepare-texts.ts'
import { readTables } from '../../src/content/tables.ts'
import { buildSearchIndex, type IndexOptions } from '../../src/search/index/build-index.ts'
import { loadSearchIndex, readId, type SearchIndex } from '../../src/search/index/index-file.ts'
import { toIndexTables } from '../../src/search/index/index-tables.ts'
import type { SearchDocument } from '../../src/search/index/search-document.ts'
import { searchIndex } from '../../src/search/query/search-index.ts'
import { domainFact } from '../support/shared-hosts.ts'

/** A search document with everything unremarkable but what a test names. */
export function sampleDocument(given: Partial<SearchDocument> & { id: string }): SearchDocument {
  const summary = {
    id: given.id,
    name: given.name ?? '',
    kind: given.kind ?? 'http_api',
    summary: given.summary ?? '',
    status: 'unclaimed',
    url: given.url ?? 'https://seller.example/',
    buy: 'link_out',
    links: { listing: `/api/v1/listings/${given.id}` },
  }
  return {
    name: '',
    kind: 'http_api',
    summary: '',
    url: 'https://seller.example/',
    ...domainFact(summary.url),
    tags: [],
    categories: [],
    rails: [],
    sources: [],
    has: [],
    minUsd: null,
    maxUsd: given.minUsd ?? null,
    auth: 'unknown',
    runs: ['remote'],
    networks: [],
    call: false,
    added: null,
    trustScore: null,
    verifiedBuyers: 0,
    liveTested: false,
    remote: true,
    firstParty: false,
    body: JSON.stringify(summary),
    ...given,
  }
}

const { tables: PRODUCT_TABLES } = readTables(join(import.meta.dirname, '../../content'))
if (PRODUCT_TABLES === null) throw new Error('content/tables has faults: run npm run check')

/** The product's own table of words. */
export const SEARCH_WORDS = toIndexTables(PRODUCT_TABLES).words

/** An index as the product builds it, with its own table of words. */
export function indexOf(
  documents: Iterable<SearchDocument>,
  tables: Partial<IndexOptions> = {},
): SearchIndex {
  return loadSearchIndex(buildSearchIndex(documents, { words: SEARCH_WORDS, ...tables }))
}

/** The first organic ids a query finds, and what it is told. */
export function findIn(index: SearchIndex, q: string, limit = 20) {
  const { organic, notes } = searchIndex(index, { q, limit, offset: 0 })
  return { ids: organic.rows.map(({ row }) => readId(index, row)), notes }
}

/** Texts of a search response where a test has none of its own. */
export function textsOf(index: SearchIndex, showcase: string[] = []) {
  const words = { featured_label: 'Showcase', sponsored_policy: 'None', ranking: 'BM25F' }
  const texts = { ...words, showcase, attribution: [] }
  return prepareTexts(index, { texts, also_search: [], tasks: [] })
}

/** The text of a response. */
export function decode(body: Uint8Array): string {
  return new TextDecoder().decode(body)
}
