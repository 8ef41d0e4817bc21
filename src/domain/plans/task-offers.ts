import * as v from 'valibot'
import type { DerivedListing } from '../derived/derived-listing.ts'
import { type OperationEntry, toOperationEntries } from '../kit/operation-entries.ts'
import { runsLocallyOnly } from '../listing/invoke.ts'
import { fillRequest } from '../tasks/filled-request.ts'
import { type TaskRow, toTask } from '../tasks/task.ts'
import { compareText } from '../wire/extremes.ts'
import { markPath, pagePath } from '../wire/links.ts'
import { present } from '../wire/parse-json.ts'
import { AUTH_TYPES, KINDS, PRICE_UNITS } from '../wire/vocabulary.ts'
import { toRelayUrl } from './task-plan.ts'

/** A listing that does a task, by its cheapest operation for it, with a request that can be sent. */
export const TaskOfferSchema = v.object({
  listing: v.object({
    id: v.string(),
    name: v.string(),
    kind: v.picklist(KINDS),
    page: v.string(),
    mark: v.optional(v.string()),
  }),
  /** What callers need: `none` and `payment` are no account. */
  auth: v.picklist(AUTH_TYPES),
  /** It runs on the caller's machine. */
  is_local: v.optional(v.literal(true)),
  /** `GET https://…`, or the name of a tool. */
  operation: v.string(),
  /** US dollars for one unit: 0 is free; null where no price is known. */
  usd: v.nullable(v.number()),
  /** The unit, where that is not one call. */
  per: v.optional(v.picklist(PRICE_UNITS)),
  /** Outer fields of the answer, or its media type. */
  returns: v.optional(v.string()),
  /** When the service itself last answered us, and how fast. */
  answered: v.optional(v.object({ at: v.string(), ms: v.optional(v.number()) })),
  /** The last payment that counts, and how many there were in the 30 days before `as_of`. */
  paid: v.optional(v.object({ at: v.string(), settlements_30d: v.number(), as_of: v.string() })),
  /** With the task's example where the operation is mapped to it, else with the seller's own. */
  request: v.optional(
    v.object({
      method: v.optional(v.string()),
      url: v.optional(v.string()),
      headers: v.optional(v.record(v.string(), v.string())),
      body: v.optional(v.unknown()),
      /** Of a tool. */
      arguments: v.optional(v.unknown()),
      /** The command that starts a local server. */
      command: v.optional(v.string()),
    }),
  ),
  /** The request goes to this address instead, through the relay. */
  relay_url: v.optional(v.string()),
  digest: v.string(),
})
export type TaskOffer = v.InferOutput<typeof TaskOfferSchema>

/** An offer with its task. */
export interface OfferOfTask {
  task: string
  offer: TaskOffer
}

/** One for each task that a listing does; our own listings offer nothing here. */
export function toTaskOffers(
  listing: DerivedListing,
  { tasks, baseUrl }: { tasks: readonly TaskRow[]; baseUrl: string },
): OfferOfTask[] {
  const { facts, surface } = listing
  const done = [...surface.operations, ...surface.tools].filter(({ task }) => task !== undefined)
  if (facts.first_party || done.length === 0) return []
  const rows = new Map(tasks.map((row) => [row.id, row]))
  const best = new Map<string, TaskOffer>()
  for (const entry of toOperationEntries(listing, baseUrl)) {
    const row = entry.task === undefined ? undefined : rows.get(entry.task)
    if (row === undefined) continue
    const offer = toOffer(listing, entry, row, baseUrl)
    const known = best.get(row.id)
    if (known === undefined || compareTaskOffers(offer, known) < 0) best.set(row.id, offer)
  }
  return [...best].map(([task, offer]) => ({ task, offer }))
}

function toOffer(
  listing: DerivedListing,
  { found, minUsd }: OperationEntry,
  row: TaskRow,
  baseUrl: string,
): TaskOffer {
  const { id, facts, mark } = listing
  const { name, method, url = '', price, output, relay_url } = found.operation
  const request = toRequest(listing, found, row)
  const isFree = facts.auth.type === 'none' || facts.cost === 'free'
  return {
    listing: {
      ...{ id, name: facts.name, kind: facts.kind, page: pagePath(id) },
      ...(mark !== null && { mark: markPath(mark) }),
    },
    auth: facts.auth.type,
    ...(runsLocallyOnly(facts) && { is_local: true as const }),
    operation: name ?? `${method} ${url}`,
    usd: minUsd ?? (isFree ? 0 : null),
    ...(price !== undefined && price.per !== 'call' && { per: price.per }),
    ...present({ returns: typeof output === 'string' ? output : undefined }),
    ...toLastSeen(listing),
    ...(request !== undefined && { request }),
    ...(relay_url !== undefined &&
      request?.url !== undefined && { relay_url: toRelayUrl(baseUrl, id, request.url) }),
    digest: listing.digest,
  }
}

type Found = OperationEntry['found']

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
  const last = probes
    .filter(({ outcome }) => outcome === 'spoke' || outcome === 'gated')
    .toSorted((a, b) => (a.at < b.at ? 1 : -1))[0]
  const measured = trust.evidence === 'no_payment_data' ? undefined : trust.measured
  const { last_settlement_at: at, settlements_30d, as_of } = measured ?? {}
  const isPaid = trust.evidence === 'verified_non_wash_payments' && at && settlements_30d && as_of
  return {
    ...(last !== undefined && { answered: { at: last.at, ...present({ ms: last.ms }) } }),
    ...(isPaid && { paid: { at, settlements_30d: Math.round(settlements_30d), as_of } }),
  }
}

/** Whether nobody signs up to call it. */
export function isOpen({ auth }: Pick<TaskOffer, 'auth'>): boolean {
  return auth === 'none' || auth === 'payment'
}

/**
 * Free ones first, then by the price of one call, then prices of other units, then unknown ones; of
 * equals those without an account, those that answered last, the id.
 */
const ORDER: readonly ((a: TaskOffer, b: TaskOffer) => number)[] = [
  (a, b) => groupOf(a) - groupOf(b),
  (a, b) => (a.usd ?? 0) - (b.usd ?? 0),
  (a, b) => Number(isOpen(b)) - Number(isOpen(a)),
  (a, b) => Number(a.is_local === true) - Number(b.is_local === true),
  (a, b) => compareText(b.answered?.at.slice(0, 10) ?? '', a.answered?.at.slice(0, 10) ?? ''),
  (a, b) => compareText(a.listing.id, b.listing.id),
]

export function compareTaskOffers(a: TaskOffer, b: TaskOffer): number {
  for (const compare of ORDER) {
    const order = compare(a, b)
    if (order !== 0) return order
  }
  return 0
}

function groupOf({ usd, per }: TaskOffer): number {
  if (usd === null) return 2
  return usd > 0 && per !== undefined ? 1 : 0
}
