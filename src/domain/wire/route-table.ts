import type { HttpMethod } from './vocabulary.ts'

/** Every endpoint, once: the app mounts it, OpenAPI describes it, the roadmap reads its status. */
interface Route {
  methods: readonly HttpMethod[]
  path: string
  /** `static` is answered by a file of the release, `live` by a function, `stub` by 501. */
  answer: 'static' | 'live' | 'stub'
  /** Needs the store: without it the answer is 503 `store-unavailable`. */
  needs?: 'store'
  /** Answered without a token where the directory is closed. */
  isOpen?: true
}

export const ROUTES = {
  search: { methods: ['GET'], path: '/api/v1/search', answer: 'live' },
  operations: { methods: ['GET'], path: '/api/v1/operations', answer: 'live' },
  tasks: { methods: ['GET'], path: '/api/v1/tasks', answer: 'static' },
  task: { methods: ['GET'], path: '/api/v1/tasks/:task_id', answer: 'static' },
  plan: { methods: ['GET'], path: '/api/v1/tasks/:task_id/plan', answer: 'live' },
  listing: { methods: ['GET'], path: '/api/v1/listings/:listing_id', answer: 'static' },
  listings_dump: { methods: ['GET'], path: '/api/v1/listings.ndjson', answer: 'static' },
  listings_dump_gz: { methods: ['GET'], path: '/api/v1/listings.ndjson.gz', answer: 'static' },
  changes: { methods: ['GET'], path: '/api/v1/changes', answer: 'live' },
  kit: { methods: ['GET'], path: '/api/v1/listings/:listing_id/kit.json', answer: 'live' },
  call: {
    methods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
    path: '/api/v1/call/:listing_id',
    answer: 'live',
  },
  go: { methods: ['GET'], path: '/go/:listing_id', answer: 'live' },
  categories: { methods: ['GET'], path: '/api/v1/categories', answer: 'static' },
  sources: { methods: ['GET'], path: '/api/v1/sources', answer: 'static' },
  stats: { methods: ['GET'], path: '/api/v1/stats', answer: 'static' },
  trust_payments: { methods: ['GET'], path: '/api/v1/trust/payments.ndjson', answer: 'static' },
  trust_payments_gz: {
    methods: ['GET'],
    path: '/api/v1/trust/payments.ndjson.gz',
    answer: 'static',
  },
  trust_payees: { methods: ['GET'], path: '/api/v1/trust/payees.json', answer: 'static' },
  trust_method: { methods: ['GET'], path: '/api/v1/trust/method', answer: 'static' },
  business_model: { methods: ['GET'], path: '/api/v1/business-model', answer: 'static' },
  roadmap: { methods: ['GET'], path: '/api/v1/roadmap', answer: 'static' },
  market_reports: { methods: ['GET'], path: '/api/v1/market/reports', answer: 'static' },
  compare_list: { methods: ['GET'], path: '/api/v1/compare', answer: 'live' },
  compare: { methods: ['GET'], path: '/api/v1/compare/:slug', answer: 'static' },
  lint: { methods: ['GET'], path: '/api/v1/lint', answer: 'live' },
  login: {
    methods: ['POST'],
    path: '/api/v1/sellers/login',
    answer: 'live',
    needs: 'store',
    isOpen: true,
  },
  session_start: {
    methods: ['POST'],
    path: '/api/v1/sellers/session',
    answer: 'live',
    needs: 'store',
    isOpen: true,
  },
  session_end: {
    methods: ['DELETE'],
    path: '/api/v1/sellers/session',
    answer: 'live',
    needs: 'store',
  },
  me: { methods: ['GET'], path: '/api/v1/sellers/me', answer: 'live', needs: 'store' },
  claims: { methods: ['GET'], path: '/api/v1/sellers/claim', answer: 'live', needs: 'store' },
  claim_start: { methods: ['POST'], path: '/api/v1/sellers/claim', answer: 'live', needs: 'store' },
  claim_check: {
    methods: ['POST'],
    path: '/api/v1/sellers/claim/:claim_id/check',
    answer: 'live',
    needs: 'store',
  },
  analytics: {
    methods: ['GET'],
    path: '/api/v1/sellers/me/analytics',
    answer: 'live',
    needs: 'store',
  },
  seller_mails: {
    methods: ['POST'],
    path: '/api/v1/sellers/mails',
    answer: 'live',
    needs: 'store',
  },
  opt_out: { methods: ['POST'], path: '/api/v1/sellers/opt-out', answer: 'live', needs: 'store' },
  payout_start: {
    methods: ['POST'],
    path: '/api/v1/sellers/payout',
    answer: 'live',
    needs: 'store',
  },
  payout_withdraw: {
    methods: ['DELETE'],
    path: '/api/v1/sellers/payout',
    answer: 'live',
    needs: 'store',
  },
  payout_check: {
    methods: ['POST'],
    path: '/api/v1/sellers/payout/check',
    answer: 'live',
    needs: 'store',
  },
  report: { methods: ['POST'], path: '/api/v1/reports', answer: 'live', needs: 'store' },
  receipt_days: { methods: ['GET'], path: '/api/v1/receipts/days.json', answer: 'static' },
  receipt_day: { methods: ['GET'], path: '/api/v1/receipts/:day.txt', answer: 'static' },
  receipt: {
    methods: ['GET'],
    path: '/api/v1/receipts/:receipt_id',
    answer: 'live',
    needs: 'store',
  },
  receipt_keys: {
    methods: ['GET'],
    path: '/.well-known/receipt-keys.json',
    answer: 'live',
    needs: 'store',
  },
  probe_keys: {
    methods: ['GET'],
    path: '/.well-known/http-message-signatures-directory',
    answer: 'live',
    needs: 'store',
    // A seller's wall asks for it, and has no token.
    isOpen: true,
  },
  sponsored: { methods: ['GET'], path: '/api/v1/sponsored', answer: 'stub' },
  seller_verify: { methods: ['POST'], path: '/api/v1/sellers/verify', answer: 'stub' },
  kit_builder: { methods: ['POST'], path: '/api/v1/tools/kit-builder', answer: 'stub' },
  buyer_account: { methods: ['GET'], path: '/api/v1/buyers/account', answer: 'stub' },
} as const satisfies Record<string, Route>

