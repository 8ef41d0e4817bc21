import { findValueFault } from '../json-schema/value-fault.ts'
import type { ListingFacts } from '../listing/listing-facts.ts'
import { type Operation, type Param, placeholdersOf } from '../listing/operation.ts'
import type { Pricing } from '../listing/pricing.ts'
import { toOperationKey } from './is-at-address.ts'

/** What is wrong between the fields of a listing's operations, each with its place in the facts. */
export interface OperationFault {
  path: (string | number)[]
  message: string
}

/** Examples against schemas, placeholders against parameters, prices against bounds. */
export function findOperationFaults({
  pricing,
  http,
}: {
  /** Absent where they have faults of their own. */
  pricing?: Pricing | undefined
  http?: ListingFacts['http'] | undefined
}): OperationFault[] {
  const operations = http ?? []
  return [
    ...operations.flatMap((operation, i) =>
      findOwnFaults(operation).map(({ path, message }) => ({
        path: ['http', i, ...path],
        message,
      })),
    ),
    ...findRepeated(operations.map(toOperationKey)).map(({ at, text }) => ({
      path: ['http', at],
      message: `expected each operation once, got ${text} again`,
    })),
    ...(pricing === undefined ? [] : findPricingFaults(pricing, operations)),
  ]
}

function findOwnFaults(operation: Operation): OperationFault[] {
  return [
    ...findParamFaults(operation),
    ...findPriceFaults(operation),
    ...(['body', 'response'] as const).flatMap((part) => findPayloadFaults(part, operation)),
  ]
}

function findPayloadFaults(part: 'body' | 'response', operation: Operation): OperationFault[] {
  const payload = operation[part]
  if (payload === undefined) return []
  const faults: OperationFault[] = []
  if (part === 'body' && operation.method === 'GET')
    faults.push({ path: [part], message: 'expected no body with GET: use params' })
  if (payload.schema !== undefined && payload.example !== undefined) {
    const message = findValueFault(payload.schema, payload.example)
    if (message !== null) faults.push({ path: [part, 'example'], message })
  }
  return faults
}

function findParamFaults({ url, params = [] }: Operation): OperationFault[] {
  const keys = params.map((param) => `${param.in} ${toKey(param)}`)
  const inUrl = placeholdersOf(url)
  const declared = params.filter((param) => param.in === 'path').map(({ name }) => name)
  return [
    ...findRepeated(keys).map(({ at, text }) => ({
      path: ['params', at],
      message: `expected each parameter once, got ${text} again`,
    })),
    ...inUrl
      .filter((name) => !declared.includes(name))
      .map((name) => ({
        path: ['url'],
        message: `expected {${name}} to be declared in params, as { name: ${name}, in: path, … }`,
      })),
    ...params.flatMap((param, at) => findOneParamFaults(param, at, inUrl)),
  ]
}

function findOneParamFaults(param: Param, at: number, inUrl: readonly string[]): OperationFault[] {
  const faults: OperationFault[] = []
  if (param.in === 'path' && !inUrl.includes(param.name))
    faults.push({
      path: ['params', at, 'name'],
      message: `expected {${param.name}} in the path of url: there is no such placeholder`,
    })
  if (param.in === 'path' && param.required === false)
    faults.push({
      path: ['params', at, 'required'],
      message: 'expected true: a path parameter cannot be left out',
    })
  if (param.schema !== undefined && param.example !== undefined) {
    const message = findValueFault(param.schema, param.example)
    if (message !== null) faults.push({ path: ['params', at, 'example'], message })
  }
  return faults
}

/** Header names compare without case. */
function toKey(param: Param): string {
  return param.in === 'header' ? param.name.toLowerCase() : param.name
}

function findPriceFaults({ price, offers = [] }: Operation): OperationFault[] {
  const faults: OperationFault[] = []
  if (price !== undefined && price.min_usd > price.max_usd)
    faults.push({ path: ['price', 'max_usd'], message: 'expected max_usd to be at least min_usd' })
  offers.forEach((offer, i) => {
    if (offer.min_usd > offer.max_usd)
      faults.push({
        path: ['offers', i, 'max_usd'],
        message: 'expected max_usd to be at least min_usd',
      })
    if (price !== undefined && (offer.min_usd < price.min_usd || offer.max_usd > price.max_usd))
      faults.push({
        path: ['offers', i],
        message: `expected an offer within the operation's price of ${price.min_usd} to ${price.max_usd} USD`,
      })
  })
  const keys = offers.map(({ rail, network = 'no network' }) => `${rail} on ${network}`)
  for (const { at, text } of findRepeated(keys))
    faults.push({ path: ['offers', at], message: `expected each offer once, got ${text} again` })
  return faults
}

function findPricingFaults(pricing: Pricing, operations: readonly Operation[]): OperationFault[] {
  const offers = operations.flatMap((operation) => operation.offers ?? [])
  if (pricing.model === 'unknown')
    return offers.length === 0
      ? []
      : [
          {
            path: ['pricing'],
            message: 'expected model per_call: an operation has offers, so the listing has a price',
          },
        ]
  return [
    ...operations.flatMap(({ price, method, url }, i): OperationFault[] =>
      price?.per === 'call' && (price.min_usd < pricing.min_usd || price.max_usd > pricing.max_usd)
        ? [
            {
              path: ['http', i, 'price'],
              message: `expected pricing to cover ${method} ${url} at ${price.min_usd} to ${price.max_usd} USD; it says ${pricing.min_usd} to ${pricing.max_usd}`,
            },
          ]
        : [],
    ),
    ...findUnionFault(['pricing', 'rails'], pricing.rails, [...new Set(offers.map((o) => o.rail))]),
    ...findUnionFault(['pricing', 'networks'], pricing.networks, [
      ...new Set(offers.flatMap(({ network }) => network ?? [])),
    ]),
  ]
}

/** Where operations have offers, the listing's rails and networks are their union. */
function findUnionFault(
  path: string[],
  said: readonly string[],
  offered: readonly string[],
): OperationFault[] {
  const isSame = said.length === offered.length && offered.every((one) => said.includes(one))
  return offered.length === 0 || isSame
    ? []
    : [{ path, message: `expected what the operations' offers name: ${offered.join(', ')}` }]
}

function findRepeated(keys: readonly string[]): { at: number; text: string }[] {
  return keys.flatMap((text, at) => (keys.indexOf(text) < at ? [{ at, text }] : []))
}
