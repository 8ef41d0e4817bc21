import {
  type DerivedListing,
  trustScoreOf,
  verifiedBuyersOf,
} from '../../domain/derived/derived-listing.ts'
import { hasRemoteEndpoint, runsOf } from '../../domain/listing/invoke.ts'
import { highestPriceOf, lowestPriceOf, railsOf } from '../../domain/listing/pricing.ts'
import { sourceIdsOf, toPreparedSummary } from '../../domain/views/summary-view.ts'
import { DISCOVERY_FILES } from '../../domain/wire/vocabulary.ts'
import type { SearchDocument } from '../../search/index/search-document.ts'

const encoder = new TextEncoder()

export function toSearchDocument(listing: DerivedListing, baseUrl: string): SearchDocument {
  const { id, facts, trust } = listing
  return {
    id,
    name: facts.name,
    kind: facts.kind,
    summary: facts.summary,
    url: facts.url,
    tags: facts.tags,
    categories: facts.categories,
    rails: [...railsOf(facts.pricing)],
    sources: sourceIdsOf(listing),
    has: DISCOVERY_FILES.filter((file) => facts.discovery[file] !== undefined),
    minUsd: lowestPriceOf(facts.pricing),
    maxUsd: highestPriceOf(facts.pricing),
    auth: facts.auth.type,
    runs: runsOf(facts),
    call: listing.buy.buy === 'relay_x402',
    added: facts.added,
    trustScore: trustScoreOf(trust),
    verifiedBuyers: verifiedBuyersOf(trust),
    liveTested: listing.isLiveTested,
    remote: hasRemoteEndpoint(facts),
    firstParty: facts.first_party,
    body: encoder.encode(JSON.stringify(toPreparedSummary(listing, baseUrl))),
  }
}
