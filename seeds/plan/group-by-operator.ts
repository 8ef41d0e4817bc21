import { getDomain } from 'tldts'
import { parseListingFields } from '../content/listing-text.ts'

/** From here on somebody reading a category notices the same seller. */
export const MANY_LISTINGS = 5

/**
 * Who is behind many listings: the wallet they are paid to, or the domain they stand under.
 *
 * @returns operators with many of these listings, most first
 */
export function groupByOperator(
  listings: readonly { text: string }[],
): { operator: string; files: number }[] {
  const counts = new Map<string, number>()
  for (const { text } of listings)
    for (const operator of operatorsOf(text)) counts.set(operator, (counts.get(operator) ?? 0) + 1)
  return [...counts]
    .filter(([, files]) => files >= MANY_LISTINGS)
    .sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))
    .map(([operator, files]) => ({ operator, files }))
}

function operatorsOf(text: string): string[] {
  const fields = parseListingFields(text)
  const url = fields?.get('url')
  const payout: unknown = fields?.get('payout')
  const wallets = Array.isArray(payout) ? payout.filter((each) => typeof each === 'string') : []
  const host = typeof url === 'string' ? (URL.parse(url)?.hostname ?? '') : ''
  // Packages have their page at a forge or a registry, which is nobody's operator.
  const domain = isForge(host) ? null : getDomain(host, { allowPrivateDomains: true })
  return [...new Set([...wallets.map((each) => each.toLowerCase()), ...(domain ? [domain] : [])])]
}

function isForge(host: string): boolean {
  return /(?:^|\.)(?:github\.com|gitlab\.com|npmjs\.com|pypi\.org|nuget\.org|docker\.com)$/.test(
    host,
  )
}
