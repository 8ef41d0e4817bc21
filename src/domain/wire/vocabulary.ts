/** All closed lists: schemas, switches, OpenAPI and pages derive from these. */

export const KINDS = ['kit', 'http_api', 'mcp_server', 'a2a_agent'] as const
export type Kind = (typeof KINDS)[number]

export const KIND_LABELS: Record<Kind, string> = {
  kit: 'Kit',
  http_api: 'HTTP API',
  mcp_server: 'MCP server',
  a2a_agent: 'A2A agent',
}

/** Id prefixes: `x402` paid HTTP on either rail, `api` unpaid HTTP. */
export const ID_PREFIXES = ['x402', 'api', 'mcp', 'a2a', 'kit'] as const
export type IdPrefix = (typeof ID_PREFIXES)[number]

export const RAILS = ['x402', 'mpp'] as const
export type Rail = (typeof RAILS)[number]

export const HTTP_METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
export type HttpMethod = (typeof HTTP_METHODS)[number]

/** `sse`, `pypi` and `nuget` are additions to the specification: real servers use them (README, Choices). */
export const REMOTE_TRANSPORTS = ['streamable-http', 'sse'] as const
export const PACKAGE_TRANSPORTS = ['stdio', 'streamable-http', 'sse'] as const
export const PACKAGE_REGISTRIES = ['npm', 'oci', 'mcpb', 'pypi', 'nuget'] as const

/** The cost of access, kept apart from `pricing`, which only has the specification's values. */
export const COSTS = ['free', 'freemium', 'paid', 'unknown'] as const

export const AUTH_TYPES = [
  'none',
  'payment',
  'api_key',
  'bearer',
  'oauth',
  'other',
  'unknown',
] as const

export const PRICE_UNITS = ['call', 'token', 'minute', 'mb', 'page', 'result', 'other'] as const

/** What a call changes, the least serious first: nothing, something, something irreversibly, money. */
export const EFFECTS = ['read', 'write', 'delete', 'pay'] as const
export type Effect = (typeof EFFECTS)[number]

/** Fields of an operation that may be a guess, listed in `assumed`. */
export const ASSUMABLE = [
  'method',
  'url',
  'price',
  'offers',
  'params',
  'body',
  'response',
  'safe',
] as const

/** Titles of notices, which state facts about a listing other than its payments. */
export const NOTICE_TITLES = {
  withdrawn_at_source: 'Withdrawn at its source',
  deprecated: 'Deprecated',
  network_changed: 'Another network',
  price_changed: 'Another price',
  payout_changed: 'Another payout',
  payout_rotating: 'Payouts rotate',
  tools_changed: 'Tools changed',
  suspicious_text: 'A text to review',
  payout_contested: 'Payout contested',
  disputed: 'Disputed',
}
export const NOTICES = namesOf(NOTICE_TITLES)
/** What the owner can do about a notice. */
export const NOTICE_ADVICE: Record<keyof typeof NOTICE_TITLES, string> = {
  withdrawn_at_source: 'Publish the service at its source again, or remove the listing here.',
  deprecated: 'If this is wrong, change it at the source.',
  network_changed: 'Correct the listing, or offer the listed network again.',
  price_changed: 'Correct the listing, or charge the listed price again.',
  payout_changed: 'Prove the new address under Payouts; the notice disappears with the next build.',
  payout_rotating: 'This is for information only: there is nothing to do.',
  tools_changed: 'This is for information only, and disappears after 30 days.',
  suspicious_text:
    'Reword the text so that no agent takes it as an instruction; a later probe reads it again.',
  payout_contested: 'Prove the address under Payouts: then payments to it count as yours.',
  disputed: 'Fix what the dispute describes, then tell us what changed: a person will look again.',
}
/** Warnings shown wherever a listing is recommended; if several apply, only the first is shown. */
export const WARNINGS = [
  'disputed',
  'payout_contested',
  'withdrawn_at_source',
  'no_answer',
  'key_required',
  'price_changed',
  'deprecated',
] as const
export type Warning = (typeof WARNINGS)[number]
export const WARNING_TITLES: Record<Warning, string> = {
  ...NOTICE_TITLES,
  no_answer: 'No answer to the last probe',
  key_required: 'Asked our probe for a key',
}

/** Discovery files: first those named by the specification's `has` parameter, in its order, then our own. */
export const DISCOVERY_NAMES = {
  openapi: 'OpenAPI',
  llms_txt: 'llms.txt',
  x402_manifest: 'x402 manifest',
  agent_card: 'agent card',
  ard: 'ARD manifest',
  mcp_card: 'MCP server card',
}
export const DISCOVERY_FILES = namesOf(DISCOVERY_NAMES)

export const STATUSES = ['unclaimed', 'claimed'] as const

export const BADGES = [
  'unclaimed',
  'domain_verified',
  'paid_usage_verified',
  'live_tested',
  'delivers',
] as const

export const BUY = ['relay_x402', 'link_out'] as const

/** `http` is an unpaid API: a declared operation that is safe to call. */
export const PROBE_PROTOCOLS = ['x402', 'mpp', 'mcp', 'a2a', 'http'] as const
export const PROBE_OUTCOMES = [
  'spoke',
  'gated',
  'wrong_protocol',
  'dead',
  'unprobeable',
  'unknown',
] as const

