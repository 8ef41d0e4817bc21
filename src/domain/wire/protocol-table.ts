/** The doors other than our API, once: the app mounts them, roadmap and docs list them. */
export const PROTOCOL_ENDPOINTS = {
  mcp: live('MCP server', 'MCP', '/mcp', 'POST'),
  mcp_server_card: file('MCP server card', 'MCP', '/mcp/server-card'),
  a2a: live('A2A agent', 'A2A', '/a2a', 'POST'),
  agent_card: file('A2A agent card', 'A2A', '/.well-known/agent-card.json'),
  registry_servers: live('MCP registry: servers', 'MCP registry API', '/v0.1/servers'),
  registry_versions: live(
    'MCP registry: versions of a server',
    'MCP registry API',
    '/v0.1/servers/:name/versions',
  ),
  registry_version: live(
    'MCP registry: one version',
    'MCP registry API',
    '/v0.1/servers/:name/versions/:version',
  ),
  policy_servers: live(
    'Registry of a policy: servers',
    'MCP registry API',
    '/policies/:policy/v0.1/servers',
  ),
  policy_versions: live(
    'Registry of a policy: versions of a server',
    'MCP registry API',
    '/policies/:policy/v0.1/servers/:name/versions',
  ),
  policy_version: live(
    'Registry of a policy: one version',
    'MCP registry API',
    '/policies/:policy/v0.1/servers/:name/versions/:version',
  ),
  discovery_resources: live('x402 discovery: resources', 'x402 discovery', '/discovery/resources'),
  discovery_search: live('x402 discovery: search', 'x402 discovery', '/discovery/search'),
  ard_manifest: file('ARD manifest', 'ARD', '/.well-known/ard.json'),
  ard_search: live('ARD search', 'ARD', '/ard/search', 'POST'),
  ard_explore: live('ARD explore: answers 501', 'ARD', '/ard/explore', 'POST'),
  ard_agent: live('ARD entry', 'ARD', '/ard/agents/:urn'),
  ai_catalog: file('AI catalog', 'AI Catalog', '/.well-known/ai-catalog.json'),
  api_catalog: file('API catalog', 'RFC 9727', '/.well-known/api-catalog'),
  llms_txt: file('llms.txt', 'llms.txt', '/llms.txt'),
  llms_full_txt: file('llms-full.txt', 'llms.txt', '/llms-full.txt'),
  listing_markdown: live('Markdown twin of a listing', 'Markdown', '/listing/:listing_id.md'),
  listing_atom: live('Atom feed of a listing', 'Feeds', '/listing/:listing_id.atom'),
  listing_feed: live('JSON feed of a listing', 'Feeds', '/listing/:listing_id.json'),
  search_atom: live('Atom feed of a search', 'Feeds', '/search.atom'),
  search_feed: live('JSON feed of a search', 'Feeds', '/search.json'),
  category_markdown: live('Markdown twin of a category', 'Markdown', '/category/:category.md'),
  compare_markdown: live('Markdown twin of a comparison', 'Markdown', '/compare/:slug.md'),
  task_markdown: live('Markdown twin of a task', 'Markdown', '/tasks/:task_id.md'),
}

function live<const Name extends string>(
  name: string,
  protocol: Name,
  path: string,
  method: 'GET' | 'POST' = 'GET',
) {
  return { name, protocol, methods: [method], path, answer: 'live' } as const
}

function file<const Name extends string>(name: string, protocol: Name, path: string) {
  return { name, protocol, methods: ['GET'], path, answer: 'static' } as const
}

export type ProtocolEndpointId = keyof typeof PROTOCOL_ENDPOINTS

/** Doors a function answers; the app must hold a handler for each. */
export type LiveProtocolId = {
  [Id in ProtocolEndpointId]: (typeof PROTOCOL_ENDPOINTS)[Id]['answer'] extends 'live' ? Id : never
}[ProtocolEndpointId]

/** Doors that a file of the release answers; the build must write each. */
export type StaticProtocolId = Exclude<ProtocolEndpointId, LiveProtocolId>

export const PAGES_WITH_MARKDOWN = ['listing', 'category', 'compare', 'tasks'] as const

const WITH_MARKDOWN = new RegExp(`^/(?:${PAGES_WITH_MARKDOWN.join('|')})/[^/]+$`)

/** Null for a page without one. @example markdownPathOf('/listing/x402.foo') → '/listing/x402.foo.md' */
export function markdownPathOf(path: string): string | null {
  return WITH_MARKDOWN.test(path) && !path.endsWith('.md') ? `${path}.md` : null
}
