import * as v from 'valibot'
import { createOperationSchema, type Operation, placeholdersOf } from '../listing/listing-facts.ts'
import { type Offer, offersOf, pricingOf, toPrice } from '../listing/offers.ts'
import type { Pricing } from '../listing/pricing.ts'
import { eachOnce } from '../wire/json.ts'
import { ASSUMABLE } from '../wire/vocabulary.ts'
import { operationMark } from './listing-marks.ts'

/** More than these don't help a buyer choose. */
const MAX_OPERATIONS = 60

/** Endpoints of one service: each address and method once, in a fixed order; `left` did not fit. */
export function collapseOperations(operations: readonly Operation[]) {
  const nameOf = ({ url, method }: Operation) => `${url} ${method}`
  const all = eachOnce(operations, nameOf).sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))
  const http = all.slice(0, MAX_OPERATIONS)
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
