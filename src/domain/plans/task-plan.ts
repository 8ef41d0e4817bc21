import * as v from 'valibot'
import { type DerivedListing, trustScoreOf } from '../derived/derived-listing.ts'
import { MAX_OFFERS, type OperationEntry, toOffers } from '../kit/found-operations.ts'
import { lowestOf, toKitOperations } from '../kit/kit-entries.ts'
import { findValueFault } from '../listing/json-schema.ts'
import { OfferSchema } from '../listing/listing-facts.ts'
import { isJsonPayload } from '../listing/operation.ts'
import { isAbove, isFree, readUsd, toCostText, toUnitPriceText, toUsd } from '../listing/pricing.ts'
import { toOperationName } from '../probe/finding.ts'
import { type Delivered, isKnownToDeliver } from '../relay/delivered.ts'
import { fitCalls, sizeOf } from '../search/fitted-lists.ts'
import { hostOf, ownerAt, type SharedHosts } from '../sellers/claim-rules.ts'
import { fillRequest, needsNoAccount, takenBy } from '../tasks/filled-request.ts'
import { membersOf, type Task, type TaskRow, toTask } from '../tasks/task.ts'
import { compareText, eachOnce, isJsonObject, memberOf, present, smallestOf } from '../wire/json.ts'
import { callPath, markPath, pagePath, taskPath } from '../wire/links.ts'
import { SELLER_TEXTS, SellerTextsSchema } from '../wire/shapes.ts'
import {
  AUTH_TYPES,
  isTelling,
  isUp,
  KINDS,
  PRICE_UNITS,
  type Rail,
  runsLocallyOnly,
} from '../wire/vocabulary.ts'

export const MAX_PLAN_ROWS = 5
export const PLAN_ROWS = 3

/** Sellers for one task and one input, in the order in which to call them. */
export const TaskPlanSchema = v.object({
  task: v.string(),
  /** The number of sellers that fit; `rows` has the first of them. */
  total: v.number(),
  rows: v.array(
    v.object({
      seller: v.object({
        id: v.string(),
        /** Left out if an answer is short of room. */
        name: v.optional(v.string()),
        /** The address's registrable domain, if it differs from the host. */
        operator: v.optional(v.string()),
        trust: v.optional(v.number()),
      }),
      request: v.object({
        method: v.string(),
        url: v.string(),
        /** An answer short of room omits `Content-Type: application/json`, the default for a body. */
        headers: v.optional(v.record(v.string(), v.string())),
        body: v.optional(v.unknown()),
      }),
      /** The address for the same request through the relay. */
      relay_url: v.optional(v.string()),
      /** Lowest price of a call in US dollars; 0 if free, null if only the seller's 402 shows the price. */
      usd: v.nullable(v.number()),
      /** The unit of the price, if it is not one call. */
      per: v.optional(v.string()),
      /** Left out if an answer is short of room. */
      offers: v.optional(v.array(v.partial(OfferSchema, ['min_usd', 'max_usd']))),
      /** Where in the answer each member of the task's output is. */
      output: v.record(v.string(), v.string()),
      /** Members of the input that this seller's request has no place for. */
      ignores: v.optional(v.array(v.string())),
      digest: v.string(),
    }),
  ),
  notes: v.array(v.string()),
  texts: SellerTextsSchema,
})
export type TaskPlan = v.InferOutput<typeof TaskPlanSchema>
type PlanRow = TaskPlan['rows'][number]

export interface PlanQuestion {
  input: Readonly<Record<string, unknown>>
  max_price_usd?: number | undefined
  rail?: Rail | undefined
  network?: string | undefined
  limit: number
}

/**
 * Up to `limit` interchangeable sellers of a task, each once: those that take all of the input first, then those known
 * to deliver, then the cheapest. An operator's second seller comes after the first sellers of all operators.
 */