/** Whether a service answered; a demand for credentials is an answer too. */
export function isUp({ outcome }: { outcome?: string | undefined }): boolean {
  return outcome === 'spoke' || outcome === 'gated'
}

/** Whether a probe reveals something about the service: a failure that is nobody's fault does not. */
export function isTelling({ outcome }: { outcome?: string | undefined }): boolean {
  return outcome !== 'unknown' && outcome !== 'unprobeable'
}

/** The specification's three methods, and one for pages on a code host, where none of the three works. */
export const CLAIM_METHODS = ['well_known', 'dns_txt', 'contact_email', 'oidc'] as const
export type ClaimMethod = (typeof CLAIM_METHODS)[number]

export const CLAIM_STATES = ['pending', 'verified', 'expired', 'superseded', 'lapsed'] as const
export type ClaimState = (typeof CLAIM_STATES)[number]

/** Where a click came from (`src` in the click-through link). */
export const CLICK_SOURCES = ['web', 'api', 'mcp', 'a2a'] as const
export type ClickSource = (typeof CLICK_SOURCES)[number]

/** How a search may be ordered, and how its rows may be written. */
export const SEARCH_SORTS = ['relevance', 'price', 'trust', 'newest', 'calls', 'paid'] as const
export type SearchSort = (typeof SEARCH_SORTS)[number]
/** Steps for numeric facets: each shows how many results its filter would have. */
export const FACET_STEPS = {
  max_price_usd: [0, 0.001, 0.01, 0.1, 1],
  min_trust: [0, 40, 60],
} as const
/** Where a listing runs: at the seller's, or from a package. */
export const RUNS = ['remote', 'local'] as const
export type Runs = (typeof RUNS)[number]
export const SEARCH_VIEWS = ['full', 'compact'] as const

/**
 * Outcomes of a paid call, each with its name in a sentence about calls. The list is closed:
 * receipts, pages, seller and client use no other outcomes.
 */
export const VERDICT_WORDS = {
  as_declared: 'answered as declared',
  other_shape: 'answered in another shape than declared',
  empty: 'answered with nothing',
  error_in_200: 'answered with an error under a status of success',
  payment_asked_again: 'asked to pay again',
  refused: 'refused after the payment',
  cut_off: 'cut off',
  too_large_to_judge: 'too large to judge',
}
export const DELIVERY_VERDICTS = namesOf(VERDICT_WORDS)
export type DeliveryVerdict = (typeof DELIVERY_VERDICTS)[number]

/** The names of a table, in its order. */
function namesOf<Table extends object>(table: Table): readonly Extract<keyof Table, string>[] {
  // Each table is a literal of this module and has no other members.
  return Object.keys(table) as Extract<keyof Table, string>[]
}

/** How long things are kept or work: jobs use these numbers, and pages print them. */
export const RETENTION = {
  /** Hours after which a click forgets the search from which it came. */
  click_sid_hours: 24,
  /** Days until single clicks become counts by day. */
  click_days: 30,
  /** Days until counts are dropped. */
  count_days: 400,
  /** Minutes for which a sign-in link works. */
  login_token_minutes: 15,
  /** Days for which a session lasts after its last use. */
  session_days: 30,
  /** Hours for which a claim waits for its proof. */
  pending_claim_hours: 72,
  /** Days from when a claim's proof is no longer found until the claim ends. */
  lost_proof_days: 7,
  /** Days for which an ended claim is kept. */
  closed_claim_days: 90,
  /** Days until an account that has no session or claim is deleted. */
  idle_seller_days: 30,
  /** Hours until a limit's counter, kept under a hash, is dropped. */
  limit_hours: 24,
  /** Days for which our probes' results for a listing are kept after the last probe. */
  probe_days: 120,
  /** Days for which receipts for paid calls are kept, and the files with each day's receipts. */
  receipt_days: 400,
  /** Days for which decided reports are kept and accepted disputes shown; days for which undecided reports are kept. */
  report_days: 90,
  waiting_report_days: 365,
  /** Days for which transfers around a seller's payments are kept: longer than any rule looks back. */
  transfer_days: 150,
  /** Hours for which an email waits for a mail server that is down. */
  mail_hours: 24,
} as const

/** The members of a listing, in its file or in its answer, that show where it runs: both searches use them. */
export interface Invoked {
  kind: Kind
  invoke: readonly { kind: 'mcp' | 'mcp_package' }[]
}

/** spec: Remote endpoint. HTTP APIs and agents always have one, MCP servers if they have a remote, kits never. */
export function hasRemoteEndpoint({ kind, invoke }: Invoked): boolean {
  if (kind === 'http_api' || kind === 'a2a_agent') return true
  return kind === 'mcp_server' && invoke.some((entry) => entry.kind === 'mcp')
}

/** Where a listing runs: at the seller's, as a package, or both; a kit runs nowhere by itself. */
export function runsOf(listing: Invoked): Runs[] {
  const isLocal = listing.invoke.some((entry) => entry.kind === 'mcp_package')
  return RUNS.filter((place) => (place === 'local' ? isLocal : hasRemoteEndpoint(listing)))
}

/** Whether a listing comes only as a package: then no call is charged. */
export function runsLocallyOnly(listing: Invoked): boolean {
  return runsOf(listing).join() === 'local'
}
