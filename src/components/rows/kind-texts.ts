import type { Kind } from '../../domain/wire/vocabulary.ts'

/** An explanation of each kind, for people who choose. */
export const KIND_TEXTS: Record<Kind, { plural: string; text: string }> = {
  http_api: {
    plural: 'HTTP APIs',
    text: 'Called over plain HTTP.',
  },
  mcp_server: {
    plural: 'MCP servers',
    text: 'Tools an agent connects to over the Model Context Protocol, hosted or run from a package.',
  },
  a2a_agent: {
    plural: 'A2A agents',
    text: 'Agents that take tasks from other agents and describe themselves in an agent card.',
  },
  kit: {
    plural: 'Kits',
    text: 'Guides and skills that an agent follows. Those made by us are marked.',
  },
}

/** Kinds in the order in which people look for them; our own kits last. */
export const KIND_ORDER = ['http_api', 'mcp_server', 'a2a_agent', 'kit'] as const satisfies Kind[]