export function planTask(
  task: Task,
  sellers: readonly TaskSeller[],
  requested: PlanQuestion,
  baseUrl: string,
): TaskPlan {
  const fitting = sellers
    .map((seller) => toCandidate(seller, requested))
    .filter((candidate) => candidate !== null)
    .sort(compareCandidates)
  const once = eachOnce(fitting, ({ seller }) => seller.seller.id)
  const none =
    sellers.length === 0
      ? 'No listing here is known to take this task’s input.'
      : 'No seller of this task takes this input within this price, rail and network.'
  const rows = oneOfEachFirst(once)
    .slice(0, requested.limit)
    .map((each) => toRow(each, requested.input, baseUrl))
  const plan: TaskPlan = {
    task: task.id,
    total: once.length,
    rows: [],
    notes: once.length === 0 ? [none] : [],
    texts: SELLER_TEXTS,
  }
  return {
    ...plan,
    rows: fitCalls(rows, sizeOf(plan), () => [withoutName, withoutJsonHeader, withoutOffers]),
  }
}

/** One operator's listings are one choice: if one of them fails, a second is likely to fail too. */
function oneOfEachFirst(candidates: readonly Candidate[]): Candidate[] {
  const groups = Map.groupBy(candidates, ({ seller }) => seller.seller.operator)
  const firsts = new Set([...groups.values()].map(([first]) => first))
  return [...firsts, ...candidates.filter((each) => !firsts.has(each))].filter(
    (each) => each !== undefined,
  )
}

function withoutName({ seller: { name: _, ...seller }, ...row }: PlanRow): PlanRow {
  return { seller, ...row }
}

/** A body is JSON unless its header names another type. */
function withoutJsonHeader(row: PlanRow): PlanRow {
  const { headers, ...request } = row.request
  const isJson = Object.entries(headers ?? {}).every(
    ([name, value]) => name === 'Content-Type' && value === 'application/json',
  )
  return isJson ? { ...row, request } : row
}

/** Leaves out the offers, because the seller's own 402 repeats them. */
function withoutOffers({ offers: _, ...row }: PlanRow): PlanRow {
  return row
}

interface Candidate {
  seller: TaskSeller
  /** Lowest price on the requested rails. */
  usd: number | null
  offers: NonNullable<TaskSeller['offers']>
  ignores: string[]
}

function toCandidate(seller: TaskSeller, requested: PlanQuestion): Candidate | null {
  const { rail, network, max_price_usd, input } = requested
  const offers = (seller.offers ?? []).filter(
    (offer) =>
      (rail === undefined || offer.rail === rail) &&
      (network === undefined || offer.network === network),
  )
  if (seller.usd !== 0 && (rail ?? network) !== undefined && offers.length === 0) return null
  const usd = offers.length > 0 ? smallestOf(offers.map(({ min_usd }) => min_usd)) : seller.usd
  if (max_price_usd !== undefined && (usd === null || usd > max_price_usd)) return null
  const isTaken = Object.entries(seller.accepts ?? {}).every(([member, rules]) => {
    const value = memberOf(input, member)
    return value === undefined || findValueFault(rules, value) === null
  })
  if (!isTaken) return null
  const taken = takenBy(seller)
  return { seller, usd, offers, ignores: Object.keys(input).filter((name) => !taken.has(name)) }
}

/** A plan's order: the first key that distinguishes two sellers decides. */
const compareCandidates = inOrder<Candidate>([
  (a, b) => leftOut(a) - leftOut(b),
  (a, b) => knownToDeliver(b) - knownToDeliver(a),
  (a, b) => (a.usd ?? Number.POSITIVE_INFINITY) - (b.usd ?? Number.POSITIVE_INFINITY) || 0,
  (a, b) => (b.seller.seller.trust ?? -1) - (a.seller.seller.trust ?? -1),
  (a, b) =>
    `${a.seller.seller.id} ${a.seller.url}` < `${b.seller.seller.id} ${b.seller.url}` ? -1 : 1,
])

