/** The pages of the API reference. Those with a `tag` hold the endpoints that the OpenAPI document tags so. */
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
    'doors',
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
  /** Used by a directory without sellers, payments or trust. */
  bare = text,
) {
  return { slug, tag, text, bare }
}
