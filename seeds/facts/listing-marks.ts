import type { ListingFacts } from '../../src/domain/listing/listing-facts.ts'

/**
 * What a listing is known by, as comparable text: two listings of one kind that share a package, a
 * remote, an operation or an agent's address are the same service in every source.
 */
export type ListingMark = string

interface MarkedFacts {
  kind: string
  url: string
  http?: readonly { url: string }[]
  invoke?: ListingFacts['invoke']
  discovery?: { agent_card?: string | undefined }
}

export function marksOf(facts: MarkedFacts): ListingMark[] {
  switch (facts.kind) {
    case 'mcp_server':
      return endpointsOf(facts)
    case 'http_api': {
      const operations = (facts.http ?? []).map(({ url }) => operationMark(url))
      return operations.length > 0 ? [...new Set(operations)] : [operationMark(facts.url)]
    }
    case 'a2a_agent': {
      const card = facts.discovery?.agent_card
      return [`agent ${addressOf(facts.url)}`, ...(card === undefined ? [] : [cardMark(card)])]
    }
    default:
      return []
  }
}

/** The ways to reach an MCP server. */
export function endpointsOf(facts: Pick<MarkedFacts, 'invoke'>): ListingMark[] {
  return (facts.invoke ?? []).map((entry) =>
    entry.kind === 'mcp' ? remoteMark(entry.url) : packageMark(entry.registry, entry.identifier),
  )
}

export function remoteMark(url: string): ListingMark {
  return `remote ${addressOf(url)}${URL.parse(url)?.search ?? ''}`
}

export function packageMark(registry: string, identifier: string): ListingMark {
  return `package ${registry} ${identifier.toLowerCase()}`
}

/** The method doesn't count: catalogues leave it out, and one address is one thing to buy. */
export function operationMark(url: string): ListingMark {
  return `operation ${addressOf(url)}`
}

/** A card is one card under its current and its former well-known name. */
function cardMark(url: string): ListingMark {
  return `card ${addressOf(url).replace(/\/agent\.json$/, '/agent-card.json')}`
}

/**
 * Scheme, host without `www.`, and port: what "the same origin" means across sources.
 *
 * @returns null for a text that is no URL
 */
export function originOf(text: string): string | null {
  const url = URL.parse(text)
  return url === null ? null : `${url.protocol}//${url.host.replace(/^www\./, '')}`
}

/** Host and path; a path's variables are the same variable however they are spelled. */
function addressOf(text: string): string {
  const url = URL.parse(text)
  if (url === null) return text
  const path = url.pathname
    .replace(/\/(?::[A-Za-z_][\w-]*|%7B[^/]*%7D|\{[^/]*\})(?=\/|$)/gi, '/{}')
    .replace(/\/+$/, '')
  return `${url.host.replace(/^www\./, '')}${path}`
}
