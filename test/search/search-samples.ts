import type { SearchDocument } from '../../src/search/search-document.ts'

/** A search document with everything unremarkable but what a test names. */
export function sampleDocument(given: Partial<SearchDocument> & { id: string }): SearchDocument {
  const summary = {
    id: given.id,
    name: given.name ?? '',
    buy: 'link_out',
    links: { listing: `/api/v1/listings/${given.id}` },
  }
  return {
    name: '',
    kind: 'http_api',
    summary: '',
    url: 'https://seller.example/',
    tags: [],
    categories: [],
    rails: [],
    sources: [],
    has: [],
    minUsd: null,
    trustScore: null,
    verifiedBuyers: 0,
    liveTested: false,
    remote: true,
    firstParty: false,
    body: new TextEncoder().encode(JSON.stringify(summary)),
    ...given,
  }
}
