import type { KitOperation } from '../../domain/kit/kit-entries.ts'
import { toUsd } from '../../domain/listing/price-text.ts'

type Requested = Pick<KitOperation, 'seen' | 'price'>

export interface CallTag {
  text: string
  tone: 'plain' | 'strong' | 'bad'
}

/** The result of our probe's own call of an operation, in two words next to its listed price. */
export function toSeenTag({ seen, price }: Requested): CallTag | null {
  if (seen === undefined) return null
  const { outcome, status, min_usd } = seen
  switch (outcome) {
    case 'spoke':
      if (min_usd === undefined) return { text: 'answered', tone: 'plain' }
      return {
        text: `asked ${toUsd(min_usd)}`,
        tone: isAbove(min_usd, price) ? 'bad' : 'plain',
      }
    case 'gated':
      return { text: 'asked for a key', tone: 'strong' }
    case 'wrong_protocol':
    case 'dead':
      return { text: status === undefined ? 'no answer' : `answered ${status}`, tone: 'bad' }
    case 'unknown':
    case 'unprobeable':
      return null
  }
}

/**
 * One sentence on all probed operations; null for only one, which the listing's probes cover.
 *
 * @example '4 of 9 operations were called on 2026-11-20: 3 spoke, 1 of them for more than is listed.'
 */
export function toSeenSentence(operations: readonly Requested[]): string | null {
  const called = operations.filter(({ seen }) => seen !== undefined)
  if (called.length < 2) return null
  const days = called.flatMap(({ seen }) => seen?.at.slice(0, 10) ?? []).sort()
  const spoke = called.filter(({ seen }) => seen?.outcome === 'spoke')
  const expensive = spoke.filter(({ seen, price }) => isAbove(seen?.min_usd, price))
  const above = expensive.length > 0 ? `, ${expensive.length} of them for more than is listed` : ''
  const [first, last = first] = [days[0], days.at(-1)]
  const when = first === last ? `on ${first}` : `from ${first} to ${last}`
  return `${called.length} of ${operations.length} operations were called ${when}, without paying: ${spoke.length} spoke${above}.`
}

function isAbove(requested: number | undefined, price: Requested['price']): boolean {
  return requested !== undefined && price?.per === 'call' && requested > price.max_usd
}
