import type { RouteId } from '../../domain/wire/route-table.ts'
import { type OperationFacts, SELLER_READ, SELLER_WRITE } from './operation-facts.ts'
import type { SchemaName } from './schemas.ts'

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
  listing: {
    summary: 'One listing, whole.',
    description:
      'Everything known about a listing: prices, discovery files, measured trust with its evidence, signals, tiers and how to claim it.',
    tag: 'Listings',
    answer: 'Listing',
    problems: ['listing-not-found'],
  },
  kit: {
    summary: 'The kit manifest: how to invoke a listing.',
    description:
      'Addresses, payment headers and ready snippets, so that a client can call the listing without reading its documentation first.',
    tag: 'Listings',
    answer: 'Kit',
    problems: ['listing-not-found'],
  },
  listings_dump: {
    summary: 'Every listing in one file, a line of JSON each.',
    description:
      'Each line is what the listing endpoint answers; /api/v1/stats has its SHA-256 and the licence of each source.',
    tag: 'Listings',
    answer: null,
    media: 'application/x-ndjson',
    problems: [],
  },
  listings_dump_gz: {
    summary: 'The same file, compressed with gzip.',
    description: 'Its SHA-256 stands in /api/v1/stats beside the one of the plain file.',
    tag: 'Listings',
    answer: null,
    media: 'application/gzip',
    problems: [],
  },
  changes: {
    summary: 'What was added, changed or removed since a cursor or a time.',
    description:
      'Take a cursor first, then the dump, and follow next from there; a cursor this log does not reach back to is a 400 that points to the dump.',
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
      'listing-not-found',
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
    problems: ['listing-not-found'],
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
  compare_list: service(
    'Comparison pages, or a comparison of your own.',
    'CompareList',
    'Addresses of all comparison pages, with whether each is thick enough to be indexed; with ids one comparison record of the listings you chose.',
  ),
  compare: {
    summary: 'One comparison page record.',
    description:
      'Listings for one job in ranked sections, with the rule of the ranking, its disclosure and its citations.',
    tag: 'Service',
    answer: 'Compare',
    problems: ['not-found'],
  },
  login: {
    summary: 'Mail a sign-in link.',
    description:
      'The answer is the same for every well-formed address, known or not; the link works once, for 15 minutes.',
    tag: 'Sellers',
    answer: 'LoginSent',
    body: 'LoginBody',
    problems: [...SELLER_WRITE, 'mail-unavailable'],
  },
  session_start: {
    summary: 'Redeem a sign-in link; sets the session cookie.',
    description:
      'Only this request uses the link up, so that a mail scanner that opens it does no harm.',
    tag: 'Sellers',
    answer: 'Session',
    body: 'SessionBody',
    problems: [...SELLER_WRITE, 'token-invalid'],
  },
  session_end: {
    summary: 'Sign out.',
    description:
      'Ends the session of the cookie and clears it; the same when nobody was signed in.',
    tag: 'Sellers',
    answer: null,
    problems: ['cross-site'],
  },
  me: {
    ...SELLER_READ,
    summary: 'The signed-in seller, claims and basic stats.',
    description: 'Clicks and calls are those of the last 30 days, over all listings owned.',
    answer: 'Me',
    problems: ['not-signed-in'],
  },
  claims: {
    ...SELLER_READ,
    summary: "The seller's claims.",
    description: 'Claims in every state, open, verified and ended ones.',
    answer: 'Claims',
    problems: ['not-signed-in'],
  },
  claim_start: {
    ...SELLER_READ,
    summary: 'Start a claim; answers what to publish and where.',
    description:
      "The proof covers exactly the listing's host, and the claim expires after 72 hours unless it is checked with success.",
    answer: 'ClaimStarted',
    body: 'ClaimBody',
    problems: [...SELLER_WRITE, 'not-signed-in', 'listing-not-found', 'claim-method-unavailable'],
  },
  claim_check: {
    ...SELLER_READ,
    summary: 'Check the proof of a claim now.',
    description:
      'A proof that is not found is no error: the answer says what was expected, what was seen and what to do.',
    answer: 'ClaimChecked',
    problems: ['not-signed-in', 'cross-site', 'claim-not-found', 'rate-limited'],
  },
  analytics: {
    ...SELLER_READ,
    summary: 'Clicks, calls and impressions of claimed listings.',
    description: 'Ninety days by day and source; advanced analytics are a stub.',
    answer: 'Analytics',
    problems: ['not-signed-in'],
  },
  opt_out: {
    ...SELLER_READ,
    summary:
      'Take an owned listing out of the directory, or bring it back; effective at the next build.',
    description:
      'It takes a verified claim, and the listing stays out even if that claim lapses later.',
    answer: 'OptOut',
    body: 'OptOutBody',
    problems: [...SELLER_WRITE, 'not-signed-in', 'listing-not-found'],
  },
  payout_start: {
    ...SELLER_READ,
    summary: 'Ask for a text to sign with a payout wallet.',
    description: 'The text works once, for 15 minutes; signing it moves nothing.',
    answer: 'PayoutChallenge',
    body: 'PayoutBody',
    problems: [...SELLER_WRITE, 'not-signed-in', 'listing-not-found'],
  },
  payout_check: {
    ...SELLER_READ,
    summary: 'Prove a payout by a signature: EIP-191, EIP-1271 or ed25519.',
    description: 'A signature that proves nothing is a 200 that says what was expected and seen.',
    answer: 'PayoutChecked',
    body: 'PayoutCheckBody',
    problems: [...SELLER_WRITE, 'not-signed-in', 'listing-not-found'],
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
