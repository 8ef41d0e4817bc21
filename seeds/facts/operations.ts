import type { Operation } from '../../src/domain/listing/operation.ts'
import type { Pricing } from '../../src/domain/listing/pricing.ts'
import { HTTP_METHODS, type HttpMethod } from '../../src/domain/wire/vocabulary.ts'
import { findCallableUrlFault, type HostRules } from './callable-url.ts'
import { type Offer, pricingOf } from './price.ts'
import type { Refusal } from './refusal.ts'

/** More than these say nothing more about what a buyer chooses. */
const MAX_OPERATIONS = 60

export function toMethod(text: unknown): HttpMethod | null {
  const name = typeof text === 'string' ? text.toUpperCase() : ''
  return HTTP_METHODS.find((known) => known === name) ?? null
}

/**
 * An address as front matter writes it: `:id`, `[id]` and `*` become `{id}`, each name once.
 *
 * @returns with it `places`, the names of what the path leaves open; or why nobody could call it
 */
export function toOperationAddress(text: string, rules: HostRules) {
  const [, start = '', path = '', rest = ''] =
    /^([a-z]+:\/\/[^/?#]*)([^?#]*)(.*)$/is.exec(text) ?? []
  const places: string[] = []
  const filled = path.replace(
    /\/(?::([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\}|\[([A-Za-z_]\w*)\]|(\*{1,2}))(?=\/|$)/g,
    (_, colon?: string, brace?: string, bracket?: string) => {
      const wanted = colon ?? brace ?? bracket ?? 'path'
      const name = places.includes(wanted) ? `${wanted}_${places.length + 1}` : wanted
      places.push(name)
      return `/{${name}}`
    },
  )
  const sample = start + filled.replace(/\{\w+\}/g, 'x') + rest
  return findCallableUrlFault(sample, rules) ?? { url: start + filled + rest, places }
}

/** Every caller must fill in the placeholders of the path. */
export function toPathParams(places: readonly string[]): NonNullable<Operation['params']> {
  return places.map((name) => ({
    name,
    in: 'path' as const,
    required: true,
    schema: { type: 'string' },
  }))
}

/** One way to pay a chain once: the dearest of several amounts is what a caller must reckon with. */
export function toOffers(offers: readonly Offer[]): NonNullable<Operation['offers']> {
  const byPlace = new Map<string, NonNullable<Operation['offers']>[number]>()
  for (const { rail, network, min_usd, max_usd } of offers) {
    const key = `${rail} ${network ?? ''}`
    const known = byPlace.get(key)
    byPlace.set(key, {
      rail,
      ...(network === null ? {} : { network }),
      min_usd: Math.min(min_usd, known?.min_usd ?? min_usd),
      max_usd: Math.max(max_usd, known?.max_usd ?? max_usd),
    })
  }
  return [...byPlace.values()]
}

/** The price that covers every offer of one operation. */
export function toPrice(
  offers: readonly Offer[],
  per: NonNullable<Operation['price']>['per'] = 'call',
): Pick<Operation, 'price' | 'offers'> {
  const pricing = pricingOf(offers)
  if (pricing.model === 'unknown') return {}
  const { min_usd, max_usd } = pricing
  return { price: { min_usd, max_usd, per }, offers: toOffers(offers) }
}

/** What a listing had no room for, as a source's report says it. */
export function leftOut(name: string, left: number): Refusal[] {
  const detail = `${left} operations beyond those listed`
  return left === 0 ? [] : [{ reason: 'row_too_large', name, detail }]
}

/** Endpoints of one thing to buy: each address and method once, in a fixed order; `left` found no room. */
export function collapseOperations(operations: readonly Operation[]) {
  const nameOf = ({ url, method }: Operation) => `${url} ${method}`
  const all = eachOnce(operations, nameOf).sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))
  const http = all.slice(0, MAX_OPERATIONS)
  const calls = offersOf(all.filter(({ price }) => price?.per === 'call'))
  const every = offersOf(all)
  // Where nothing is priced by the call, a page's or a minute's price is the least one pays.
  const bounds = pricingOf(calls.length > 0 ? calls : every)
  const places = pricingOf(every)
  const pricing: Pricing =
    bounds.model === 'per_call' && places.model === 'per_call'
      ? { ...bounds, rails: places.rails, networks: places.networks }
      : bounds
  return { http, pricing, left: all.length - http.length }
}

/** The first of each name, in their order. */
export function eachOnce<Item>(items: readonly Item[], nameOf: (item: Item) => string): Item[] {
  return [...Map.groupBy(items, nameOf).values()].flatMap(([first]) => first ?? [])
}

export function offersOf(operations: readonly Operation[]): Offer[] {
  return operations.flatMap(({ offers = [] }) =>
    offers.map((offer) => ({ ...offer, network: offer.network ?? null })),
  )
}