/** How many of the task's defining members a seller ignores. A maximum number of results is only a wish. */
function leftOut({ ignores }: Candidate): number {
  return ignores.filter((name) => !name.startsWith('max_')).length
}

/** 1 if enough paid calls were made and nearly all delivered, -1 if fewer than half were delivered; else 0. */
function knownToDeliver({ seller }: Candidate): number {
  const [good, all] = seller.delivered ?? [0, 0]
  if (isKnownToDeliver(good, all)) return 1
  return good * 2 < all ? -1 : 0
}

function toRow(
  { seller, usd, offers, ignores }: Candidate,
  input: Readonly<Record<string, unknown>>,
  baseUrl: string,
): PlanRow {
  const { id, name, operator, trust } = seller.seller
  const request = fillRequest(seller, input)
  return {
    seller: {
      ...{ id, name },
      ...(operator !== new URL(request.url).hostname && { operator }),
      ...(trust !== null && { trust }),
    },
    request,
    ...(seller.relayed && { relay_url: toRelayUrl(baseUrl, id, request.url) }),
    usd,
    ...(seller.price !== undefined && seller.price.per !== 'call' && { per: seller.price.per }),
    ...(offers.length > 0 && {
      offers: toOffers(offers.slice(0, MAX_OFFERS), { min_usd: usd, max_usd: usd }),
    }),
    output: seller.result,
    ...(ignores.length > 0 && { ignores }),
    digest: seller.digest,
  }
}

/** The path and query become one parameter of the relay, so that no part of them is taken for another parameter. */
function toRelayUrl(baseUrl: string, id: string, url: string): string {
  const { pathname, search } = new URL(url)
  return `${baseUrl}${callPath(id)}?endpoint=${encodeURIComponent(`${pathname}${search}`)}`
}

/** A listing that does a task, with its best operation for the task and a request that can be sent. */
const TaskOfferSchema = v.object({
  listing: v.object({
    id: v.string(),
    name: v.string(),
    kind: v.picklist(KINDS),
    page: v.string(),
    mark: v.optional(v.string()),
  }),
  /** What callers need: `none` and `payment` need no account. */
  auth: v.picklist(AUTH_TYPES),
  /** Present if the service runs on the caller's machine. */
  is_local: v.optional(v.literal(true)),
  /** `GET https://…` or a tool's name; for a whole server, its address or command. */
  operation: v.string(),
  /** US dollars per unit: the listed price, or the price that a probe saw last if that is higher; 0 is free, null unknown. */
  usd: v.nullable(v.number()),
  /** The price in words; the listing's, if the operation has no price of its own. */
  price: v.string(),
  /** The unit of the price, if it is not one call. */
  per: v.optional(v.picklist(PRICE_UNITS)),
  /** The name of an id that a caller must know before, such as that of a mailbox. */
  needs: v.optional(v.string()),
  /** The answer's outer fields, or its media type. */
  returns: v.optional(v.string()),
  /** When the service itself, and not a proxy, answered our last probe, and how fast. */
  answered: v.optional(v.object({ at: v.string(), ms: v.optional(v.number()) })),
  /** The last accepted payment, and the number of such payments in the 30 days before `as_of`. */
  paid: v.optional(v.object({ at: v.string(), settlements_30d: v.number(), as_of: v.string() })),
  /** The request, filled with the task's example if the operation is mapped to the task, else with the seller's own example. */
  request: v.optional(
    v.object({
      method: v.optional(v.string()),
      url: v.optional(v.string()),
      headers: v.optional(v.record(v.string(), v.string())),
      body: v.optional(v.unknown()),
      /** Arguments of a tool. */
      arguments: v.optional(v.unknown()),
      /** The command that starts a local server. */
      command: v.optional(v.string()),
    }),
  ),
  /** The address for the same request through the relay. */
  relay_url: v.optional(v.string()),
  /** Present if a plan for the task can use this offer. */
  planned: v.optional(v.literal(true)),
  digest: v.string(),
})
export type TaskOffer = v.InferOutput<typeof TaskOfferSchema>

