/** The pages of the API reference. Those with a `tag` hold the endpoints that the OpenAPI document tags so. */
export const DOCS_GROUPS = [
  {
    slug: 'search',
    tag: 'Search',
    text: 'Find listings, operations and comparisons by words and filters.',
  },
  {
    slug: 'listings',
    tag: 'Listings',
    text: 'Read a listing, its kit.json, its badge, and what changed.',
  },
  {
    slug: 'calls',
    tag: 'Calls',
    text: 'Call a paid API through the relay. The payment stays between you and the seller.',
  },
  {
    slug: 'service',
    tag: 'Service',
    text: 'Health, statistics, the trust method and the documents that describe this service.',
  },
  {
    slug: 'sellers',
    tag: 'Sellers',
    text: 'Sign in, claim a listing, prove a payout address, read your numbers.',
  },
  {
    slug: 'watches',
    tag: 'Watches',
    text: 'Be told by mail or signed webhook when a listing changes.',
  },
  {
    slug: 'roadmap-stubs',
    tag: 'Roadmap stubs',
    text: 'Endpoints that are planned and answer 501.',
  },
  {
    slug: 'doors',
    tag: null,
    text: 'The same answers over MCP, A2A, the MCP registry API, x402 discovery and ARD.',
  },
  { slug: 'schemas', tag: null, text: 'The fields of every answer.' },
] as const
export type DocsGroup = (typeof DOCS_GROUPS)[number]

export function docsPath(slug: DocsGroup['slug']): string {
  return `/docs/${slug}`
}

export function schemaPath(name: string): string {
  return `${docsPath('schemas')}#schema-${name}`
}
