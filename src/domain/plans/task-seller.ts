import * as v from 'valibot'
import { type DerivedListing, trustScoreOf } from '../derived/derived-listing.ts'
import { lowestOf, toKitOperations } from '../kit/kit-entries.ts'
import { OfferSchema, OperationPriceSchema, ParamSchema } from '../listing/listing-facts.ts'
import { isJsonPayload } from '../listing/operation.ts'
import type { Delivered } from '../relay/delivered.ts'
import { hostOf, ownerAt, type SharedHosts } from '../sellers/claim-rules.ts'
import { needsNoAccount } from '../tasks/filled-request.ts'
import { membersOf, type Task, type TaskRow, toTask } from '../tasks/task.ts'
import { isJsonObject, memberOf, present } from '../wire/json.ts'
import { HTTP_METHODS } from '../wire/vocabulary.ts'

/** One operation that does a task, as a plan needs it: a row of the release. */
export const TaskSellerSchema = v.object({
  task: v.string(),
  seller: v.object({
    id: v.string(),
    name: v.string(),
    /** The registrable domain that is called. */
    operator: v.string(),
    trust: v.nullable(v.number()),
  }),
  method: v.picklist(HTTP_METHODS),
  url: v.string(),
  params: v.optional(v.array(v.pick(ParamSchema, ['name', 'in']))),
  body: v.optional(v.object({ content_type: v.string() })),
  map: v.record(v.string(), v.string()),
  send: v.optional(v.record(v.string(), v.unknown())),
  /** The values of an input member this seller accepts, where fewer than the task's. */
  accepts: v.optional(v.record(v.string(), v.record(v.string(), v.unknown()))),
  price: v.optional(OperationPriceSchema),
  offers: v.optional(v.array(OfferSchema)),
  /** The lowest price of one call in US dollars: 0 for free; null where unknown. */
  usd: v.nullable(v.number()),
  digest: v.string(),
  /** Paid calls answered as declared, and all of them; absent where nothing is known. */
  delivered: v.optional(v.tuple([v.number(), v.number()])),
  /** Whether the relay can call it. */
  relayed: v.boolean(),
  /** The answer is not JSON: its text is the whole. */
  is_text: v.optional(v.literal(true)),
})
export type TaskSeller = v.InferOutput<typeof TaskSellerSchema>

/** For the operation where known, else for the listing. */
function toShare(delivered: Delivered | undefined, method: string, url: string) {
  const own = delivered?.operations.find((each) => each.method === method && each.url === url)
  const known = own ?? delivered
  return known && ([known.delivered, known.paid_calls] satisfies [number, number])
}

/** Rules of a schema that a value allowed by the task may break. */
const RULES = ['enum', 'minimum', 'maximum', 'minLength', 'maxLength', 'pattern']

/** The operations of a listing that do a task and need no account: a plan's sellers. */
export function toTaskSellers(
  listing: DerivedListing,
  { tasks, sharedHosts }: { tasks: readonly TaskRow[]; sharedHosts: SharedHosts },
): TaskSeller[] {
  const { id, facts, trust, buy } = listing
  const mapped = (facts.http ?? []).filter(({ map }) => map !== undefined)
  if (mapped.length === 0 || !needsNoAccount(facts.auth) || facts.first_party) return []
  const shown = new Map(
    toKitOperations(listing, buy.buy === 'relay_x402' ? '/' : null).map((each) => [
      `${each.method} ${each.url}`,
      each,
    ]),
  )
  return mapped.flatMap((operation): TaskSeller[] => {
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
        seller: { id, name: facts.name, operator, trust: trustScoreOf(trust) },
        ...{ method, url, map, digest: listing.digest },
        usd: facts.auth.type === 'none' ? 0 : lowestOf(known),
        relayed: known.relay_url !== undefined,
        ...present({
          params: params?.map(({ name, in: place }) => ({ name, in: place })),
          delivered: toShare(listing.delivered, method, url),
          body: body && { content_type: body.content_type },
          send,
          accepts: Object.keys(accepts).length > 0 ? accepts : undefined,
          price: known.price,
          offers: known.offers,
        }),
        ...(response !== undefined && !isJsonPayload(response) && { is_text: true as const }),
      },
    ]
  })
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
