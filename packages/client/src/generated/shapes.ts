// Written by `npm run client:types` from the interface's own OpenAPI document; change that instead.

export interface Auth {
  type: "none" | "payment" | "api_key" | "bearer" | "oauth" | "other" | "unknown"
  in?: "header" | "query"
  name?: string
  docs?: string
  note?: string
  sign_in?: { resource?: string; authorization_server: string; authorization_endpoint?: string; token_endpoint?: string; device_authorization_endpoint?: string; registration_endpoint?: string; client_id_metadata_document_supported?: boolean; grant_types_supported?: string[]; code_challenge_methods_supported?: string[]; scopes_supported?: string[]; ref?: string }
}

export interface CompactRow {
  id: string
  name: string
  kind: "kit" | "http_api" | "mcp_server" | "a2a_agent"
  summary: string
  price: { min_usd: number; max_usd: number } | null
  rails: ("x402" | "mpp")[]
  auth: "none" | "payment" | "api_key" | "bearer" | "oauth" | "other" | "unknown"
  trust: number | null
  vouched?: boolean
  call: boolean
  explain?: { exact?: "id" | "host" | "vendor" | "name" | "product"; matched: ({ term: string; as: string; fields: ("name" | "labels" | "summary")[]; score: number })[]; text: number; trust_factor: number; live_tested_factor: number }
}

export interface CompareRow {
  id: string
  name: string
  kind: string
  summary: string
  price: string
  min_usd: number | null
  rails: ("x402" | "mpp")[]
  trust: number | null
  buyers: number | null
  settlements: number | null
  uptime: number | null
  remote: boolean
  shared_payout: boolean
  source: string
  focus?: "dedicated" | "broad"
}

export interface Discovery {
  openapi?: string
  llms_txt?: string
  x402_manifest?: string
  ard?: string
  agent_card?: string
}

export interface Facets {
  kind?: { id: string; name?: string; count: number }[]
  category?: { id: string; name?: string; count: number }[]
  rail?: { id: string; name?: string; count: number }[]
  source?: { id: string; name?: string; count: number }[]
  max_price_usd?: { id: string; name?: string; count: number }[]
  min_trust?: { id: string; name?: string; count: number }[]
  auth?: { id: string; name?: string; count: number }[]
  runs?: { id: string; name?: string; count: number }[]
  network?: { id: string; name?: string; count: number }[]
  price?: { id: string; name?: string; count: number }[]
}

export type Invoke = { kind: "mcp"; transport: "streamable-http" | "sse"; url: string } | { kind: "mcp_package"; transport: "stdio" | "streamable-http" | "sse"; registry: "npm" | "oci" | "mcpb" | "pypi" | "nuget"; identifier: string }

export type KitInvoke = { kind: "mcp"; transport: "streamable-http" | "sse"; url: string; headers?: { name: string; description?: string; required: boolean; secret: boolean; example?: string; value: string }[] } | { kind: "mcp_package"; transport: "stdio" | "streamable-http" | "sse"; registry: "npm" | "oci" | "mcpb" | "pypi" | "nuget"; identifier: string; env?: { name: string; description?: string; required: boolean; secret: boolean; example?: string; value: string }[]; args?: string[] }

