import { cutText } from '../../derived/cut-text.ts'
import type { SiteNames } from '../../derived/tables.ts'
import { toSlug } from '../../listing/listing-id.ts'
import type { ListingView } from '../../views/listing-view.ts'
import { KINDS, RAILS } from '../../wire/vocabulary.ts'

const DOOR_VERSION = '0.1.0'

/** A description of this directory for machines that list directories. */
export function toOwnSummary({ strapline, switches: { payments, trust } }: SiteNames): string {
  const known = [
    ...(payments ? ['prices'] : []),
    ...(trust ? ['trust that comes only from payments verified on-chain'] : []),
  ]
  const end = known.length === 0 ? '' : `, with ${known.join(' and ')}`
  return `${strapline}: HTTP APIs, MCP servers and A2A agents${end}.`
}

/** Clients of A2A 1.0 read `supportedInterfaces`, those of 0.3 the members at the top (A2A 5.4). */
export function toAgentCard(baseUrl: string, site: SiteNames) {
  const url = `${baseUrl}/a2a`
  const { payments } = site.switches
  const rails = payments ? `; rail: ${RAILS.join(', ')}` : ''
  return {
    name: site.name,
    description: toOwnSummary(site),
    version: DOOR_VERSION,
    url,
    preferredTransport: 'JSONRPC',
    protocolVersion: '0.3.0',
    supportedInterfaces: ['1.0', '0.3'].map((protocolVersion) => ({
      url,
      protocolBinding: 'JSONRPC',
      protocolVersion,
    })),
    provider: { organization: site.name, url: baseUrl },
    documentationUrl: `${baseUrl}/docs`,
    // A search ends before a stream would open; no state is kept that a push could report.
    capabilities: { streaming: false, pushNotifications: false, extendedAgentCard: false },
    defaultInputModes: ['text/plain', 'application/json'],
    defaultOutputModes: ['application/json'],
    skills: [
      {
        id: 'search_listings',
        name: 'Find a service',
        description: `Send the task as text, or a data part with q and the filters of ${baseUrl}/docs (kind: ${KINDS.join(', ')}${rails}). The answer is one data part with the best listings.`,
        tags: ['search', 'directory', ...(payments ? RAILS : []), 'mcp', 'a2a'],
        examples: ['an API that needs no account', 'an MCP server for a database'],
        inputModes: ['text/plain', 'application/json'],
        outputModes: ['application/json'],
      },
    ],
  }
}

const CARD_SCHEMA = 'https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json'
const MOST_DESCRIPTION = 100

/** Revisions `/mcp` speaks, newest first. */
const REVISIONS = ['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26']

/** `/mcp/server-card`: our own server, as the server-card extension describes one. */
export function toOwnServerCard(baseUrl: string, site: SiteNames) {
  return {
    $schema: CARD_SCHEMA,
    name: `${toReverseHost(baseUrl)}/${site.short_name.toLowerCase()}`,
    version: DOOR_VERSION,
    title: site.name,
    description: site.strapline,
    remotes: [
      { type: 'streamable-http', url: `${baseUrl}/mcp`, supportedProtocolVersions: REVISIONS },
    ],
  }
}

/** The card of a listed server with a remote endpoint; null for one that only comes as a package. */
export function toServerCard(view: ListingView, baseUrl: string) {
  const remotes = view.invoke.flatMap((entry) =>
    entry.kind === 'mcp' ? [toCardRemote(entry)] : [],
  )
  if (remotes.length === 0) return null
  return {
    $schema: CARD_SCHEMA,
    name: `${toReverseHost(baseUrl)}/${toSlug(view.id)}`,
    version: '0.0.0',
    title: cutText(view.name, MOST_DESCRIPTION),
    description: cutText(view.summary, MOST_DESCRIPTION),
    remotes,
  }
}

function toCardRemote({ transport: type, url, variables = [] }: CardRemote): object {
  const named = variables.map(({ name, required: isRequired, secret: isSecret, ...more }) => [
    name,
    { isRequired, isSecret, ...more },
  ])
  return { type, url, ...(named.length > 0 && { variables: Object.fromEntries(named) }) }
}
type CardRemote = Extract<ListingView['invoke'][number], { kind: 'mcp' }>

/** Our host, reversed. @example toReverseHost('https://a.example') → 'example.a' */
export function toReverseHost(baseUrl: string): string {
  return new URL(baseUrl).hostname.replace(/[[\]]/g, '').split(/[.:]/).reverse().join('.')
}

/** Key of our own statements inside another protocol's `_meta`. */
export function toMetaKey(baseUrl: string): string {
  return `${toReverseHost(baseUrl)}/listing`
}