/** Internal address of the page for `/compare?ids=`; never served outside. */
export const CHOSEN_PAGE = '/compare/chosen.page'

/** Pages that are rendered for each request, by what they show; every other page is a file of the build. */
export const ON_DEMAND_PAGES = {
  search: '/search',
  checked: '/sellers/check',
  dashboard: '/sellers/dashboard',
  signIn: '/sellers/sign-in',
  reported: '/report',
  chosen: CHOSEN_PAGE,
} as const

/** Routes that answer 503 when the store is down. */
export type StoreRouteId = {
  [Id in RouteId]: (typeof ROUTES)[Id] extends { needs: 'store' } ? Id : never
}[RouteId]

export type RouteId = keyof typeof ROUTES

/** Routes a function answers; the app must hold a handler for each. */
export type LiveRouteId = {
  [Id in RouteId]: (typeof ROUTES)[Id]['answer'] extends 'live' ? Id : never
}[RouteId]

/** Routes that a file of the release answers; the build must write each. */
export type StaticRouteId = {
  [Id in RouteId]: (typeof ROUTES)[Id]['answer'] extends 'static' ? Id : never
}[RouteId]

/** Addresses that are a file without a query and a function's answer with one. */
export const FUNCTION_WITH_QUERY: readonly string[] = [ROUTES.compare_list.path, '/compare']
/** Of every listing such an address. */
export const KIT_PATTERN = '^/api/v1/listings/[^/]+/kit\\.json$'
