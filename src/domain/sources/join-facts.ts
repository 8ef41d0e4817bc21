import type { Auth } from '../listing/auth.ts'
import type { InvokeEntry } from '../listing/invoke.ts'
import type { ListingFacts, Operation, WrittenFacts } from '../listing/listing-facts.ts'
import { type Offer, pricingOf } from '../listing/offers.ts'
import type { Pricing } from '../listing/pricing.ts'
import { findOperationFaults } from '../operation/operation-faults.ts'
import { eachOnce } from '../wire/json.ts'
import { endpointsOf } from './listing-marks.ts'
import { SOURCE_FIELDS, type SourceFacts, type SourceField } from './source-row.ts'
import { collapseOperations, completeOperations, uniteOperations } from './unite-operations.ts'

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

/** The origin of a fact: people, or importers by id, the winning one first. */
export type Origins = Partial<Record<SourceField, readonly string[]>>

export const PEOPLE = 'people'

/** Facts that add up, so that each source may contribute some of them. */
const UNITED: ReadonlySet<SourceField> = new Set(['http', 'invoke', 'discovery', 'sources'])

/** @param stated in the order of precedence */
export function toOrigins(
  written: WrittenFacts,
  stated: readonly { importer: string; facts: SourceFacts }[],
): Origins {
  const all = [{ importer: PEOPLE, facts: written }, ...stated]
  const named = SOURCE_FIELDS.flatMap((field) => {
    const sayers = all.filter(({ facts }) => says(facts[field])).map(({ importer }) => importer)
    const each = [...new Set(sayers)]
    return each.length === 0 ? [] : [[field, UNITED.has(field) ? each : each.slice(0, 1)] as const]
  })
  return Object.fromEntries(named)
}

/** Nothing, an empty list and "unknown" are not facts. */
function says(value: unknown): boolean {
  if (value === undefined || value === null) return false
  if (Array.isArray(value)) return value.length > 0
  if (typeof value !== 'object') return true
  const [kind] = Object.values(value)
  return kind !== undefined && kind !== 'unknown'
}
