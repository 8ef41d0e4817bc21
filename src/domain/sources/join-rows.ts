import * as v from 'valibot'
import type { Auth, InvokeEntry } from '../listing/invoke.ts'
import {
  createOperationSchema,
  type ListingFacts,
  type Operation,
  placeholdersOf,
  type WrittenFacts,
} from '../listing/listing-facts.ts'
import { followMoves } from '../listing/listing-states.ts'
import {
  findOperationFaults,
  type Offer,
  offersOf,
  pricingOf,
  toPrice,
} from '../listing/operation.ts'
import type { Pricing } from '../listing/pricing.ts'
import { eachOnce, isJsonObject, listOf } from '../wire/json.ts'
import { ASSUMABLE } from '../wire/vocabulary.ts'
import { isSellersOwn, type NamedRow, type SourceFacts } from './source-row.ts'

/**
 * Joins a listing field by field: people's facts first, then the sources' in order of precedence. A
 * list that people wrote is complete: sources only fill in its elements. Lists from sources are
 * merged by what identifies their elements. A guess never replaces a known fact.
 *
 * @param stated the sources' facts, in order of precedence
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

/** People state how a caller authenticates; for OAuth a source may add where to sign in. */
function joinAuth(own: Auth, stated: Auth | undefined): Auth {
  if (own.type === 'unknown') return stated ?? own
  if (own.type !== 'oauth' || stated?.type !== 'oauth' || own.sign_in !== undefined) return own
  return { ...own, ...(stated.sign_in !== undefined && { sign_in: stated.sign_in }) }
}

/**
 * If people state a price or operations, the sources' facts about them must fit: no import may
 * invalidate a listing that people wrote.
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

/** Fits sources' operations to a stated price: all lose their offers, and those outside that price lose their own price. */
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

/** The listing's sources; if people name a source themselves, their entry is used. */
function withOthers(own: ListingFacts['sources'], others: ListingFacts['sources']) {
  const named = new Set(own.map(({ source }) => source))
  return [...own, ...others.filter(({ source }) => !named.has(source))]
}

/** The facts of several sources about one service. @param stated in order of precedence */
export function uniteFacts(stated: readonly SourceFacts[]): SourceFacts {
  const http = stated.flatMap((facts) => facts.http ?? [])
  const collapsed = collapseOperations(uniteOperations(http))
  const discovery: NonNullable<SourceFacts['discovery']> = {}
  const rest: SourceFacts = {}
  // From the last source to the first, so that the first wins.
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

/** One entry from two sources: each member comes from the first source that knows it. */
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

/** Operations' prices are more exact than a catalogue's one price for the whole service. */
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

/** The most operations for one service: more don't help a buyer choose. */
const MOST_UNITED = 60

/** A service's operations: each address and method once, in a fixed order; `left` is the number that did not fit. */
export function collapseOperations(operations: readonly Operation[]) {
  const nameOf = ({ url, method }: Operation) => `${url} ${method}`
  const all = eachOnce(operations, nameOf).sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))
  const http = all.slice(0, MOST_UNITED)
  const calls = offersOf(all.filter(({ price }) => price?.per === 'call'))
  const every = offersOf(all)
  // If nothing is priced per call, the lowest price is that of a page or a minute.
  const bounds = pricingOf(calls.length > 0 ? calls : every)
  const places = pricingOf(every)
  const pricing: Pricing =
    bounds.model === 'per_call' && places.model === 'per_call'
      ? { ...bounds, rails: places.rails, networks: places.networks }
      : bounds
  return { http, pricing, left: all.length - http.length }
}

/** One operation per address and method; a catalogue that names no method is taken to mean the known method. */
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
 * The operations that people chose, with more facts from the sources. If people stated a price for
 * the listing, the sources' prices are ignored.
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
      // Another source's names for path parameters would not match this path.
      ...(params !== undefined && inPath.sort().join() === places && { params }),
      ...(body !== undefined && rest.method !== 'GET' && { body }),
      ...(paid.price !== undefined && { price: paid.price }),
      ...(paid.offers !== undefined && { offers: paid.offers }),
    }
  })
}

