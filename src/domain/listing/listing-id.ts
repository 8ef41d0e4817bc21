import { ID_PREFIXES, type IdPrefix, type Kind } from '../wire/vocabulary.ts'

/** Longest id, prefix and dot included. */
export const MAX_ID_LENGTH = 120

export const ID_PATTERN = new RegExp(
  `^(?:${ID_PREFIXES.join('|')})\\.[a-z0-9]+(?:[._-][a-z0-9]+)*$`,
)

/**
 * @example isListingId('x402.foo.bar') → true; isListingId('x402..foo') → false
 */
export function isListingId(text: string): boolean {
  return text.length <= MAX_ID_LENGTH && ID_PATTERN.test(text)
}

/** @example listingIdOf('listings/mcp/a.b.md') → 'mcp.a.b' */
export function listingIdOf(listing: string): string {
  return listing
    .replace(/^listings\//, '')
    .replace(/\.md$/, '')
    .replace('/', '.')
}

/** Paid HTTP is `x402` on both rails; an `http_api` of unknown price may have either prefix. */
export function prefixesFor(kind: Kind, isPaid: boolean): readonly IdPrefix[] {
  if (kind === 'http_api') return isPaid ? ['x402'] : ['api', 'x402']
  return [({ kit: 'kit', mcp_server: 'mcp', a2a_agent: 'a2a' } as const)[kind]]
}

/** The part of an id after its prefix. @example toSlug('mcp.weather') → 'weather' */
export function toSlug(id: string): string {
  return id.slice(id.indexOf('.') + 1)
}
