/**
 * The doors agents come in by beside our own API, once: the app mounts them, the roadmap and the
 * documentation list them. Their errors are their protocol's own, never our problem documents.
 */
interface Door {
  name: string
  /** As its protocol is called by those who speak it. */
  protocol: string
  methods: readonly ('GET' | 'POST')[]
  path: string
  /** `static` is a file of the release, `live` a function. */
  answer: 'static' | 'live'
}

export const DOORS = {
  mcp: { name: 'MCP server', protocol: 'MCP', methods: ['POST'], path: '/mcp', answer: 'live' },
  mcp_server_card: {
    name: 'MCP server card',
    protocol: 'MCP',
    methods: ['GET'],
    path: '/mcp/server-card',
    answer: 'static',
  },
  a2a: { name: 'A2A agent', protocol: 'A2A', methods: ['POST'], path: '/a2a', answer: 'live' },
  agent_card: {
    name: 'A2A agent card',
    protocol: 'A2A',
    methods: ['GET'],
    path: '/.well-known/agent-card.json',
    answer: 'static',
  },
  registry_servers: {
    name: 'MCP registry: servers',
    protocol: 'MCP registry API',
    methods: ['GET'],
    path: '/v0.1/servers',
    answer: 'live',
  },
  registry_versions: {
    name: 'MCP registry: versions of a server',
    protocol: 'MCP registry API',
    methods: ['GET'],
    path: '/v0.1/servers/:name/versions',
    answer: 'live',
  },
  registry_version: {
    name: 'MCP registry: one version',
    protocol: 'MCP registry API',
    methods: ['GET'],
    path: '/v0.1/servers/:name/versions/:version',
    answer: 'live',
  },
  discovery_resources: {
    name: 'x402 discovery: resources',
    protocol: 'x402 discovery',
    methods: ['GET'],
    path: '/discovery/resources',
    answer: 'live',
  },
  discovery_search: {
    name: 'x402 discovery: search',
    protocol: 'x402 discovery',
    methods: ['GET'],
    path: '/discovery/search',
    answer: 'live',
  },
  ard_manifest: {
    name: 'ARD manifest',
    protocol: 'ARD',
    methods: ['GET'],
    path: '/.well-known/ard.json',
    answer: 'static',
  },
  ard_search: {
    name: 'ARD search',
    protocol: 'ARD',
    methods: ['POST'],
    path: '/ard/search',
    answer: 'live',
  },
  ard_agent: {
    name: 'ARD entry',
    protocol: 'ARD',
    methods: ['GET'],
    path: '/ard/agents/:urn',
    answer: 'live',
  },
  ai_catalog: {
    name: 'AI catalog',
    protocol: 'AI Catalog',
    methods: ['GET'],
    path: '/.well-known/ai-catalog.json',
    answer: 'static',
  },
  api_catalog: {
    name: 'API catalog',
    protocol: 'RFC 9727',
    methods: ['GET'],
    path: '/.well-known/api-catalog',
    answer: 'static',
  },
  llms_txt: {
    name: 'llms.txt',
    protocol: 'llms.txt',
    methods: ['GET'],
    path: '/llms.txt',
    answer: 'static',
  },
  llms_full_txt: {
    name: 'llms-full.txt',
    protocol: 'llms.txt',
    methods: ['GET'],
    path: '/llms-full.txt',
    answer: 'static',
  },
  listing_markdown: {
    name: 'Markdown twin of a listing',
    protocol: 'Markdown',
    methods: ['GET'],
    path: '/listing/:listing_id.md',
    answer: 'live',
  },
  category_markdown: {
    name: 'Markdown twin of a category',
    protocol: 'Markdown',
    methods: ['GET'],
    path: '/category/:category.md',
    answer: 'live',
  },
  compare_markdown: {
    name: 'Markdown twin of a comparison',
    protocol: 'Markdown',
    methods: ['GET'],
    path: '/compare/:slug.md',
    answer: 'live',
  },
} as const satisfies Record<string, Door>

export type DoorId = keyof typeof DOORS

/** Doors a function answers; the app must hold a handler for each. */
export type LiveDoorId = {
  [Id in DoorId]: (typeof DOORS)[Id]['answer'] extends 'live' ? Id : never
}[DoorId]

const LIVE_PATTERNS = Object.values(DOORS)
  .filter(({ answer }) => answer === 'live')
  .map(({ path }) => new RegExp(`^${path.replaceAll('.', '\\.').replace(/:\w+/g, '[^/]+')}$`))

/** True where a function stands as a door, whatever the method. */
export function isDoorPath(path: string): boolean {
  return LIVE_PATTERNS.some((pattern) => pattern.test(path))
}

/** Folders whose pages have a Markdown twin. */
export const PAGES_WITH_TWIN = ['listing', 'category', 'compare'] as const

const WITH_TWIN = new RegExp(`^/(?:${PAGES_WITH_TWIN.join('|')})/[^/]+$`)

/**
 * Where the Markdown twin of a page stands; null for a page without one.
 *
 * @example twinPathOf('/listing/x402.foo') → '/listing/x402.foo.md'
 */
export function twinPathOf(path: string): string | null {
  return WITH_TWIN.test(path) && !path.endsWith('.md') ? `${path}.md` : null
}