function isGuess({ assumed = [] }: Operation): boolean {
  return assumed.includes('method')
}

/** All facts of an operation except its key, and except `assumed`, which follows from the others. */
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

/** For each way to pay the first source wins; the price range covers all ways, up to the highest. */
function priceOf(price: Operation['price'], offers: readonly Offer[]) {
  const placeOf = ({ rail, network }: Offer) => `${rail} ${network ?? ''}`
  const sorted = eachOnce(offers, placeOf).sort((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1))
  return price === undefined ? {} : toPrice(sorted, price.per)
}

/** A listing as people wrote it. */
interface Written {
  id: string
  facts: Readonly<Record<string, unknown>>
}

/** A listing, while rows are being placed. */
interface Place {
  id: string
  rows: NamedRow[]
  /** Whether nothing that people wrote identifies its service: then a row finds the listing by id. */
  isWords: boolean
}

/** The listing that a mark identifies, and whether people wrote the mark. */
interface Marked {
  place: Place
  isWritten: boolean
}

/**
 * Finds the listing to which each source row belongs. The result depends only on the files, not on
 * import order.
 *
 * If people or an earlier import placed a row, it stays there. Otherwise a server goes to the
 * listing that names one of its endpoints, or whose sources name all of them; an API or an agent to
 * the listing that shares most of its operations, or else to the one for its origin; a skill to the
 * kit in its folder, or else in the nearest folder around it. A listing with only words takes the
 * row that has its id.
 * @returns `taken`: rows by the id of their listing; `waiting`: rows without a listing
 * @param rows in order of precedence
 * @param moves former ids, each with the current id
 * @param opens whether a row without a listing creates one, as if a reviewer accepted it
 */
