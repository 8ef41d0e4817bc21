import type { ProblemCode } from '../../domain/problems.ts'
import type { RouteId } from '../../domain/route-table.ts'
import type { SchemaName } from './schemas.ts'

/** What the OpenAPI document says of a route beside its address. */
export interface OperationFacts {
  summary: string
  tag: 'Search' | 'Listings' | 'Calls' | 'Service' | 'Sellers' | 'Roadmap stubs'
  /** Name of the 200 body; null where the body is the seller's, or there is none. */
  answer: SchemaName | null
  body?: SchemaName
  /** Cookie session needed. */
  isForSellers?: boolean
  problems: readonly ProblemCode[]
}

const SELLER_READ = { tag: 'Sellers', isForSellers: true } as const
const SELLER_WRITE = [
  'invalid-body',
  'invalid-parameter',
  'cross-site',
  'unsupported-media-type',
  'payload-too-large',
  'rate-limited',
] as const
const service = (summary: string, answer: SchemaName): OperationFacts => ({
  summary,
  tag: 'Service',
  answer,
  problems: [],
})
const stub = (summary: string): OperationFacts => ({
  summary,
  tag: 'Roadmap stubs',
  answer: null,
  problems: ['not-implemented'],
})

export const OPERATIONS: Record<RouteId, OperationFacts> = {
  search: {
    summary: 'Search listings by task or keywords, with filters.',
    tag: 'Search',
    answer: 'SearchResponse',
    problems: ['invalid-parameter', 'uri-too-long', 'rate-limited'],
  },
  listing: {
    summary: 'One listing, whole.',
    tag: 'Listings',
    answer: 'Listing',
    problems: ['listing-not-found'],
  },
  kit: {
    summary: 'The kit manifest: how to invoke a listing.',
    tag: 'Listings',
    answer: 'Kit',
    problems: ['listing-not-found'],
  },
  call: {
    summary: "Pass a request to the listing's seller, payment headers unchanged. Non-custodial.",
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
    tag: 'Listings',
    answer: null,
    problems: ['listing-not-found'],
  },
  categories: service('Categories with their counts.', 'Categories'),
  sources: service('Sources and their terms decisions.', 'Sources'),
  stats: service('Index counts.', 'Stats'),
  trust_method: service('The trust method, with the constants that compute it.', 'TrustMethod'),
  business_model: service(
    'How the service earns money; it is never in the transaction path.',
    'BusinessModel',
  ),
  roadmap: service('Which features are live and which are stubs.', 'Roadmap'),
  market_reports: service('Free preview of market data.', 'MarketReports'),
  compare_list: service('Comparison pages.', 'CompareList'),
  compare: {
    summary: 'One comparison page record.',
    tag: 'Service',
    answer: 'Compare',
    problems: ['not-found'],
  },
  login: {
    summary: 'Mail a sign-in link.',
    tag: 'Sellers',
    answer: 'LoginSent',
    body: 'LoginBody',
    problems: [...SELLER_WRITE, 'mail-unavailable'],
  },
  session_start: {
    summary: 'Redeem a sign-in link; sets the session cookie.',
    tag: 'Sellers',
    answer: 'Session',
    body: 'SessionBody',
    problems: [...SELLER_WRITE, 'token-invalid'],
  },
  session_end: { summary: 'Sign out.', tag: 'Sellers', answer: null, problems: ['cross-site'] },
  me: {
    ...SELLER_READ,
    summary: 'The signed-in seller, claims and basic stats.',
    answer: 'Me',
    problems: ['not-signed-in'],
  },
  claims: {
    ...SELLER_READ,
    summary: "The seller's claims.",
    answer: 'Claims',
    problems: ['not-signed-in'],
  },
  claim_start: {
    ...SELLER_READ,
    summary: 'Start a claim; answers what to publish and where.',
    answer: 'ClaimStarted',
    body: 'ClaimBody',
    problems: [...SELLER_WRITE, 'not-signed-in', 'listing-not-found', 'claim-method-unavailable'],
  },
  claim_check: {
    ...SELLER_READ,
    summary: 'Check the proof of a claim now.',
    answer: 'ClaimChecked',
    problems: ['not-signed-in', 'cross-site', 'claim-not-found', 'rate-limited'],
  },
  analytics: {
    ...SELLER_READ,
    summary: 'Clicks, calls and impressions of claimed listings.',
    answer: 'Analytics',
    problems: ['not-signed-in'],
  },
  opt_out: {
    summary:
      'Take an owned listing out of the directory, or bring it back; effective at the next build.',
    tag: 'Sellers',
    answer: 'OptOut',
    body: 'OptOutBody',
    problems: [...SELLER_WRITE, 'not-signed-in', 'listing-not-found'],
  },
  sponsored: stub('Sponsored placements: not sold, not built.'),
  seller_verify: stub('Seller verification beyond the domain.'),
  kit_builder: stub('Build a kit from an endpoint.'),
  buyer_account: stub('Buyer accounts.'),
}
