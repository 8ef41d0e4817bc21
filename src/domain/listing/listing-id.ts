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

/**
 * The prefixes a listing may carry. Paid HTTP, on either rail, is `x402`; an `http_api` whose price
 * is unknown may be either, since only its challenge would tell.
 */
export function prefixesFor(kind: Kind, isPaid: boolean): readonly IdPrefix[] {
  if (kind === 'http_api') return isPaid ? ['x402'] : ['api', 'x402']
  return [({ kit: 'kit', mcp_server: 'mcp', a2a_agent: 'a2a' } as const)[kind]]
}

/** The part of an id behind its prefix. @example toSlug('mcp.weather') → 'weather' */
export function toSlug(id: string): string {
  return id.slice(id.indexOf('.') + 1)
}
