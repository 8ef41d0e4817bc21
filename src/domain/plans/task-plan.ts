import * as v from 'valibot'
import { type DerivedListing, trustScoreOf } from '../derived/derived-listing.ts'
import { MAX_OFFERS, toOffers } from '../kit/found-operations.ts'
import { lowestOf, toKitOperations } from '../kit/kit-entries.ts'
import { findValueFault } from '../listing/json-schema.ts'
import { OfferSchema } from '../listing/listing-facts.ts'
import { isJsonPayload } from '../listing/operation.ts'
import { type Delivered, isKnownToDeliver } from '../relay/delivered.ts'
import { fitCalls, sizeOf } from '../search/fitted-lists.ts'
import { hostOf, ownerAt, type SharedHosts } from '../sellers/claim-rules.ts'
import { fillRequest, needsNoAccount, takenBy } from '../tasks/filled-request.ts'
import { membersOf, type Task, type TaskRow, toTask } from '../tasks/task.ts'
import { eachOnce, inOrder, isJsonObject, memberOf, present, smallestOf } from '../wire/json.ts'
import { callPath } from '../wire/links.ts'
import { SELLER_TEXTS, SellerTextsSchema } from '../wire/shapes.ts'
import type { Rail } from '../wire/vocabulary.ts'

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
export function toRelayUrl(baseUrl: string, id: string, url: string): string {
  const { pathname, search } = new URL(url)
  return `${baseUrl}${callPath(id)}?endpoint=${encodeURIComponent(`${pathname}${search}`)}`
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
export function mappedOf({ facts }: Pick<DerivedListing, 'facts'>) {
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
