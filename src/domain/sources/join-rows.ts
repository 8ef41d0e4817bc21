import * as v from 'valibot'
import type { Auth, InvokeEntry } from '../listing/invoke.ts'
import {
  createOperationSchema,
  type ListingFacts,
  type Operation,
  placeholdersOf,
  type WrittenFacts,
} from '../listing/listing-facts.ts'
import {
  findOperationFaults,
  type Offer,
  offersOf,
  pricingOf,
  toPrice,
} from '../listing/operation.ts'
import type { Pricing } from '../listing/pricing.ts'
import { eachOnce } from '../wire/json.ts'
import { ASSUMABLE } from '../wire/vocabulary.ts'
import { endpointsOf, operationMark } from './place-rows.ts'
import type { SourceFacts } from './source-row.ts'

/**
 * A listing, field by field: people first, then the sources in the order of precedence. A list that
 * people wrote is complete, and sources only fill in its elements; lists of sources are merged by
 * what identifies their elements. A guess never wins over a known fact.
 *
 * @param stated the sources' facts, in the order of precedence
 */
export function joinFacts(written: WrittenFacts, stated: readonly SourceFacts[]): WrittenFacts {
  const [first, ...others] = stated
  if (first === undefined) return written
  const united = others.length === 0 ? first : uniteFacts(stated)
  const { auth } = written
  return {
    ...written,
    ...joinOperations(written, united),
    name: written.name ?? united.name,
    kind: written.kind ?? united.kind,
    url: written.url ?? united.url,
    summary: written.summary ?? united.summary,
    categories: orElse(written.categories, united.categories),
    tags: orElse(written.tags, united.tags),
    cost: written.cost ?? united.cost,
    auth: joinAuth(auth, united.auth),
    invoke:
      written.invoke.length > 0
        ? completeWays(written.invoke, united.invoke ?? [])
        : (united.invoke ?? []),
    registry_name: written.registry_name ?? united.registry_name,
    version: written.version ?? united.version,
    discovery: { ...united.discovery, ...written.discovery },
    sources: withOthers(written.sources ?? [], united.sources ?? []),
  }
}

/** People say how a caller authenticates; for OAuth a source may know where to sign in. */
function joinAuth(own: Auth, stated: Auth | undefined): Auth {
  if (own.type === 'unknown') return stated ?? own
  if (own.type !== 'oauth' || stated?.type !== 'oauth' || own.sign_in !== undefined) return own
  return { ...own, ...(stated.sign_in !== undefined && { sign_in: stated.sign_in }) }
}

/**
 * Where people name a price or operations, the sources' facts on them must fit: no run of an
 * importer may make a people's listing invalid.
 */
function joinOperations(written: WrittenFacts, united: SourceFacts) {
  const { pricing, http } = written
  const others = united.http ?? []
  const isPriced = pricing.model !== 'unknown'
  if (!isPriced && http.length === 0) return { pricing: united.pricing ?? pricing, http: others }
  const joined = {
    pricing: isPriced ? pricing : (united.pricing ?? pricing),
    http: http.length > 0 ? completeOperations(http, others, isPriced) : pricedBy(others, pricing),
  }
  return findOperationFaults(joined).length === 0 ? joined : { pricing, http }
}

/** Operations of sources below a price that people named: those it does not cover are dropped. */
function pricedBy(operations: readonly Operation[], pricing: Pricing): Operation[] {
  const isCovered = ({ price }: Operation) =>
    pricing.model === 'per_call' &&
    price !== undefined &&
    price.min_usd >= pricing.min_usd &&
    price.max_usd <= pricing.max_usd
  return operations.map(({ price, offers: _, ...rest }) =>
    price !== undefined && isCovered({ ...rest, price }) ? { ...rest, price } : rest,
  )
}

function orElse<Item>(own: Item[], others: Item[] | undefined): Item[] {
  return own.length > 0 ? own : (others ?? [])
}

/** Where people name a source themselves, their entry is used. */
function withOthers(own: ListingFacts['sources'], others: ListingFacts['sources']) {
  const named = new Set(own.map(({ source }) => source))
  return [...own, ...others.filter(({ source }) => !named.has(source))]
}

/** The facts of several sources on one service. @param stated in the order of precedence */
export function uniteFacts(stated: readonly SourceFacts[]): SourceFacts {
  const http = stated.flatMap((facts) => facts.http ?? [])
  const collapsed = collapseOperations(uniteOperations(http))
  const discovery: NonNullable<SourceFacts['discovery']> = {}
  const rest: SourceFacts = {}
  // From the last to the first, so that the first wins.
  for (const facts of stated.toReversed()) {
    Object.assign(discovery, facts.discovery)
    Object.assign(rest, facts)
  }
  const ways = Map.groupBy(
    stated.flatMap((facts) => facts.invoke ?? []),
    (entry) => endpointsOf([entry]).join(),
  )
  const invoke = [...ways.values()].flatMap(([way, ...same]) =>
    way === undefined ? [] : [same.reduce(uniteWays, way)],
  )
  const known = stated.find(({ auth = { type: 'unknown' } }) => auth.type !== 'unknown')?.auth
  return {
    ...rest,
    ...(known !== undefined && { auth: known }),
    ...(rest.pricing !== undefined && { pricing: unitePricing(stated, collapsed.pricing) }),
    ...(http.length > 0 && { http: collapsed.http }),
    ...(invoke.length > 0 && { invoke }),
    ...(Object.keys(discovery).length > 0 && { discovery }),
    sources: eachOnce(
      stated.flatMap(({ sources = [] }) => sources),
      ({ source, ref }) => `${source} ${ref}`,
    ),
  }
}

