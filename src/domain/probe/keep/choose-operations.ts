import type { ListingFacts } from '../../listing/listing-facts.ts'
import type { Operation } from '../../listing/operation.ts'
import { railsOf } from '../../listing/pricing.ts'
import { encodeBody, toExampleRequest } from '../../operation/example-request.ts'
import { present } from '../../wire/parse-json.ts'
import type { OtherRequest, PlannedRequest } from './probe-plan.ts'

/** Operations probed after the first: enough to judge a seller, too few to be a burden. */
const MAX_OTHERS = 5

export interface ChosenOperations {
  /** The one a buyer most likely wants, among those that may be probed: it decides the outcome. */
  first: Operation | undefined
  /** In the order they are probed: priced ones, then the rest, as in the listing. */
  others: Operation[]
}

/**
 * Which operations of a listing are probed. Only those that change nothing: GET, a paid POST with
 * its declared example (an unpaid call is answered with the price), and those marked `safe` by the
 * listing. The others are on the first one's own origin, and each is another request.
 */
export function chooseOperations(facts: ListingFacts): ChosenOperations {
  const askable = facts.http.filter((operation) => isAskable(operation, facts))
  const priced = askable.filter(({ price }) => price !== undefined)
  const first = priced.find(hasPriceAboveZero) ?? priced[0] ?? askable[0]
  if (first === undefined) return { first, others: [] }
  const asked = [first]
  for (const operation of [...priced, ...askable])
    if (asked.length <= MAX_OTHERS && isAnother(operation, asked)) asked.push(operation)
  return { first, others: asked.slice(1) }
}

/** Without credentials: an endpoint that requires them answers 401, which is recorded. */
function toRequest(operation: Operation): PlannedRequest {
  const { method, url, headers, body } = toExampleRequest(operation, { type: 'none' })
  const type = operation.body?.content_type ?? 'application/json'
  return { method, url, headers, ...(body !== undefined && { body: encodeBody(type, body) }) }
}

export function toOther(operation: Operation, facts: ListingFacts): OtherRequest {
  const is_paid = isPaid(operation, facts)
  const { content_type = null, schema, example } = operation.response ?? {}
  const shape = present({ schema, example })
  return {
    request: toRequest(operation),
    operation: { method: operation.method, url: operation.url },
    is_paid,
    expected: content_type,
    ...(!is_paid && content_type !== null && { shape }),
    is_guess: operation.assumed?.includes('method') ?? false,
  }
}

/** USD. Null where the listing names no price for one call: then none can have drifted. */
export function toHighestPrice(
  { pricing }: ListingFacts,
  operation: Operation | undefined,
): number | null {
  const { price } = operation ?? {}
  if (price !== undefined) return price.per === 'call' ? price.max_usd : null
  return pricing.model === 'per_call' ? pricing.max_usd : null
}

function isAskable(operation: Operation, facts: ListingFacts): boolean {
  const { method, safe = false, body } = operation
  const isHarmless = method === 'GET' || safe || (method === 'POST' && isPaid(operation, facts))
  const hasBody = method === 'GET' || safe || body?.example !== undefined
  const { url, headers, body: sent = '' } = toRequest(operation)
  // Values a caller would have to know that are not documented.
  const isComplete = ![url, ...Object.values(headers), sent].some((text) =>
    /<[A-Z0-9_]+>/.test(text),
  )
  return isHarmless && hasBody && isComplete
}

/** Where some operations have a price, the others may be free, and a POST would do its work. */
function isPaid(operation: Operation, { http, pricing }: ListingFacts): boolean {
  if (railsOf(pricing).length === 0) return false
  return hasPriceOfItsOwn(operation)
    ? hasPriceAboveZero(operation)
    : !http.some((each) => hasPriceOfItsOwn(each))
}

function hasPriceOfItsOwn({ price, offers }: Operation): boolean {
  return price !== undefined || (offers !== undefined && offers.length > 0)
}

function hasPriceAboveZero({ price, offers = [] }: Operation): boolean {
  return price === undefined ? offers.some(({ max_usd }) => max_usd > 0) : price.max_usd > 0
}

/** On the origin of the first, and different from every earlier operation and request. */
function isAnother(operation: Operation, asked: readonly Operation[]): boolean {
  const sent = toRequest(operation).url
  const origin = URL.parse(sent)?.origin
  return asked.every((each, at) => {
    const known = toRequest(each).url
    if (at === 0 && URL.parse(known)?.origin !== origin) return false
    return each.method !== operation.method || (each.url !== operation.url && known !== sent)
  })
}
