import { cutText } from '../../derived/cut-text.ts'
import type { SiteNames } from '../../derived/tables.ts'
import type { ListingView } from '../../views/listing-view.ts'
import { DOOR_VERSION } from './agent-card.ts'
import { toReverseHost, toSlug } from './own-names.ts'

const CARD_SCHEMA = 'https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json'
const MOST_DESCRIPTION = 100

/** Revisions `/mcp` speaks, newest first. */
const REVISIONS = ['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26']

interface ServerCard {
  $schema: string
  name: string
  version: string
  title: string
  description: string
  remotes: { type: string; url: string; supportedProtocolVersions?: string[] }[]
}

/** `/mcp/server-card`: our own server, as the server-card extension describes one. */
export function toOwnServerCard(baseUrl: string, site: SiteNames): ServerCard {
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
export function toServerCard(view: ListingView, baseUrl: string): ServerCard | null {
  const remotes = view.invoke.flatMap((entry) =>
    entry.kind === 'mcp' ? [{ type: entry.transport, url: entry.url }] : [],
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
