import type { RouteId } from '../../domain/wire/route-table.ts'
import { type OperationFacts, SELLER_WRITE } from './operation-facts.ts'
import type { SchemaName } from './schemas.ts'
import { SELLER_OPERATIONS } from './seller-operations.ts'

const service = (summary: string, answer: SchemaName, description: string): OperationFacts => ({
  summary,
  description,
  tag: 'Service',
  answer,
  problems: [],
})
const stub = (summary: string, description: string): OperationFacts => ({
  summary,
  description,
  tag: 'Roadmap stubs',
  answer: null,
  problems: ['not-implemented'],
})

export const OPERATIONS: Record<RouteId, OperationFacts> = {
  search: {
    summary: 'Search listings by task or keywords, with filters.',
    description:
      'Results are ranked by BM25F times payment-verified trust; nothing in their order can be bought, and without q they come by trust. With view=compact the answer is CompactSearchResponse.',
    tag: 'Search',
    answer: 'SearchResponse',
    otherAnswer: 'CompactSearchResponse',
    problems: ['invalid-parameter', 'rate-limited'],
  },
  operations: {
    summary: 'Find operations, tools and skills by task, ready to call.',
    description:
      'Ranked as listings are, over the names of operations, their listings and descriptions; of one listing at most two stand among the first five.',
    tag: 'Search',
    answer: 'OperationsAnswer',
    problems: ['invalid-parameter', 'rate-limited'],
  },
  listing: {
    summary: 'One listing, whole.',
    description:
      'Everything known about a listing: prices, discovery files, measured trust with its evidence, signals, tiers and how to claim it.',
    tag: 'Listings',
    answer: 'Listing',
    problems: ['listing-not-found', 'listing-gone'],
  },
  kit: {
    summary: 'The kit manifest: how to invoke a listing.',
    description:
      'Addresses, payment headers and ready snippets, so that a client can call the listing without reading its documentation first. With view=compact it is what the next call takes, in a few hundred bytes.',
    tag: 'Listings',
    answer: 'Kit',
    otherAnswer: 'CompactKit',
    problems: ['invalid-parameter', 'listing-not-found', 'listing-gone', 'rate-limited'],
  },
  listings_dump: {
    summary: 'Every listing, a line each.',
    description: 'Its SHA-256 and the licence of each source are in /api/v1/stats.',
    tag: 'Listings',
    answer: null,
    media: 'application/x-ndjson',
    problems: [],
  },
  listings_dump_gz: {
    summary: 'The same as gzip.',
    description: 'Its SHA-256 is in /api/v1/stats too.',
    tag: 'Listings',
    answer: null,
    media: 'application/gzip',
    problems: [],
  },
  changes: {
    summary: 'Listings added, changed or removed.',
    description:
      'Take a cursor first, then every listing, and follow next; a 400 points to all listings again.',
    tag: 'Listings',
    answer: 'Changes',
    problems: ['invalid-parameter', 'rate-limited'],
  },
  call: {
    summary: "Pass a request to the listing's seller, payment headers unchanged. Non-custodial.",
    description:
      "Method, body and headers pass as they are, and so does the seller's answer with its 402; no funds are held, no fee is taken and no request is sent twice.",
    tag: 'Calls',
    answer: null,
    problems: [
      'invalid-parameter',
      'malformed-request',
      'listing-not-found',
      'listing-gone',
      'method-not-allowed',
      'payload-too-large',
      'not-relayable',
      'rate-limited',
      'seller-unreachable',
      'seller-redirected',
      'seller-refused',
      'relay-busy',
      'seller-timeout',
      'relay-loop',
    ],
  },
  go: {
    summary: "Count an anonymous click and redirect to the listing's own URL.",
    description:
      'Only hour, listing, search, position, source and whether a bot asked are kept; a wrong value among them never costs the redirect.',
    tag: 'Listings',
    answer: null,
    problems: ['listing-not-found', 'listing-gone'],
  },
  categories: service(
    'Categories with their counts.',
    'Categories',
    'Every category identifier that the search takes, with how many listings it has.',
  ),
  sources: service(
    'Sources and their terms decisions.',
    'Sources',
    'Where listing data comes from, under which licence, and what was decided about using it.',
  ),
  stats: service(
    'Index counts.',
    'Stats',
    'Listings in all and by kind, category, rail, source and status.',
  ),
  trust_method: service(
    'The trust method, with the constants that compute it.',
    'TrustMethod',
    'Inputs, weights, exclusions and the thresholds of a score, from the same numbers the code computes with.',
  ),
  business_model: service(
    'How the service earns money; it is never in the transaction path.',
    'BusinessModel',
    'What is sold, what is free and what will not be sold.',
  ),
  roadmap: service(
    'Which features are live and which are stubs.',
    'Roadmap',
    'The status of a feature is read from the routes themselves, not written by hand.',
  ),
  market_reports: service(
    'Free preview of market data.',
    'MarketReports',
    'Median prices by category and rail, and measured volume; the paid tier is a stub.',
  ),
  compare_list: {
    ...service(
      'Comparison pages, or a comparison of your own.',
      'CompareList',
      'Addresses of all comparison pages, with whether each is thick enough to be indexed; with ids one comparison record of the listings you chose.',
    ),
    problems: ['invalid-parameter', 'rate-limited'],
  },
  lint: {
    summary: 'What a service answers, and what to change.',
    description:
      'Asks a public address as a client would, without paying or sending a message, and says what was sent, what came back and what would be right.',
    tag: 'Service',
    answer: 'LintReport',
    problems: ['invalid-parameter', 'rate-limited'],
  },
  compare: {
    summary: 'One comparison page record.',
    description:
      'Listings for one job in ranked sections, with the rule of the ranking, its disclosure and its citations.',
    tag: 'Service',
    answer: 'Compare',
    problems: ['not-found'],
  },
  propose: {
    summary: 'Propose a listing.',
    description: 'The answer says what was found there; a person decides.',
    tag: 'Listings',
    answer: 'Proposed',
    body: 'ProposalBody',
    problems: [...SELLER_WRITE, 'nothing-found', 'proposals-full'],
  },
  ...SELLER_OPERATIONS,
  dispute: {
    summary: 'Say what is wrong about a listing.',
    description:
      'Anonymous. A person looks at it; accepted, it shows as notice disputed, and no score ever moves.',
    tag: 'Listings',
    answer: 'DisputeTaken',
    body: 'DisputeBody',
    problems: [...SELLER_WRITE, 'listing-not-found'],
  },
  sponsored: stub(
    'Sponsored placements: not sold, not built.',
    'Answers 501; the sponsored array of a search is always empty.',
  ),
  seller_verify: stub(
    'Seller verification beyond the domain.',
    'Answers 501; control of the domain is proved by a claim.',
  ),
  kit_builder: stub(
    'Build a kit from an endpoint.',
    'Answers 501; the kit manifest of a listed service is at its kit.json.',
  ),
  buyer_account: stub(
    'Buyer accounts.',
    'Answers 501; nothing here needs a buyer to have an account.',
  ),
}
