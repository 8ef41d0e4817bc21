/** One thing an agent is asked to do, as its user says it and as each door can be asked. */
export interface AgentTask {
  q: string
  /** Parameters of `GET /api/v1/search`; the MCP and A2A doors take the same. */
  filters: Record<string, string | number>
  /** What a registry's substring search can be asked; absent where the task is for no MCP server. */
  registryWord?: string
  /** Where a reader of llms.txt would look. */
  category: string
  /** The seller is paid by the call, so the x402 discovery shape has it. */
  isPaid: boolean
}

/** The eight tasks of `test/callable/eight-tasks.test.ts`. */
export const AGENT_TASKS: readonly AgentTask[] = [
  {
    q: 'search the web',
    filters: { max_price_usd: 0.0099 },
    category: 'web_search',
    isPaid: true,
  },
  {
    q: 'weather for a city',
    filters: { kind: 'http_api', auth: 'none' },
    category: 'geo_weather',
    isPaid: false,
  },
  {
    q: 'scrape a page to markdown',
    filters: { kind: 'http_api' },
    category: 'web_extraction',
    isPaid: false,
  },
  {
    q: 'send an email',
    filters: { kind: 'http_api' },
    category: 'communication_social',
    isPaid: true,
  },
  { q: 'make an image', filters: { kind: 'http_api' }, category: 'media_design', isPaid: true },
  {
    q: 'company by domain',
    filters: { kind: 'http_api' },
    category: 'finance_business_data',
    isPaid: true,
  },
  {
    q: 'a PostgreSQL MCP server to run locally',
    filters: { kind: 'mcp_server', runs: 'local' },
    registryWord: 'postgres',
    category: 'databases_storage',
    isPaid: false,
  },
  {
    q: 'an agent that plans travel',
    filters: { kind: 'a2a_agent', category: 'travel' },
    category: 'travel',
    isPaid: false,
  },
]
