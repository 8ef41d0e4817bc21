import { countEdits } from '../wire/nearest-name.ts'
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

/** Ids that are offered for an unknown one. */
const MOST_NEAR = 3
/** Names that are compared with a misspelt one: anybody may ask for any id. */
const MOST_COMPARED = 400
const LONGEST_COMPARED = 60
/** Letters that a misspelt name still begins with. */
const SAME_START = 2

/**
 * Finds the ids nearest to one that no listing has: first those of the same name under another
 * prefix, then those whose first words it is, then slips of the pen.
 *
 * @example createNearestIds(['mcp.exa', 'x402.exa'])('exa') → ['x402.exa', 'mcp.exa']
 */
export function createNearestIds(ids: Iterable<string>): (asked: string) => string[] {
  const named = [...ids].map((id) => ({ id, slug: toSlug(id) })).sort(bySlug)
  const at = (text: string) => {
    let [low, high] = [0, named.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((named[middle]?.slug ?? '') < text) low = middle + 1
      else high = middle
    }
    return low
  }
  return (asked) => {
    const name = asked.toLowerCase().replace(PREFIX, '')
    if (name.length > LONGEST_COMPARED || name.length < SAME_START) return []
    const first = at(name.slice(0, SAME_START))
    const begun = named
      .slice(at(name), at(name) + MOST_COMPARED)
      .filter(
        ({ slug }) =>
          slug === name || /^[._-]$/.test(slug.startsWith(name) ? slug.charAt(name.length) : ''),
      )
    const slips = named
      .slice(first, first + MOST_COMPARED)
      .filter(({ slug }) => Math.abs(slug.length - name.length) <= MOST_SLIPS)
      .map((each) => ({ ...each, edits: countEdits(name, each.slug) }))
      .filter(({ slug, edits }) => edits <= Math.min(MOST_SLIPS, slug.length / 3))
      .sort((a, b) => a.edits - b.edits)
    return [...new Set([...begun, ...slips].map(({ id }) => id))].slice(0, MOST_NEAR)
  }
}

const MOST_SLIPS = 2
const PREFIX = new RegExp(`^(?:${ID_PREFIXES.join('|')})\\.`)

/** Of one name the prefixes in their own order. */
function bySlug(a: { id: string; slug: string }, b: { id: string; slug: string }): number {
  if (a.slug !== b.slug) return a.slug < b.slug ? -1 : 1
  const rank = ({ id }: { id: string }) =>
    ID_PREFIXES.findIndex((each) => id.startsWith(`${each}.`))
  return rank(a) - rank(b)
}
