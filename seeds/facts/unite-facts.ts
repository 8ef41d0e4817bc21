import type { InvokeEntry } from '../../src/domain/listing/invoke.ts'
import type { Operation } from '../../src/domain/listing/operation.ts'
import type { Pricing } from '../../src/domain/listing/pricing.ts'
import { ASSUMABLE } from '../../src/domain/wire/vocabulary.ts'
import { endpointsOf, operationMark } from './listing-marks.ts'
import { collapseOperations, eachOnce, offersOf, toPrice } from './operations.ts'
import { type Offer, pricingOf } from './price.ts'
import type { SeedFacts } from './seed-facts.ts'

/**
 * What several sources say of one service, as one listing. The same sources give the same listing
 * in whatever order they were read: what can add up is united, and of the rest the first source's
 * word counts, but a guess never wins over what somebody knew.
 *
 * @param said in the order of precedence, at least one
 */
export function uniteFacts(said: readonly [SeedFacts, ...SeedFacts[]]): SeedFacts {
  const [first] = said
  const http = said.flatMap((facts) => facts.http ?? [])
  const collapsed = collapseOperations(uniteOperations(http))
  const discovery: NonNullable<SeedFacts['discovery']> = {}
  const rest: SeedFacts = { ...first }
  // From the last to the first: the first has the last word.
  for (const facts of said.toReversed()) {
    Object.assign(discovery, facts.discovery)
    Object.assign(rest, facts)
  }
  const ways = Map.groupBy(
    said.flatMap((facts) => facts.invoke ?? []),
    (entry) => endpointsOf([entry]).join(),
  )
  const invoke = [...ways.values()].flatMap(([way, ...same]) =>
    way === undefined ? [] : [same.reduce(uniteWays, way)],
  )
  const known = said.find(({ auth = { type: 'unknown' } }) => auth.type !== 'unknown')?.auth
  return {
    ...rest,
    ...(known !== undefined && { auth: known }),
    ...(rest.pricing !== undefined && { pricing: unitePricing(said, collapsed.pricing) }),
    ...(http.length > 0 && { http: collapsed.http }),
    ...(invoke.length > 0 && { invoke }),
    ...(Object.keys(discovery).length > 0 && { discovery }),
    sources: eachOnce(
      said.flatMap(({ sources }) => sources),
      ({ source, ref }) => `${source} ${ref}`,
    ),
  }
}

/** What one way in asks for, the first says who knows it. */
function uniteWays(way: InvokeEntry, other: InvokeEntry): InvokeEntry {
  return Object.assign({}, other, way)
}

/** Prices of operations are nearer the truth than what a list says of the whole. */
function unitePricing(said: readonly SeedFacts[], ofOperations: Pricing): Pricing {
  if (ofOperations.model !== 'unknown') return ofOperations
  const told = said.flatMap(({ pricing }) => (pricing?.model === 'per_call' ? [pricing] : []))
  const offers = told.flatMap(({ rails, networks, min_usd, max_usd }) =>
    rails.flatMap((rail) =>
      [null, ...networks].map((network): Offer => ({ rail, network, min_usd, max_usd })),
    ),
  )
  return pricingOf(offers)
}

/** One operation for each address and method; a catalogue that knows no method means the known one. */
function uniteOperations(said: readonly Operation[]): Operation[] {
  const byAddress = Map.groupBy(said, ({ url }) => operationMark(url))
  return [...byAddress.values()].flatMap((operations) => {
    const isGuess = ({ assumed = [] }: Operation) => assumed.includes('method')
    const methods = new Set(operations.filter((each) => !isGuess(each)).map(({ method }) => method))
    const [only] = methods.size === 1 ? methods : []
    const byMethod = Map.groupBy(operations, (each) =>
      isGuess(each) ? (only ?? each.method) : each.method,
    )
    return [...byMethod.values()].flatMap(([one, ...others]) =>
      one === undefined ? [] : [uniteOperation([one, ...others])],
    )
  })
}

/** The members of an operation, as a listing's file has them. */
const MEMBERS = [
  ...(['description', 'price', 'offers', 'params'] as const),
  ...(['body', 'response', 'effect', 'task', 'safe'] as const),
]

function uniteOperation(said: readonly [Operation, ...Operation[]]): Operation {
  const naming = (field: keyof Operation) => said.filter((each) => each[field] !== undefined)
  const knowing = (field: keyof Operation) =>
    naming(field).find(({ assumed = [] }) => !assumed.some((guessed) => guessed === field))
  const [{ url, method }] = said
  const united: Operation = { method: knowing('method')?.method ?? method, url }
  const priced = priceOf(naming('price')[0]?.price, offersOf(said))
  for (const field of MEMBERS) {
    const isPrice = field === 'price' || field === 'offers'
    const value = isPrice ? priced[field] : (knowing(field) ?? naming(field)[0])?.[field]
    if (value !== undefined) Object.assign(united, { [field]: value })
  }
  const assumed = ASSUMABLE.filter(
    (field) => knowing(field) === undefined && said.some((each) => each.assumed?.includes(field)),
  )
  return assumed.length === 0 ? united : { ...united, assumed }
}

/** Of each way to pay the first word; the price covers them all: a caller reckons with the dearest. */
function priceOf(price: Operation['price'], offers: readonly Offer[]) {
  const placeOf = ({ rail, network }: Offer) => `${rail} ${network ?? ''}`
  const sorted = eachOnce(offers, placeOf).sort((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1))
  return price === undefined ? {} : toPrice(sorted, price.per)
}
