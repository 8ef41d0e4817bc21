import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { chooseOperation } from '../../../src/domain/kit/choose-operation.ts'
import type { KitView } from '../../../src/domain/kit/kit-view.ts'
import type { ToldRequest } from '../../callable/told-requests.ts'
import type { AgentTask } from './agent-tasks.ts'

/** What an agent would do next: a request to send, a server to start, a card to read. */
export type Found =
  | { kind: 'request'; request: ToldRequest }
  | { kind: 'start'; command: string; env: readonly string[] }
  | { kind: 'card'; url: string }

/** Reads through one door: what it costs is counted, requests and bytes of what came back. */
export interface Wire {
  /** The text at an address; the release's own base address leads here. */
  read(path: string, body?: unknown, headers?: Record<string, string>): Promise<string>
  /** Counts an answer that came another way. */
  count(text: string): void
  url: string
}

export type Door = (task: AgentTask, wire: Wire) => Promise<Found | null>

const KIT_TYPE = 'application/vnd.agent-kit+json'

/** From a question to the first call, by each door; null where the door has no such listing. */
export const DOORS: Record<string, Door> = {
  API: async ({ q, filters }, wire) => {
    const query = new URLSearchParams({ q, ...toText(filters), view: 'compact', limit: '5' })
    const { results } = JSON.parse(await wire.read(`/api/v1/search?${query}`))
    return readKit(results[0].id, wire)
  },
  MCP: findByMcp,
  A2A: async ({ q, filters }, wire) => {
    const parts = [
      { kind: 'text', text: q },
      { kind: 'data', data: { ...filters, limit: 5 } },
    ]
    const message = { kind: 'message', messageId: 'm1', role: 'user', parts }
    const rpc = { jsonrpc: '2.0', id: 1, method: 'message/send', params: { message } }
    const { result } = JSON.parse(await wire.read('/a2a', rpc))
    return readKit(result.parts[0].data.results[0].id, wire)
  },
  registry: findByRegistry,
  discovery: findByDiscovery,
  ARD: async ({ q, filters }, wire) => {
    // What its filters know of ours; price and sign-in are not among them.
    const { kind, category } = filters
    const asked = { query: { text: q, filter: { kind, category } }, pageSize: 5 }
    const { results } = JSON.parse(await wire.read('/ard/search', asked))
    const { url, type } = results[0]
    // An agent's entry leads to its card itself, what is ours to our kit.
    if (type !== KIT_TYPE) return { kind: 'card', url }
    return readKit(url.split('/').at(-2), wire)
  },
  Markdown: findByMarkdown,
}

async function findByMcp({ q, filters }: AgentTask, wire: Wire): Promise<Found | null> {
  const client = new Client({ name: 'bench', version: '1.0.0' })
  await client.connect(new StreamableHTTPClientTransport(new URL(`${wire.url}/mcp`)))
  const call = async (name: string, args: Record<string, unknown>) => {
    const { content } = await client.callTool({ name, arguments: args })
    const [block] = content
    const text = block?.type === 'text' ? block.text : ''
    wire.count(text)
    return JSON.parse(text)
  }
  const { results } = await call('search_listings', { query: q, ...filters })
  const card = await call('get_kit', { id: results[0].id })
  await client.close()
  return toFound({
    ...card,
    operations: card.operation === undefined ? [] : [card.operation],
    discovery: { agent_card: card.agent_card },
  })
}

/** The registry's own shape has no order by use: every server that fits is read. */
async function findByRegistry({ registryWord }: AgentTask, wire: Wire): Promise<Found | null> {
  if (registryWord === undefined) return null
  const { servers } = JSON.parse(await wire.read(`/v0.1/servers?search=${registryWord}&limit=30`))
  const names = servers.flatMap(({ server }: { server: { packages?: RegistryPackage[] } }) =>
    (server.packages ?? []).filter(({ identifier }) => identifier === 'postgres-mcp'),
  )
  const [found] = names as RegistryPackage[]
  if (found === undefined) return null
  const args = (found.packageArguments ?? []).map(({ value }) => value)
  const env = (found.environmentVariables ?? []).map(({ name }) => name)
  return { kind: 'start', command: [found.identifier, ...args].join(' '), env }
}

interface RegistryPackage {
  identifier: string
  packageArguments?: { value: string }[]
  environmentVariables?: { name: string }[]
}

async function findByDiscovery(
  { q, filters, isPaid }: AgentTask,
  wire: Wire,
): Promise<Found | null> {
  if (!isPaid) return null
  const most = filters.max_price_usd
  const price = most === undefined ? {} : { maxUsdPrice: String(most) }
  const query = new URLSearchParams({ query: q, limit: '5', ...price })
  const { resources } = JSON.parse(await wire.read(`/discovery/search?${query}`))
  const { resource, extensions } = resources[0]
  const { method, body, queryParams = {} } = extensions.bazaar.info.input
  const url = new URL(resource)
  for (const [name, value] of Object.entries(queryParams)) url.searchParams.set(name, String(value))
  const headers: Record<string, string> =
    body === undefined ? {} : { 'content-type': 'application/json' }
  return { kind: 'request', request: { method, url: url.href, headers, body } }
}

/** A reader of llms.txt goes by category and picks; the pick is the listing that search puts first. */
async function findByMarkdown(task: AgentTask, wire: Wire): Promise<Found | null> {
  await wire.read('/llms.txt')
  const page = await wire.read(`/category/${task.category}.md`)
  const query = new URLSearchParams({ q: task.q, ...toText(task.filters), limit: '1' })
  const first = await (await fetch(`${wire.url}/api/v1/search?${query}`)).json()
  const { id } = first.results[0]
  if (!page.includes(`/listing/${id}`)) return null
  const text = await wire.read(`/listing/${id}.md`)
  const kit = await (await fetch(`${wire.url}/api/v1/listings/${id}/kit.json`)).json()
  const found = toFound(kit)
  // What the kit says and the page does not is not known to who reads the page alone.
  const said = found?.kind === 'request' ? [JSON.stringify(found.request.body) ?? ''] : []
  return said.every((part) => text.replace(/\s+/g, '').includes(part.replace(/\s+/g, '')))
    ? found
    : null
}

async function readKit(id: string, wire: Wire): Promise<Found | null> {
  return toFound(JSON.parse(await wire.read(`/api/v1/listings/${id}/kit.json`)))
}

function toFound(kit: Pick<KitView, 'kind' | 'operations' | 'invoke' | 'discovery'>): Found | null {
  if (kit.kind === 'a2a_agent')
    return kit.discovery.agent_card === undefined
      ? null
      : { kind: 'card', url: kit.discovery.agent_card }
  const operation = chooseOperation(kit.operations)
  if (operation !== undefined) return { kind: 'request', request: operation.example }
  const entry = kit.invoke.find((each) => each.kind === 'mcp_package')
  if (entry === undefined) return null
  const { identifier, args = [], env = [] } = entry
  return {
    kind: 'start',
    command: [identifier, ...args].join(' '),
    env: env.map(({ name }) => name),
  }
}

function toText(filters: AgentTask['filters']): Record<string, string> {
  return Object.fromEntries(Object.entries(filters).map(([name, value]) => [name, String(value)]))
}