/** An offer with its task. */
export interface OfferOfTask {
  task: string
  offer: TaskOffer
}

/** Tasks that a listing does as a whole, or by one of its operations or tools. */
export function tasksOf({ facts, surface }: Pick<DerivedListing, 'facts' | 'surface'>): string[] {
  const done = [...surface.operations, ...surface.tools].flatMap(({ task }) => task ?? [])
  return [...new Set([...(facts.tasks ?? []), ...done])]
}

/** One offer for each task that a listing does; our own listings make no offers. */
export function toTaskOffers(
  listing: DerivedListing,
  entries: readonly OperationEntry[],
  { tasks, baseUrl }: { tasks: readonly TaskRow[]; baseUrl: string },
): OfferOfTask[] {
  if (listing.facts.first_party) return []
  // A server or an agent without an operation for the task has one entry for itself, which has no name.
  const [whole] = entries.filter(({ found }) => found.operation.name === undefined)
  return tasksOf(listing).flatMap((id) => {
    const row = tasks.find((each) => each.id === id)
    const doing = entries.filter(({ task }) => task === id)
    if (row === undefined) return []
    const [first] = (doing.length > 0 ? doing : [whole ?? []].flat())
      .toSorted((a, b) => likenessOf(b, row) - likenessOf(a, row))
      .map((entry) => ({ entry, offer: toTaskOffer(listing, entry, row, baseUrl) }))
      .sort(createOperationOrder(row))
    const offer = first?.offer
    const isPlanned = mappedOf(listing).some(({ task }) => task === id)
    return offer === undefined
      ? []
      : [{ task: id, offer: { ...offer, ...(isPlanned && { planned: true as const }) } }]
  })
}

function toTaskOffer(
  listing: DerivedListing,
  entry: OperationEntry,
  row: TaskRow,
  baseUrl: string,
): TaskOffer {
  const { id, facts, mark } = listing
  const { found } = entry
  const { name, method, price, output, relay_url } = found.operation
  const { url = '', command, package: bundle } = found.operation
  const request = toRequest(listing, found, row)
  return {
    listing: {
      ...{ id, name: facts.name, kind: facts.kind, page: pagePath(id) },
      ...(mark !== null && { mark: markPath(mark) }),
    },
    auth: facts.auth.type,
    ...(runsLocallyOnly(facts) && { is_local: true as const }),
    operation: name ?? [method ?? [], url || command || (bundle ?? [])].flat().join(' '),
    ...toOfferPrice(listing, entry),
    ...(price !== undefined && price.per !== 'call' && { per: price.per }),
    ...present({
      needs: neededId(entry),
      returns: typeof output === 'string' ? output : undefined,
    }),
    ...toLastSeen(listing),
    ...(request !== undefined && { request }),
    ...(relay_url !== undefined &&
      request?.url !== undefined && { relay_url: toRelayUrl(baseUrl, id, request.url) }),
    digest: listing.digest,
  }
}

type Found = OperationEntry['found']

/** The words between the price that a probe saw and the lower price that the listing states. */
export const LISTED_AT = ', listed at '

/**
 * The price per unit, as a number and in words: the listed price, or the price that a probe saw
 * last if that is higher.
 */
function toOfferPrice(
  { facts, surface, evidence }: DerivedListing,
  { found, minUsd }: OperationEntry,
): Pick<TaskOffer, 'usd' | 'price'> {
  const { method, url, price } = found.operation
  const usd = minUsd ?? (isFree(facts) ? 0 : null)
  if (usd === null || (usd === 0 && facts.pricing.model === 'unknown'))
    return { usd, price: toCostText(facts) }
  const listed = toUnitPriceText({ min_usd: usd, max_usd: usd, per: price?.per ?? 'call' })
  const own = surface.operations.find((each) => each.method === method && each.url === url)
  const name = method && toOperationName({ method, url: url ?? '' })
  // The newest change of its price comes first; it is written in US dollars: `$0.02`.
  const { is } = evidence.drift?.find((row) => row.what === 'price' && row.name === name) ?? {}
  const last = own?.seen?.min_usd ?? (is === undefined ? undefined : readUsd(is))
  return last !== undefined && isAbove({ usd: last, price })
    ? { usd: last, price: `${toUsd(last)}${LISTED_AT}${listed}` }
    : { usd, price: listed }
}

