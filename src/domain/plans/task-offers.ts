import * as v from 'valibot'
import { type DerivedListing, tasksOf } from '../derived/derived-listing.ts'
import type { OperationEntry } from '../kit/found-operations.ts'
import type { Operation } from '../listing/listing-facts.ts'
import { toOutputFields } from '../listing/operation.ts'
import { isAbove, isFree, toCostText, toUnitPriceText, toUsd } from '../listing/pricing.ts'
import { fillRequest, needsNoAccount } from '../tasks/filled-request.ts'
import { type TaskRow, toTask } from '../tasks/task.ts'
import { lastPriceOf } from '../views/known-view.ts'
import { compareText, inOrder, present } from '../wire/json.ts'
import { markPath, pagePath, taskPath } from '../wire/links.ts'
import {
  AUTH_TYPES,
  isTelling,
  isUp,
  KINDS,
  PRICE_UNITS,
  runsLocallyOnly,
} from '../wire/vocabulary.ts'
import { mappedOf, toRelayUrl } from './task-plan.ts'

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
  /** The name of an id that a caller must know beforehand, such as the id of a mailbox. */
  needs: v.optional(v.string()),
  /** The answer's outer fields, or its media type. */
  returns: v.optional(v.string()),
  /** The call of the same listing that takes this one's result, such as the id of a job: `GET https://…/jobs/{id}`. */
  next: v.optional(v.string()),
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
      next: toNextCall(listing, entry),
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
  const last = own && lastPriceOf(own, evidence.drift)
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
 * Order of the operations that may represent a listing: one mapped to the task, because it certainly does the task; then
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
 * The share of a tool name's words that are in the task's name; a word that people only use for the task counts half.
 * Negative for a tool that undoes something.
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

/**
 * A call that only follows another: it does no task by itself and needs an id that this call returns and does not take.
 */
function toNextCall({ surface }: DerivedListing, { found }: OperationEntry): string | undefined {
  const { method, url } = found.operation
  const own = surface.operations.find((each) => each.method === method && each.url === url)
  if (own === undefined) return undefined
  const taken = neededBy(own)
  const ids = toOutputFields(own).flatMap(({ name }) =>
    ID.test(name) && !taken.includes(name) ? [name] : [],
  )
  const next = surface.operations.find(
    (each) => each.task === undefined && ids.some((name) => neededBy(each).includes(name)),
  )
  return next && `${next.method} ${next.url}`
}

function neededBy({ params = [], body }: Pick<Operation, 'params' | 'body'>): unknown[] {
  const { required } = body?.schema ?? {}
  return [
    ...params.flatMap((param) => (param.required || param.in === 'path' ? [param.name] : [])),
    ...(Array.isArray(required) ? required : []),
  ]
}

/** 0: the price of one call is known; 1: of another unit, or of a call that follows another; 2: no price is known. */
export function groupOf({ usd, per, needs }: TaskOffer): 0 | 1 | 2 {
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
      min_usd: first !== undefined && groupOf(first) === 0 ? first.usd : null,
      ...present({ input, plan: input && planPath(id), output, example }),
      offers,
    }
  })
}

function planPath(id: string): string {
  return `/api/v1/tasks/${id}/plan`
}
