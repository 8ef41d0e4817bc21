import type { HttpMethod } from './vocabulary.ts'

/** The only list of endpoints: the app mounts each, OpenAPI describes it, the roadmap takes its status from here. */
interface Route {
  methods: readonly HttpMethod[]
  path: string
  /** `static`: a file in the release answers; `live`: a function; `stub`: the answer is 501. */
  answer: 'static' | 'live' | 'stub'
  /** Set if the endpoint needs the store: without the store the answer is 503 `store-unavailable`. */
  needs?: 'store'
  /** Set if a closed directory answers this endpoint even without a token. */
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
  // A seller's firewall fetches these keys, and has no token for this directory.
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

/** Internal address of the page for `/compare?ids=`; never served to the outside. */
export const CHOSEN_PAGE = '/compare/chosen.page'

/** Pages that are rendered for each request, by subject; every other page is a file from the build. */
export const ON_DEMAND_PAGES = {
  search: '/search',
  checked: '/sellers/check',
  dashboard: '/sellers/dashboard',
  signIn: '/sellers/sign-in',
  reported: '/report',
  chosen: CHOSEN_PAGE,
} as const

export type RouteId = keyof typeof ROUTES

/** The only list of other protocols' endpoints: the app mounts them, roadmap and docs list them. */
export const PROTOCOL_ENDPOINTS = {
  mcp: protocol('MCP server', 'MCP', '/mcp', 'POST'),
  mcp_server_card: document('MCP server card', 'MCP', '/mcp/server-card'),
  a2a: protocol('A2A agent', 'A2A', '/a2a', 'POST'),
  agent_card: document('A2A agent card', 'A2A', '/.well-known/agent-card.json'),
  registry_servers: protocol('MCP registry: servers', 'MCP registry API', '/v0.1/servers'),
  registry_versions: protocol(
    'MCP registry: versions of a server',
    'MCP registry API',
    '/v0.1/servers/:name/versions',
  ),
  registry_version: protocol(
    'MCP registry: one version',
    'MCP registry API',
    '/v0.1/servers/:name/versions/:version',
  ),
  policy_servers: protocol(
    'Registry of a policy: servers',
    'MCP registry API',
    '/policies/:policy/v0.1/servers',
  ),
  policy_versions: protocol(
    'Registry of a policy: versions of a server',
    'MCP registry API',
    '/policies/:policy/v0.1/servers/:name/versions',
  ),
  policy_version: protocol(
    'Registry of a policy: one version',
    'MCP registry API',
    '/policies/:policy/v0.1/servers/:name/versions/:version',
  ),
  discovery_resources: protocol(
    'x402 discovery: resources',
    'x402 discovery',
    '/discovery/resources',
  ),
  discovery_search: protocol('x402 discovery: search', 'x402 discovery', '/discovery/search'),
  ard_manifest: document('ARD manifest', 'ARD', '/.well-known/ard.json'),
  ard_search: protocol('ARD search', 'ARD', '/ard/search', 'POST'),
  ard_explore: protocol('ARD explore: answers 501', 'ARD', '/ard/explore', 'POST'),
  ard_agent: protocol('ARD entry', 'ARD', '/ard/agents/:urn'),
  ai_catalog: document('AI catalog', 'AI Catalog', '/.well-known/ai-catalog.json'),
  api_catalog: document('API catalog', 'RFC 9727', '/.well-known/api-catalog'),
  llms_txt: document('llms.txt', 'llms.txt', '/llms.txt'),
  llms_full_txt: document('llms-full.txt', 'llms.txt', '/llms-full.txt'),
  listing_markdown: protocol('Markdown twin of a listing', 'Markdown', '/listing/:listing_id.md'),
  listing_atom: protocol('Atom feed of a listing', 'Feeds', '/listing/:listing_id.atom'),
  listing_feed: protocol('JSON feed of a listing', 'Feeds', '/listing/:listing_id.json'),
  search_atom: protocol('Atom feed of a search', 'Feeds', '/search.atom'),
  search_feed: protocol('JSON feed of a search', 'Feeds', '/search.json'),
  category_markdown: protocol('Markdown twin of a category', 'Markdown', '/category/:category.md'),
  compare_markdown: protocol('Markdown twin of a comparison', 'Markdown', '/compare/:slug.md'),
  task_markdown: protocol('Markdown twin of a task', 'Markdown', '/tasks/:task_id.md'),
}

function protocol<const Name extends string>(
  name: string,
  protocol: Name,
  path: string,
  method: 'GET' | 'POST' = 'GET',
) {
  return { name, protocol, methods: [method], path, answer: 'live' } as const
}

function document<const Name extends string>(name: string, protocol: Name, path: string) {
  return { name, protocol, methods: ['GET'], path, answer: 'static' } as const
}

export type ProtocolEndpointId = keyof typeof PROTOCOL_ENDPOINTS

/** Endpoints answered by a function; the app must hold a handler for each. */
export type LiveProtocolId = {
  [Id in ProtocolEndpointId]: (typeof PROTOCOL_ENDPOINTS)[Id]['answer'] extends 'live' ? Id : never
}[ProtocolEndpointId]

export const PAGES_WITH_MARKDOWN = ['listing', 'category', 'compare', 'tasks'] as const

const WITH_MARKDOWN = new RegExp(`^/(?:${PAGES_WITH_MARKDOWN.join('|')})/[^/]+$`)

/** Null for a page without Markdown. @example markdownPathOf('/listing/x402.foo') → '/listing/x402.foo.md' */
export function markdownPathOf(path: string): string | null {
  return WITH_MARKDOWN.test(path) && !path.endsWith('.md') ? `${path}.md` : null
}

/** The pages of the API reference. A page with a `tag` contains the endpoints with this tag in the OpenAPI document. */
export const DOCS_GROUPS = [
  group('search', 'Search', 'Find listings, operations and comparisons by words and filters.'),
  group(
    'tasks',
    'Tasks',
    'State what you want once, and get several services for it with the filled request.',
  ),
  group('listings', 'Listings', 'Read a listing, its kit.json, its badge, and what changed.'),
  group(
    'calls',
    'Calls',
    'Call a paid API through the relay. The payment stays between you and the seller.',
    'Call a service through the relay.',
  ),
  group(
    'service',
    'Service',
    'Health, statistics, the trust method and the documents that describe this service.',
    'Health, statistics and the documents that describe this service.',
  ),
  group(
    'sellers',
    'Sellers',
    'Sign in, claim a listing, prove a payout address, read your numbers.',
  ),
  group('roadmap-stubs', 'Roadmap stubs', 'Endpoints that are planned and answer 501.'),
  group(
    'protocols',
    null,
    'The same answers over MCP, A2A, the MCP registry API, x402 discovery and ARD.',
    'The same answers over MCP, A2A, the MCP registry API and ARD.',
  ),
  group('schemas', null, 'The fields of every answer.'),
]
export type DocsGroup = (typeof DOCS_GROUPS)[number]

export function docsPath(slug: DocsGroup['slug']): string {
  return `/docs/${slug}`
}

export function schemaPath(name: string): string {
  return `${docsPath('schemas')}#schema-${name}`
}

function group<const Slug extends string, const Tag extends string | null>(
  slug: Slug,
  tag: Tag,
  text: string,
  /** The text for a directory without sellers, payments or trust. */
  bare = text,
) {
  return { slug, tag, text, bare }
}