export function placeRows(
  listings: readonly Written[],
  rows: readonly NamedRow[],
  { moves, opens = false }: { moves: ReadonlyMap<string, string>; opens?: boolean },
) {
  const places = new Map<string, Place>()
  const byMark = new Map<ListingMark, Marked[]>()
  const byName = new Map<string, Place>()
  for (const { id, facts } of listings) addListing(id, identify(facts))
  const waiting: NamedRow[] = []
  for (const { named, identity } of inTurn(rows)) {
    const place = findPlace(named, identity) ?? (opens ? open(named) : undefined)
    if (place === undefined) waiting.push(named)
    else take(place, named, identity)
  }
  const ranks = new Map(rows.map((row, rank) => [row, rank]))
  const byRank = (a: NamedRow, b: NamedRow) => (ranks.get(a) ?? 0) - (ranks.get(b) ?? 0)
  const taken = [...places.values()].filter((place) => place.rows.length > 0)
  return {
    taken: new Map(taken.map((place) => [place.id, place.rows.sort(byRank)])),
    waiting: waiting.sort(byRank),
  }

  function addListing(id: string, { marks, refs, origin, isComplete }: Identity): void {
    const place = { id, rows: [], isWords: marks.length === 0 }
    places.set(id, place)
    addMarks(place, marks, true)
    for (const ref of refs) addName(`ref ${ref}`, place)
    if (origin !== null) addName(`origin ${origin}`, place)
    if (isComplete) addName(`whole ${origin}`, place)
  }

  function open({ row }: NamedRow): Place | undefined {
    if (places.has(row.id)) return undefined
    const place = { id: row.id, rows: [], isWords: true }
    places.set(row.id, place)
    return place
  }

  function take(place: Place, named: NamedRow, { marks }: Identity): void {
    place.rows.push(named)
    // The marks of a row held for review must not attract other rows.
    if (named.row.held === undefined) addMarks(place, marks, false)
  }

  function addMarks(place: Place, marks: readonly ListingMark[], isWritten: boolean): void {
    for (const mark of marks) {
      const known = byMark.get(mark) ?? []
      if (!known.some((each) => each.place === place))
        byMark.set(mark, [...known, { place, isWritten }])
    }
  }

  function addName(name: string, place: Place): void {
    if (!byName.has(name)) byName.set(name, place)
  }

  function findPlace({ key, row }: NamedRow, identity: Identity): Place | undefined {
    const decided = places.get(followMoves(moves, row.of ?? '') ?? '')
    if (decided !== undefined) return decided
    const own = places.get(followMoves(moves, row.id) ?? row.id)
    const named = own?.isWords === true ? own : undefined
    // No person has read a held row yet, so its claims choose no listing.
    return row.held === undefined ? (findByMarks(key, identity) ?? named) : named
  }

  function findByMarks(
    key: string,
    { kind, marks, around, refs, origin, isComplete }: Identity,
  ): Place | undefined {
    if (kind === 'kit') return findKit([...marks, ...around])
    const known = marks.map((mark) => byMark.get(mark) ?? [])
    // A README list is the source of a hundred servers; an entry that contains the row's key is about this one.
    const entry = refs.find((ref) => ref.includes(encodeURIComponent(key)))
    const named = entry === undefined ? undefined : byName.get(`ref ${entry}`)
    if (kind === 'mcp_server') {
      const isAll = known.length > 0 && known.every(({ length }) => length > 0)
      const written = known.flat().find(({ isWritten }) => isWritten)?.place
      return written ?? named ?? (isAll ? known[0]?.[0]?.place : undefined)
    }
    return (
      named ??
      mostOf(known.flat().map(({ place }) => place)) ??
      byName.get(`whole ${origin}`) ??
      (isComplete ? byName.get(`origin ${origin}`) : undefined)
    )
  }

  /** The kit whose folder is the skill's own, else the kit that people wrote for the nearest folder around it. */
  function findKit([own, ...around]: readonly ListingMark[]): Place | undefined {
    const [first] = own === undefined ? [] : (byMark.get(own) ?? [])
    const written = around.flatMap((mark) => byMark.get(mark) ?? []).find((each) => each.isWritten)
    return (first ?? written)?.place
  }
}

/**
 * The order of placing: rows that name operations or packages come before rows that name a whole
 * host, and a registry's rows before the files of packages that it names.
 */
function inTurn(rows: readonly NamedRow[]) {
  const all = rows.map((named) => ({ named, identity: identify(named.row.facts) }))
  const turnOf = ({ named, identity }: (typeof all)[number]) =>
    isSellersOwn(named) ? 2 : identity.isComplete ? 1 : 0
  return [0, 1, 2].flatMap((turn) => all.filter((each) => turnOf(each) === turn))
}

/** The listing that is named most often; the first if several are named equally often. */
function mostOf(places: readonly Place[]): Place | undefined {
  const counts = new Map<Place, number>()
  for (const place of places) counts.set(place, (counts.get(place) ?? 0) + 1)
  const [most] = [...counts].sort(([, m], [, n]) => n - m)
  return most?.[0]
}

/**
 * A mark that identifies a listing, as comparable text: two listings of one kind that share a
 * package, a remote, an operation or an agent's address are the same service in every source.
 */
type ListingMark = string

/** A file's front matter or a source's facts, by name. */
type Facts = Readonly<Record<string, unknown>>

type Identity = ReturnType<typeof identify>

/** Reads leniently: a listing in a file that `check` would refuse must not be listed a second time. */
function identify(facts: Facts) {
  const { kind, url, http, sources } = facts
  const origin = kind === 'http_api' && typeof url === 'string' ? originOf(url) : null
  return {
    kind,
    marks: marksOf(facts),
    /** Marks of the kits that a skill may be part of, the nearest first. */
    around: kind === 'kit' && typeof url === 'string' ? foldersOf(url).slice(1) : [],
    refs: textsOf(sources, 'ref'),
    /** An API's origin; null for any other kind. */
    origin,
    /** Whether an API names no operation, so that it represents its whole origin. */
    isComplete: origin !== null && textsOf(http, 'url').length === 0,
  }
}

