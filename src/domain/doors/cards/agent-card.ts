import type { SiteNames } from '../../derived/tables.ts'
import { KINDS, RAILS } from '../../wire/vocabulary.ts'

/** Version of the interface all doors show. */
export const DOOR_VERSION = '0.1.0'

/** What this directory is, for machines that list directories. */
export function toOwnSummary({ strapline }: SiteNames): string {
  return `${strapline}: HTTP APIs, MCP servers and A2A agents, with prices and trust that comes only from payments verified on-chain.`
}

/**
 * Our own A2A card. One hybrid serves both revisions: clients of 1.0 read `supportedInterfaces`,
 * those of 0.3 the members at the top (A2A specification 5.4, 1.0 compatibility).
 */
export function toAgentCard(baseUrl: string, site: SiteNames) {
  const url = `${baseUrl}/a2a`
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
    // A search is over before a stream would be open; nothing is kept that a push could tell of.
    capabilities: { streaming: false, pushNotifications: false, extendedAgentCard: false },
    defaultInputModes: ['text/plain', 'application/json'],
    defaultOutputModes: ['application/json'],
    skills: [
      {
        id: 'search_listings',
        name: 'Find a service',
        description: `Send the task as text, or a data part with q and the filters of ${baseUrl}/docs (kind: ${KINDS.join(', ')}; rail: ${RAILS.join(', ')}). The answer is one data part with the best listings.`,
        tags: ['search', 'directory', 'x402', 'mpp', 'mcp', 'a2a'],
        examples: ['web search under a cent', 'an MCP server for PostgreSQL'],
        inputModes: ['text/plain', 'application/json'],
        outputModes: ['application/json'],
      },
    ],
  }
}
