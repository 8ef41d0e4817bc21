import type { Buy } from '../wire/vocabulary.ts'
import type { ListingFacts } from './listing-facts.ts'
import { railsOf } from './pricing.ts'
import { findUrlFault, type UrlRules } from './target-url.ts'

export interface BuyVerdict {
  buy: Buy
  /** Why the relay does not take it; null when it does. */
  reason: string | null
}

/** What the call relay takes, and why not otherwise. */
export function judgeBuy(facts: ListingFacts, rules: UrlRules): BuyVerdict {
  const reason = findRelayFault(facts, rules)
  return reason === null ? { buy: 'relay_x402', reason } : { buy: 'link_out', reason }
}

function findRelayFault(facts: ListingFacts, rules: UrlRules): string | null {
  if (facts.kind !== 'http_api')
    return `The relay calls http_api listings; this one is ${facts.kind}.`
  if (facts.closed) return 'The seller has closed this listing to the relay.'
  if (!railsOf(facts.pricing).includes('x402'))
    return 'The relay needs the rail x402, which this listing does not advertise.'
  return findUrlFault(facts.url, rules) === null
    ? null
    : 'The relay needs an https URL on a public host.'
}
