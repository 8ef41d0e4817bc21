import * as v from 'valibot'
import { findValueFault } from '../json-schema/value-fault.ts'
import { MAX_OFFERS } from '../kit/found-operation.ts'
import { OfferSchema } from '../listing/operation.ts'
import { isKnownToDeliver } from '../receipts/delivered.ts'
import { fitCalls, sizeOf } from '../search/fitted-lists.ts'
import { fillRequest, takenBy } from '../tasks/filled-request.ts'
import { membersOf, type Task } from '../tasks/task.ts'
import { smallestOf } from '../wire/extremes.ts'
import { callPath } from '../wire/links.ts'
import { memberOf } from '../wire/parse-json.ts'
import { SELLER_TEXTS, SellerTextsSchema } from '../wire/seller-texts.ts'
import type { Rail } from '../wire/vocabulary.ts'
import type { TaskSeller } from './task-seller.ts'

export const MAX_PLAN_ROWS = 5
export const PLAN_ROWS = 3

/** Sellers of one task for one input, in the order to ask them. */
export const TaskPlanSchema = v.object({
  task: v.string(),
  /** The number of sellers that fit; the rows are the first of them. */
  total: v.number(),
  rows: v.array(
    v.object({
      seller: v.object({
        id: v.string(),
        /** Omitted from an answer that is full. */
        name: v.optional(v.string()),
        /** The registrable domain of the address, where that is not its whole host. */
        operator: v.optional(v.string()),
        trust: v.optional(v.number()),
      }),
      request: v.object({
        method: v.string(),
        url: v.string(),
        /** A full answer omits `Content-Type: application/json`, the default for a body. */
        headers: v.optional(v.record(v.string(), v.string())),
        body: v.optional(v.unknown()),
      }),
      /** The request goes to this address instead, through the relay. */
      relay_url: v.optional(v.string()),
      /** Lowest price of a call in US dollars; 0 is free, null: only the seller's 402 knows. */
      usd: v.nullable(v.number()),
      /** The unit of the price, where that is not one call. */
      per: v.optional(v.string()),
      /** Omitted from an answer that is full. */
      offers: v.optional(v.array(v.partial(OfferSchema, ['min_usd', 'max_usd']))),
      /** Where each member of the task's output is in the answer. */
      output: v.record(v.string(), v.string()),
      /** Members of the input that this seller has no place for. */
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
 * Up to `limit` interchangeable sellers of a task, each once and one of each operator first: those
 * that take all of the input, then the cheapest of those known to deliver.
 */
export function planTask(
  task: Task,
  sellers: readonly TaskSeller[],
  asked: PlanQuestion,
  baseUrl: string,
): TaskPlan {
  const fitting = sellers
    .map((seller) => toCandidate(seller, asked))
    .filter((candidate) => candidate !== null)
    .sort(compareCandidates)
  const once = [
    ...new Map(fitting.toReversed().map((each) => [each.seller.seller.id, each])).values(),
  ].sort(compareCandidates)
  const isFiltered = once.length === 0 && sellers.length > 0
  const rows = oneOfEachFirst(once)
    .slice(0, asked.limit)
    .map((each) => toRow(each, task, asked.input, baseUrl))
  const plan: TaskPlan = {
    task: task.id,
    total: once.length,
    rows: [],
    notes: isFiltered
      ? ['No seller of this task takes this input within this price, rail and network.']
      : [],
    texts: SELLER_TEXTS,
  }
  return {
    ...plan,
    rows: fitCalls(rows, sizeOf(plan), () => [withoutName, withoutJsonHeader, withoutOffers]),
  }
}

/** Listings of one operator are one choice: a second one does not help after the first has failed. */
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

/** A body is sent as JSON unless its header says otherwise. */
function withoutJsonHeader(row: PlanRow): PlanRow {
  const { headers, ...request } = row.request
  const isJson = Object.entries(headers ?? {}).every(
    ([name, value]) => name === 'Content-Type' && value === 'application/json',
  )
  return isJson ? { ...row, request } : row
}

/** The seller's own 402 names them. */
function withoutOffers({ offers: _, ...row }: PlanRow): PlanRow {
  return row
}

interface Candidate {
  seller: TaskSeller
  /** Lowest price among the requested rails. */
  usd: number | null
  offers: NonNullable<TaskSeller['offers']>
  ignores: string[]
}

function toCandidate(seller: TaskSeller, asked: PlanQuestion): Candidate | null {
  const { rail, network, max_price_usd, input } = asked
  const offers = (seller.offers ?? []).filter(
    (offer) =>
      (rail === undefined || offer.rail === rail) &&
      (network === undefined || offer.network === network),
  )
  const isFree = seller.usd === 0
  if (!isFree && (rail ?? network) !== undefined && offers.length === 0) return null
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

/** The order of a plan, key by key: the first that distinguishes two sellers decides. */
const ORDER: readonly ((a: Candidate, b: Candidate) => number)[] = [
  (a, b) => leftOut(a) - leftOut(b),
  (a, b) => knownToDeliver(b) - knownToDeliver(a),
  (a, b) => (a.usd ?? Number.POSITIVE_INFINITY) - (b.usd ?? Number.POSITIVE_INFINITY) || 0,
  (a, b) => (b.seller.seller.trust ?? -1) - (a.seller.seller.trust ?? -1),
  (a, b) =>
    `${a.seller.seller.id} ${a.seller.url}` < `${b.seller.seller.id} ${b.seller.url}` ? -1 : 1,
]

function compareCandidates(a: Candidate, b: Candidate): number {
  for (const compare of ORDER) {
    const order = compare(a, b)
    if (order !== 0 && !Number.isNaN(order)) return order
  }
  return 0
}

/** Members without which it is another deed. The maximum number of results is only a wish. */
function leftOut({ ignores }: Candidate): number {
  return ignores.filter((name) => !name.startsWith('max_')).length
}

/** 1 where enough paid calls were made and nearly all delivered, -1 where fewer than half did; else 0. */
function knownToDeliver({ seller }: Candidate): number {
  const [good, all] = seller.delivered ?? [0, 0]
  if (isKnownToDeliver(good, all)) return 1
  return good * 2 < all ? -1 : 0
}

function toRow(
  { seller, usd, offers, ignores }: Candidate,
  { output }: Task,
  input: Readonly<Record<string, unknown>>,
  baseUrl: string,
): PlanRow {
  const { id, name, operator, trust } = seller.seller
  const request = fillRequest(seller, input)
  const members = membersOf(output).flatMap((member) => {
    const path = memberOf(seller.map, member)
    return typeof path === 'string' ? [[member, path] as const] : []
  })
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
    ...(offers.length > 0 && { offers: offers.slice(0, MAX_OFFERS).map((o) => toOffer(o, usd)) }),
    output: Object.fromEntries(members),
    ...(ignores.length > 0 && { ignores }),
    digest: seller.digest,
  }
}

/** Without prices where the row has them. */
function toOffer(
  { min_usd, max_usd, ...rest }: NonNullable<TaskSeller['offers']>[number],
  usd: number | null,
) {
  return min_usd === usd && max_usd === usd ? rest : { ...rest, min_usd, max_usd }
}

/** The path and query as the relay's own parameter: nothing in it is mistaken for the relay's. */
export function toRelayUrl(baseUrl: string, id: string, url: string): string {
  const { pathname, search } = new URL(url)
  return `${baseUrl}${callPath(id)}?endpoint=${encodeURIComponent(`${pathname}${search}`)}`
}
