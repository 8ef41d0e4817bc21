import type { InvokeEntry } from '../../src/domain/listing/invoke.ts'
import type { Operation } from '../../src/domain/listing/operation.ts'
import type { Pricing } from '../../src/domain/listing/pricing.ts'
import { largestOf, smallestOf } from '../../src/domain/wire/extremes.ts'
import { ASSUMABLE, RAILS } from '../../src/domain/wire/vocabulary.ts'
import { endpointsOf, operationMark } from './listing-marks.ts'
import { collapseOperations } from './operations.ts'
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
    (entry) => endpointsOf({ invoke: [entry] }).join(),
  )
  const invoke = [...ways.values()].flatMap(([way, ...same]) =>
    way === undefined ? [] : [same.reduce(uniteWays, way)],
  )
  const known = said.find(({ auth = { type: 'unknown' } }) => auth.type !== 'unknown')?.auth
  return {
    ...rest,
    ...(known === undefined ? {} : { auth: known }),
    ...(rest.pricing === undefined ? {} : { pricing: unitePricing(said, collapsed.pricing) }),
    ...(http.length === 0 ? {} : { http: collapsed.http }),
    ...(invoke.length === 0 ? {} : { invoke }),
    ...(Object.keys(discovery).length === 0 ? {} : { discovery }),
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
  if (told.length === 0) return { model: 'unknown' }
  return {
    model: 'per_call',
    min_usd: smallestOf(told.map(({ min_usd }) => min_usd)),
    max_usd: largestOf(told.map(({ max_usd }) => max_usd)),
    rails: RAILS.filter((rail) => told.some(({ rails }) => rails.includes(rail))),
    networks: eachOnce(
      told.flatMap(({ networks }) => networks),
      (network) => network,
    ).sort(),
  }
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
  'description',
  'price',
  'offers',
  'params',
  'body',
  'response',
  'task',
  'safe',
] as const

function uniteOperation(said: readonly [Operation, ...Operation[]]): Operation {
  const knowing = (field: (typeof ASSUMABLE)[number]) =>
    said.find((each) => each[field] !== undefined && each.assumed?.includes(field) !== true)
  const [{ url, method }] = said
  const united: Operation = { method: knowing('method')?.method ?? method, url }
  const offers = eachOnce(
    said.flatMap((operation) => operation.offers ?? []),
    ({ rail, network = '' }) => `${rail} ${network}`,
  )
  const price = priceOf(said.find((each) => each.price !== undefined)?.price, offers)
  for (const field of MEMBERS) {
    const one = isAssumable(field) ? knowing(field) : undefined
    const value = (one ?? said.find((each) => each[field] !== undefined))?.[field]
    if (field === 'price' || field === 'offers') Object.assign(united, pick(price, field))
    else if (value !== undefined) Object.assign(united, { [field]: value })
  }
  const assumed = ASSUMABLE.filter(
    (field) => knowing(field) === undefined && said.some((each) => each.assumed?.includes(field)),
  )
  return assumed.length === 0 ? united : { ...united, assumed }
}

function isAssumable(field: string): field is (typeof ASSUMABLE)[number] {
  return ASSUMABLE.some((known) => known === field)
}

function pick(from: Partial<Operation>, field: 'price' | 'offers'): Partial<Operation> {
  return from[field] === undefined ? {} : { [field]: from[field] }
}

/** The price covers every offer: a caller reckons with the dearest way to pay. */
function priceOf(
  price: Operation['price'],
  offers: NonNullable<Operation['offers']>,
): Pick<Operation, 'price' | 'offers'> {
  if (price === undefined || offers.length === 0) return {}
  const sorted = offers.toSorted((a, b) =>
    `${a.rail} ${a.network ?? ''}` < `${b.rail} ${b.network ?? ''}` ? -1 : 1,
  )
  return {
    price: {
      min_usd: smallestOf(offers.map(({ min_usd }) => min_usd)),
      max_usd: largestOf(offers.map(({ max_usd }) => max_usd)),
      per: price.per,
    },
    offers: sorted,
  }
}

function eachOnce<Item>(items: readonly Item[], nameOf: (item: Item) => string): Item[] {
  const byName = new Map<string, Item>()
  for (const item of items) if (!byName.has(nameOf(item))) byName.set(nameOf(item), item)
  return [...byName.values()]
}