export function marksOf({ kind, url, http, invoke, discovery }: Facts): ListingMark[] {
  const operations = textsOf(http, 'url')
  const own = typeof url === 'string' ? [url] : []
  const isUnnamed = kind === 'http_api' && operations.length === 0
  const agent = kind === 'a2a_agent' ? own.map((address) => `agent ${addressOf(address)}`) : []
  const cards = kind === 'a2a_agent' ? textsOf([discovery], 'agent_card').map(cardMark) : []
  const called = [...operations, ...(isUnnamed ? own : [])].map(operationMark)
  const kit = kind === 'kit' ? own.flatMap((address) => foldersOf(address).slice(0, 1)) : []
  return [...new Set([...called, ...endpointsOf(invoke), ...agent, ...cards, ...kit])]
}

/**
 * A kit's folder in its public repository, whatever branch its address names, and its parent
 * folders, the nearest first: a kit may be all the skills in one folder.
 * @example foldersOf('https://github.com/acme/kits/tree/main/skills/pdf') → ['kit
 *   github.com/acme/kits/skills/pdf', 'kit github.com/acme/kits/skills', …]
 */
function foldersOf(address: string): ListingMark[] {
  const [, repo, path = ''] =
    /^https:\/\/github\.com\/([\w-]+\/[\w.-]+)(?:\/(?:tree|blob)\/[^/]+(?:\/(.+))?)?$/.exec(
      address.replace(/\/(?:SKILL\.md)?$/, ''),
    ) ?? []
  if (repo === undefined) return []
  const names = path.split('/').filter((name) => name !== '')
  const root = `kit github.com/${repo.toLowerCase()}`
  return [...names.keys(), names.length]
    .map((length) => [root, ...names.slice(0, length)].join('/'))
    .reverse()
}

/** The ways to reach an MCP server. */
export function endpointsOf(invoke: unknown): ListingMark[] {
  return listOf(invoke).flatMap((entry) => {
    const [url] = textsOf([entry], 'url')
    if (url !== undefined) return [`remote ${addressOf(url)}${URL.parse(url)?.search ?? ''}`]
    const [registry] = textsOf([entry], 'registry')
    return textsOf([entry], 'identifier').map(
      (identifier) => `package ${registry} ${toPackage(identifier)}`,
    )
  })
}

/** Package names are compared without case, images without their tag. */
function toPackage(identifier: string): string {
  return identifier.toLowerCase().replace(/(?::[\w.-]+)?(?:@sha256:[0-9a-f]+)?$/, '')
}

/** The mark ignores the method: catalogues omit it, and one address is one service. */
function operationMark(url: string): ListingMark {
  return `operation ${addressOf(url)}`
}

/** A card has the same mark under its current and its former well-known name. */
function cardMark(url: string): ListingMark {
  return `card ${addressOf(url).replace(/\/agent\.json$/, '/agent-card.json')}`
}

/**
 * Scheme, host without `www.`, and port: what "the same origin" means across sources.
 * @returns null for text that is not a URL
 */
export function originOf(text: string): string | null {
  const url = URL.parse(text)
  return url === null ? null : `${url.protocol}//${url.host.replace(/^www\./, '')}`
}

/** Host and path; variable names in the path make no difference. */
function addressOf(text: string): string {
  const url = URL.parse(text)
  if (url === null) return text
  const path = url.pathname
    .replace(/\/(?::[A-Za-z_][\w-]*|%7B[^/]*%7D|\{[^/]*\})(?=\/|$)/gi, '/{}')
    .replace(/\/+$/, '')
  return `${url.host.replace(/^www\./, '')}${path}`
}

/** The texts under a name in a list of objects. */
function textsOf(list: unknown, name: string): string[] {
  return listOf(list)
    .filter(isJsonObject)
    .map((row) => row[name])
    .filter((found) => typeof found === 'string')
}