function toRequest(
  { surface }: DerivedListing,
  { operation }: Found,
  row: TaskRow,
): TaskOffer['request'] {
  const { name, method, url, command, example = {} } = operation
  if (method === undefined)
    return name === undefined ? undefined : present({ url, command, arguments: example.arguments })
  const task = toTask(row)
  const mapped = surface.operations.find(
    (each) => each.method === method && each.url === url && each.map !== undefined,
  )
  if (task !== null && mapped !== undefined) return fillRequest(mapped, task.example)
  const { url: shown = url, body } = example
  const type = mapped?.body?.content_type ?? 'application/json'
  const headers = { ...example.headers, ...(body !== undefined && { 'Content-Type': type }) }
  return present({
    ...{ method, url: shown, body },
    headers: Object.keys(headers).length > 0 ? headers : undefined,
  })
}

function toLastSeen({ probes, trust }: DerivedListing): Pick<TaskOffer, 'answered' | 'paid'> {
  const newest = probes.filter(isTelling).toSorted((a, b) => (a.at < b.at ? 1 : -1))[0]
  const last = newest !== undefined && isUp(newest) ? newest : undefined
  const measured = trust.evidence === 'no_payment_data' ? undefined : trust.measured
  const { last_settlement_at: at, settlements_30d, as_of } = measured ?? {}
  const isPaid = trust.evidence === 'verified_non_wash_payments' && at && settlements_30d && as_of
  return {
    ...(last !== undefined && { answered: { at: last.at, ...present({ ms: last.ms }) } }),
    ...(isPaid && { paid: { at, settlements_30d: Math.round(settlements_30d), as_of } }),
  }
}

/**
 * Free offers first, then by price per call, then other units and calls that follow another, then unknown
 * prices; among equals, offers that need no account, then those that answered most recently, then by id.
 */
const compareTaskOffers = inOrder<TaskOffer>([
  (a, b) => groupOf(a) - groupOf(b),
  (a, b) => (a.usd ?? 0) - (b.usd ?? 0),
  (a, b) => Number(needsNoAccount({ type: b.auth })) - Number(needsNoAccount({ type: a.auth })),
  (a, b) => Number(a.is_local === true) - Number(b.is_local === true),
  (a, b) => compareText(b.answered?.at.slice(0, 10) ?? '', a.answered?.at.slice(0, 10) ?? ''),
  (a, b) => compareText(a.listing.id, b.listing.id),
])

/** Tasks that are themselves a purchase. */
const BUYING = /^(?:buy|order|rent)\b/i

/**
 * Order of the operations that may represent a listing: one mapped to the task, because it surely does the task; then
 * one that does not buy or book and needs no id, because those are later steps, unless the task itself is to buy.
 * Among those left, the cheapest; then the tool whose name is most like the task's: the entries are already in that
 * order.
 */
function createOperationOrder({ name }: TaskRow) {
  const payingRank = BUYING.test(name) ? -1 : 1
  const stepOf = ({ entry }: { entry: OperationEntry }) =>
    (entry.found.operation.effect === 'pay' ? payingRank : 0) +
    Number(neededId(entry) !== undefined)
  return inOrder<{ entry: OperationEntry; offer: TaskOffer }>([
    (a, b) => Number(b.entry.isMapped) - Number(a.entry.isMapped),
    (a, b) => stepOf(a) - stepOf(b),
    (a, b) => compareTaskOffers(a.offer, b.offer),
  ])
}