/** The requirements of one entry, from the first source that knows them. */
function uniteWays(way: InvokeEntry, other: InvokeEntry): InvokeEntry {
  return Object.assign({}, other, way)
}

function completeWays(
  chosen: readonly InvokeEntry[],
  stated: readonly InvokeEntry[],
): InvokeEntry[] {
  const byMark = new Map(stated.map((way) => [endpointsOf([way]).join(), way]))
  return chosen.map((own) => {
    const other = byMark.get(endpointsOf([own]).join())
    return other === undefined ? own : uniteWays(own, other)
  })
}

/** Prices of operations are more exact than a catalogue's price for the whole. */
function unitePricing(stated: readonly SourceFacts[], ofOperations: Pricing): Pricing {
  if (ofOperations.model !== 'unknown') return ofOperations
  const reported = stated.flatMap(({ pricing }) => (pricing?.model === 'per_call' ? [pricing] : []))
  const offers = reported.flatMap(({ rails, networks, min_usd, max_usd }) =>
    rails.flatMap((rail) =>
      [undefined, ...networks].map((network): Offer => ({ rail, network, min_usd, max_usd })),
    ),
  )
  return pricingOf(offers)
}

export const PEOPLE = 'people'

/** More than these don't help a buyer choose. */
const MOST_UNITED = 60

/** Endpoints of one service: each address and method once, in a fixed order; `left` did not fit. */
export function collapseOperations(operations: readonly Operation[]) {
  const nameOf = ({ url, method }: Operation) => `${url} ${method}`
  const all = eachOnce(operations, nameOf).sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))
  const http = all.slice(0, MOST_UNITED)
  const calls = offersOf(all.filter(({ price }) => price?.per === 'call'))
  const every = offersOf(all)
  // Where nothing is priced per call, the price of a page or a minute is the least one pays.
  const bounds = pricingOf(calls.length > 0 ? calls : every)
  const places = pricingOf(every)
  const pricing: Pricing =
    bounds.model === 'per_call' && places.model === 'per_call'
      ? { ...bounds, rails: places.rails, networks: places.networks }
      : bounds
  return { http, pricing, left: all.length - http.length }
}

/** One operation for each address and method; a catalogue that knows no method means the known one. */
export function uniteOperations(stated: readonly Operation[]): Operation[] {
  const byAddress = Map.groupBy(stated, ({ url }) => operationMark(url))
  return [...byAddress.values()].flatMap((operations) => {
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

/**
 * The operations that people chose, with additional facts from the sources. People's price wins
 * wherever they named one for the listing.
 */
export function completeOperations(
  chosen: readonly Operation[],
  stated: readonly Operation[],
  isPriced: boolean,
): Operation[] {
  if (stated.length === 0) return [...chosen]
  const byAddress = Map.groupBy(stated, ({ url }) => operationMark(url))
  return chosen.map((own) => {
    const others = (byAddress.get(operationMark(own.url)) ?? []).filter(
      (each) => each.method === own.method || isGuess(each) || isGuess(own),
    )
    if (others.length === 0) return own
    const { price, offers, body, params, ...rest } = uniteOperation([own, ...others])
    const places = placeholdersOf(own.url).sort().join()
    const inPath = (params ?? []).filter((param) => param.in === 'path').map(({ name }) => name)
    const isOwn = isPriced || own.price !== undefined || own.offers !== undefined
    const paid = isOwn ? own : { price, offers }
    return {
      ...rest,
      // Another's names of path parameters would fill in nothing here.
      ...(params !== undefined && inPath.sort().join() === places && { params }),
      ...(body !== undefined && own.method !== 'GET' && { body }),
      ...(paid.price !== undefined && { price: paid.price }),
      ...(paid.offers !== undefined && { offers: paid.offers }),
      method: own.method,
      url: own.url,
    }
  })
}

function isGuess({ assumed = [] }: Operation): boolean {
  return assumed.includes('method')
}

/** All facts of an operation except its key; `assumed` follows from the others. */
const MEMBERS = v
  .keyof(createOperationSchema({ allowPrivate: false }))
  .options.filter((name) => name !== 'method' && name !== 'url' && name !== 'assumed')

function uniteOperation(stated: readonly [Operation, ...Operation[]]): Operation {
  const naming = (field: keyof Operation) => stated.filter((each) => each[field] !== undefined)
  const knowing = (field: keyof Operation) =>
    naming(field).find(({ assumed = [] }) => !assumed.some((guessed) => guessed === field))
  const [{ url, method }] = stated
  const united: Operation = { method: knowing('method')?.method ?? method, url }
  const priced = priceOf(naming('price')[0]?.price, offersOf(stated))
  for (const field of MEMBERS) {
    const isPrice = field === 'price' || field === 'offers'
    const value = isPrice ? priced[field] : (knowing(field) ?? naming(field)[0])?.[field]
    if (value !== undefined) Object.assign(united, { [field]: value })
  }
  const assumed = ASSUMABLE.filter(
    (field) => knowing(field) === undefined && stated.some((each) => each.assumed?.includes(field)),
  )
  return assumed.length === 0 ? united : { ...united, assumed }
}

/** The first source wins for each way to pay; the price covers them all, up to the highest. */
function priceOf(price: Operation['price'], offers: readonly Offer[]) {
  const placeOf = ({ rail, network }: Offer) => `${rail} ${network ?? ''}`
  const sorted = eachOnce(offers, placeOf).sort((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1))
  return price === undefined ? {} : toPrice(sorted, price.per)
}
