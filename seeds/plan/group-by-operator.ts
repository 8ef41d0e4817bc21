import { getDomain } from 'tldts'
import type { Seed } from '../facts/seed-facts.ts'

/** From here on somebody reading a category notices the same seller. */
export const MANY_LISTINGS = 5

/**
 * Who is behind many listings: the wallet they are paid to, or the domain they stand under.
 *
 * @returns operators with many of these listings, most first
 */
export function groupByOperator(
  seeds: readonly Pick<Seed, 'facts' | 'wallets'>[],
): { operator: string; listings: number }[] {
  const counts = new Map<string, number>()
  for (const seed of seeds)
    for (const operator of operatorsOf(seed)) counts.set(operator, (counts.get(operator) ?? 0) + 1)
  return [...counts]
    .filter(([, listings]) => listings >= MANY_LISTINGS)
    .sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))
    .map(([operator, listings]) => ({ operator, listings }))
}

function operatorsOf({ facts, wallets = [] }: Pick<Seed, 'facts' | 'wallets'>): string[] {
  const host = URL.parse(facts.url)?.hostname ?? ''
  // Packages have their page at a forge or a registry, which is nobody's operator.
  const domain = isForge(host) ? null : getDomain(host, { allowPrivateDomains: true })
  return [...new Set([...wallets.map((each) => each.toLowerCase()), ...(domain ? [domain] : [])])]
}

function isForge(host: string): boolean {
  return /(?:^|\.)(?:github\.com|gitlab\.com|npmjs\.com|pypi\.org|nuget\.org|docker\.com)$/.test(
    host,
  )
}
