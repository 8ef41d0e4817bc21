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
  search: live('/api/v1/search'),
  operations: live('/api/v1/operations'),
  tasks: file('/api/v1/tasks'),
  task: file('/api/v1/tasks/:task_id'),
  plan: live('/api/v1/tasks/:task_id/plan'),
  listing: file('/api/v1/listings/:listing_id'),
  listings_dump: file('/api/v1/listings.ndjson'),
  listings_dump_gz: file('/api/v1/listings.ndjson.gz'),
  changes: live('/api/v1/changes'),
  kit: live('/api/v1/listings/:listing_id/kit.json'),
  call: {
    methods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
    path: '/api/v1/call/:listing_id',
    answer: 'live',
  },
  go: live('/go/:listing_id'),
  categories: file('/api/v1/categories'),
  sources: file('/api/v1/sources'),
  stats: file('/api/v1/stats'),
  trust_payments: file('/api/v1/trust/payments.ndjson'),
  trust_payments_gz: file('/api/v1/trust/payments.ndjson.gz'),
  trust_payees: file('/api/v1/trust/payees.json'),
  trust_method: file('/api/v1/trust/method'),
  business_model: file('/api/v1/business-model'),
  roadmap: file('/api/v1/roadmap'),
  market_reports: file('/api/v1/market/reports'),
  compare_list: live('/api/v1/compare'),
  compare: file('/api/v1/compare/:slug'),
  lint: live('/api/v1/lint'),
  login: { ...stored('/api/v1/sellers/login', 'POST'), isOpen: true },
  session_start: { ...stored('/api/v1/sellers/session', 'POST'), isOpen: true },
  session_end: stored('/api/v1/sellers/session', 'DELETE'),
  me: stored('/api/v1/sellers/me'),
  claims: stored('/api/v1/sellers/claim'),
  claim_start: stored('/api/v1/sellers/claim', 'POST'),
  claim_check: stored('/api/v1/sellers/claim/:claim_id/check', 'POST'),
  analytics: stored('/api/v1/sellers/me/analytics'),
  seller_mails: stored('/api/v1/sellers/mails', 'POST'),
  opt_out: stored('/api/v1/sellers/opt-out', 'POST'),
  payout_start: stored('/api/v1/sellers/payout', 'POST'),
  payout_withdraw: stored('/api/v1/sellers/payout', 'DELETE'),
  payout_check: stored('/api/v1/sellers/payout/check', 'POST'),
  report: stored('/api/v1/reports', 'POST'),
  receipt_days: file('/api/v1/receipts/days.json'),
  receipt_day: file('/api/v1/receipts/:day.txt'),
  receipt: stored('/api/v1/receipts/:receipt_id'),
  receipt_keys: stored('/.well-known/receipt-keys.json'),
  // A seller's wall asks for it, and has no token.
  probe_keys: { ...stored('/.well-known/http-message-signatures-directory'), isOpen: true },
  sponsored: stub('/api/v1/sponsored'),
  seller_verify: stub('/api/v1/sellers/verify', 'POST'),
  kit_builder: stub('/api/v1/tools/kit-builder', 'POST'),
  buyer_account: stub('/api/v1/buyers/account'),
} as const satisfies Record<string, Route>

function live(path: string, method: HttpMethod = 'GET') {
  return { methods: [method], path, answer: 'live' } as const
}

function stored(path: string, method: HttpMethod = 'GET') {
  return { ...live(path, method), needs: 'store' } as const
}

function file(path: string) {
  return { methods: ['GET'], path, answer: 'static' } as const
}

function stub(path: string, method: HttpMethod = 'GET') {
  return { methods: [method], path, answer: 'stub' } as const
}

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