export interface KitOperation {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE"
  url: string
  description?: string
  price?: { min_usd: number; max_usd: number; per: "call" | "token" | "minute" | "mb" | "other" }
  offers?: ({ rail: "x402" | "mpp"; network?: string; min_usd: number; max_usd: number })[]
  task?: string
  effect: "read" | "write" | "delete" | "pay"
  assumed?: ("method" | "url" | "price" | "offers" | "params" | "body" | "response" | "effect" | "safe")[]
  seen?: SeenCall
  relay_url?: string
  params?: ({ name: string; in: "query" | "path" | "header"; required?: boolean; description?: string; schema?: { [name: string]: unknown }; example?: string | number | boolean })[]
  body?: { content_type?: string; schema?: { [name: string]: unknown }; example?: unknown }
  response?: { content_type?: string; schema?: { [name: string]: unknown }; example?: unknown; ref?: string }
  safe?: boolean
  example: { method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE"; url: string; relay_url?: string; headers: { [name: string]: string }; body?: unknown }
}

export interface KitPayment {
  rails: ("x402" | "mpp")[]
  networks: string[]
  request_headers: string[]
  response_headers: string[]
  authority: string
  custody: "none"
  fee_usd: 0
  relay: { url: string; info: string } | null
}

export interface ListingSummary {
  id: string
  name: string
  kind: "kit" | "http_api" | "mcp_server" | "a2a_agent"
  status: "unclaimed" | "claimed"
  summary: string
  url: string
  categories: string[]
  pricing: Pricing
  trust: TrustSummary
  invoke: Invoke[]
  discovery?: Discovery
  sources: string[]
  badges: ("unclaimed" | "domain_verified" | "paid_usage_verified" | "live_tested" | "delivers")[]
  tiers: Tiers
  buy: "relay_x402" | "link_out"
  links: { listing: string; page: string; badge_svg: string; kit_manifest: string; call?: string; go: string }
  relevance: number
}

export interface Notice {
  id: "withdrawn_at_source" | "network_changed" | "price_changed" | "payout_changed" | "payout_rotating" | "tools_changed" | "suspicious_text" | "payout_contested" | "disputed"
  note: string
  at: string
}

export interface Operation {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE"
  url: string
  description?: string
  price?: { min_usd: number; max_usd: number; per: "call" | "token" | "minute" | "mb" | "other" }
  offers?: ({ rail: "x402" | "mpp"; network?: string; min_usd: number; max_usd: number })[]
  task?: string
  effect: "read" | "write" | "delete" | "pay"
  assumed?: ("method" | "url" | "price" | "offers" | "params" | "body" | "response" | "effect" | "safe")[]
  seen?: SeenCall
}

export type Pricing = { model: "per_call"; min_usd: number; max_usd: number; rails: ("x402" | "mpp")[]; networks: string[] } | { model: "unknown" }

export interface SearchQuery {
  q?: string
  kind?: "kit" | "http_api" | "mcp_server" | "a2a_agent"
  category?: string
  rail?: "x402" | "mpp"
  source?: string
  max_price_usd?: number
  min_trust?: number
  paid_only?: boolean
  has?: ("openapi" | "llms_txt" | "x402_manifest" | "agent_card" | "ard")[]
  auth?: "none" | "payment" | "api_key" | "bearer" | "oauth" | "other" | "unknown" | "no_account"
  runs?: "remote" | "local"
  network?: string
  effect?: "read" | "write" | "delete" | "pay"
  sort?: "relevance" | "price" | "trust" | "newest" | "calls"
  facets?: ("kind" | "category" | "rail" | "source" | "max_price_usd" | "min_trust" | "auth" | "runs" | "network" | "price")[]
  view?: "full" | "compact"
  explain?: boolean
  limit: number
  offset: number
}

export interface SearchResult {
  id: string
  name: string
  kind: "kit" | "http_api" | "mcp_server" | "a2a_agent"
  status: "unclaimed" | "claimed"
  summary: string
  url: string
  categories: string[]
  pricing: Pricing
  trust: TrustSummary
  invoke: Invoke[]
  discovery?: Discovery
  sources: string[]
  badges: ("unclaimed" | "domain_verified" | "paid_usage_verified" | "live_tested" | "delivers")[]
  tiers: Tiers
  buy: "relay_x402" | "link_out"
  links: { listing: string; page: string; badge_svg: string; kit_manifest: string; call?: string; go: string }
  relevance: number
  explain?: { exact?: "id" | "host" | "vendor" | "name" | "product"; matched: ({ term: string; as: string; fields: ("name" | "labels" | "summary")[]; score: number })[]; text: number; trust_factor: number; live_tested_factor: number }
}

export interface SeenCall {
  at: string
  outcome: "spoke" | "gated" | "wrong_protocol" | "dead" | "unprobeable" | "unknown"
  status?: number
  min_usd?: number
  max_usd?: number
  pay_to?: string[]
}

export interface Skill {
  id: string
  name: string
  description: string
  examples?: string[]
}

export interface Tiers {
  tier: "verified" | "trusted" | null
  tier_label: string | null
  highest_earned: "verified" | "trusted" | null
  earned: ("live_tested" | "verified" | "trusted")[]
  paid: []
  not_yet: ({ id: "verified" | "trusted"; reason: string })[]
  badge_svg: string
  page: string
  embed_markdown: string
  tiers_doc: string
}

export interface Tool {
  name: string
  title?: string
  description: string
  input_schema: { [name: string]: unknown }
  read_only?: boolean
  destructive?: boolean
  hidden?: true
  effect: "read" | "write" | "delete" | "pay"
  assumed?: "effect"[]
}

export type Trust = { score: number; evidence: "verified_non_wash_payments"; sample?: "low"; verified_buyers_30d: number; settlements_30d: number; unknown_buyers_30d?: number; cost_to_fake_usd?: number; wash_flags: { flag: string; settlements: number; note?: string }[]; watch: { id: string; note: string }[]; volume_usd_30d: number; top_buyer_share_30d: number; last_settlement_at: string | null; shared_payout: boolean; method: "hub-trust-v0.1"; source: string; paid_by?: ("eip3009" | "solana_exact" | "permit2_exact" | "permit2_upto" | "tempo_charge" | "batch_settlement" | "auth_capture" | "tempo_session")[]; raw?: { payers: number; settlements: number; volume_usd: number } } | { score: null; evidence: "no_independent_paid_usage_30d"; verified_buyers_30d: number; settlements_30d: number; unknown_buyers_30d?: number; wash_flags: { flag: string; settlements: number; note?: string }[]; volume_usd_30d: number; top_buyer_share_30d: number; last_settlement_at: string | null; shared_payout: boolean; method: "hub-trust-v0.1"; source: string; paid_by?: ("eip3009" | "solana_exact" | "permit2_exact" | "permit2_upto" | "tempo_charge" | "batch_settlement" | "auth_capture" | "tempo_session")[]; raw?: { payers: number; settlements: number; volume_usd: number } } | { score: null; evidence: "no_payment_data"; method: "hub-trust-v0.1" }

export type TrustSummary = { score: number; evidence: "verified_non_wash_payments"; sample?: "low"; verified_buyers_30d: number; settlements_30d: number; unknown_buyers_30d?: number; cost_to_fake_usd?: number; wash_flags: { flag: string; settlements: number; note?: string }[]; watch: { id: string; note: string }[] } | { score: null; evidence: "no_independent_paid_usage_30d"; verified_buyers_30d: number; settlements_30d: number; unknown_buyers_30d?: number; wash_flags: { flag: string; settlements: number; note?: string }[] } | { score: null; evidence: "no_payment_data" }