const UNDOING = /^(?:archive|cancel|clear|close|deactivate|delete|disable|kill|remove|stop)$/

/**
 * The share of a tool name's words that are in the task's name, or half as much in what people call the task;
 * negative for a tool that undoes something.
 */
function likenessOf({ found, names: [name = ''] }: OperationEntry, row: TaskRow): number {
  const own = found.operation.method === undefined ? wordsOf(name) : []
  if (own.some((word) => UNDOING.test(word))) return -1
  const known = [...wordsOf(row.id), ...wordsOf(row.name).filter((word) => word.length > 2)]
  const called = row.words.flatMap(wordsOf)
  const scores = own.map((word) => (known.includes(word) ? 1 : called.includes(word) ? 0.5 : 0))
  return scores.reduce<number>((sum, score) => sum + score, 0) / (own.length || 1)
}

function wordsOf(text: string): string[] {
  const words = text.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase()
  return words.split(/[^a-z\d]+/).map((word) => word.replace(/s$/, ''))
}

const ID = /(?:^id|_id|[a-z]I[dD])$/
const PLACEHOLDER = /<|%3C|\{\w/i

/** The first required input of a paid call that is an id, if the call's example has no value for it. */
function neededId({ found }: OperationEntry): string | undefined {
  const { input = {}, example } = found.operation
  const isFilled = example !== undefined && !PLACEHOLDER.test(JSON.stringify(example))
  if (isFilled || found.listing.auth !== 'payment') return undefined
  return Object.keys(input).find((name) => ID.test(name))
}

/** The first rule that distinguishes two items decides their order. */
function inOrder<Item>(rules: readonly ((a: Item, b: Item) => number)[]) {
  return (a: Item, b: Item): number => {
    for (const compare of rules) {
      const order = compare(a, b)
      if (order !== 0) return order
    }
    return 0
  }
}

function groupOf({ usd, per, needs }: TaskOffer): number {
  if (usd === null) return 2
  return usd > 0 && (per ?? needs) !== undefined ? 1 : 0
}

const schema = v.record(v.string(), v.unknown())

/** A task as an answer shows it. */
const TaskViewSchema = v.object({
  id: v.string(),
  name: v.string(),
  /** Words that people use for the task; `|` separates words that mean the same. */
  words: v.array(v.string()),
  page: v.string(),
  /** Number of listings that do the task. */
  sellers: v.number(),
  /** Lowest known price of one call in US dollars, 0 if free; null if none is known. */
  min_usd: v.nullable(v.number()),
  /** The task's contract: JSON Schemas for its input and output; absent until somebody has written it. */
  input: v.optional(schema),
  output: v.optional(schema),
  example: v.optional(v.record(v.string(), v.unknown())),
  /** The plan's address, with the input's members as parameters. */
  plan: v.optional(v.string()),
})
export type TaskView = v.InferOutput<typeof TaskViewSchema>

/** `GET /api/v1/tasks`. */
export const TasksSchema = v.object({ tasks: v.array(TaskViewSchema) })

/** `GET /api/v1/tasks/<id>`: a task with everybody who does it, free offers first, then by price. */
export const TaskPageSchema = v.object({
  ...TaskViewSchema.entries,
  offers: v.array(TaskOfferSchema),
})
export type TaskPage = v.InferOutput<typeof TaskPageSchema>

/** @param all all offers, for every task */
export function toTaskPages(rows: readonly TaskRow[], all: readonly OfferOfTask[]): TaskPage[] {
  const byTask = Map.groupBy(all, ({ task }) => task)
  return rows.map((row) => {
    const { id, name, words, input, output, example } = row
    const offers = (byTask.get(id) ?? []).map(({ offer }) => offer).sort(compareTaskOffers)
    const [first] = offers
    return {
      ...{ id, name, words, page: taskPath(id), sellers: offers.length },
      min_usd: first?.per === undefined ? (first?.usd ?? null) : null,
      ...present({ input, plan: input && planPath(id), output, example }),
      offers,
    }
  })
}

function planPath(id: string): string {
  return `/api/v1/tasks/${id}/plan`
}

/** One operation that does a task, as a plan needs it: a row in the release. */
export type TaskSeller = ReturnType<typeof toTaskSellers>[number]

/** The operation's deliveries if known, else the listing's. */
function toShare(delivered: Delivered | undefined, method: string, url: string) {
  const own = delivered?.operations.find((each) => each.method === method && each.url === url)
  const known = own ?? delivered
  return known && ([known.delivered, known.paid_calls] satisfies [number, number])
}

/** Schema rules that a value allowed by the task may break. */
const RULES = ['enum', 'minimum', 'maximum', 'minLength', 'maxLength', 'pattern']

/** A listing's operations that do a task and need no account: a plan's sellers. */
export function toTaskSellers(
  listing: DerivedListing,
  { tasks, sharedHosts }: { tasks: readonly TaskRow[]; sharedHosts: SharedHosts },
) {
  const { id, facts, trust, buy } = listing
  const mapped = mappedOf(listing)
  if (mapped.length === 0) return []
  const shown = new Map(
    toKitOperations(listing, buy.buy === 'relay_x402' ? '/' : null).map((each) => [
      `${each.method} ${each.url}`,
      each,
    ]),
  )
  return mapped.flatMap((operation) => {
    const { method, url, map, send, params, body, response } = operation
    const row = tasks.find((each) => each.id === operation.task)
    const task = row === undefined ? null : toTask(row)
    const known = shown.get(`${method} ${url}`)
    if (map === undefined || task === null || known === undefined) return []
    const accepts = toAccepted(operation, task)
    const operator = ownerAt(hostOf(url) ?? '', sharedHosts)
    return [
      {
        task: task.id,
        // `operator` is the registrable domain of the called address.
        seller: { id, name: facts.name, operator, trust: trustScoreOf(trust) },
        ...{ method, url, map, result: known.result ?? {}, digest: listing.digest },
        // The lowest price of one call in US dollars: 0 for free; null if unknown.
        usd: facts.auth.type === 'none' ? 0 : lowestOf(known),
        // Whether the relay can call this operation.
        relayed: known.relay_url !== undefined,
        ...present({
          params: params?.map(({ name, in: place }) => ({ name, in: place })),
          // Paid calls answered as declared, and all paid calls; absent if nothing is known.
          delivered: toShare(listing.delivered, method, url),
          body: body && { content_type: body.content_type },
          send,
          // The values of an input member that this seller accepts, if it accepts fewer than the task has.
          accepts: Object.keys(accepts).length > 0 ? accepts : undefined,
          price: known.price,
          offers: known.offers,
        }),
        // The answer is not JSON: in a map, `@` means its whole text.
        ...(response !== undefined && !isJsonPayload(response) && { is_text: true as const }),
      },
    ]
  })
}

/** The operations that a plan may call: mapped to a task and usable without an account. */
function mappedOf({ facts }: Pick<DerivedListing, 'facts'>) {
  const isOpen = needsNoAccount(facts.auth) && !facts.first_party
  return isOpen ? facts.http.filter(({ map }) => map !== undefined) : []
}

type Mapped = Pick<NonNullable<DerivedListing['facts']['http']>[number], 'map' | 'params' | 'body'>

function toAccepted({ map = {}, params = [], body }: Mapped, { input }: Task) {
  const rows = membersOf(input).flatMap((member) => {
    const destination = memberOf(map, member)
    if (typeof destination !== 'string') return []
    const param = params.find(({ name }) => name === destination)
    const schema = param?.schema ?? memberOf(memberOf(body?.schema, 'properties'), destination)
    if (!isJsonObject(schema)) return []
    const rules = Object.entries(schema).filter(([name]) => RULES.includes(name))
    return rules.length === 0 ? [] : [[member, Object.fromEntries(rules)] as const]
  })
  return Object.fromEntries(rows)
}
