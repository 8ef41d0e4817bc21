import { findValueFault } from '../json-schema/json-schema.ts'
import type { ListingFacts } from '../listing/listing-facts.ts'
import { type Operation, placeholdersOf } from '../listing/listing-facts.ts'
import type { Pricing } from '../listing/pricing.ts'
import { toOperationKey } from './is-at-address.ts'

/** Inconsistent fields of a listing's operations, each with its path in the facts. */
export interface OperationFault {
  path: Path
  message: string
}

type Path = (string | number)[]

/** Examples against schemas, placeholders against parameters, prices against bounds. */
export function findOperationFaults({
  pricing,
  http = [],
}: {
  /** Absent where they have errors of their own. */
  pricing?: Pricing | undefined
  http?: ListingFacts['http'] | undefined
}): OperationFault[] {
  return [
    ...http.flatMap((operation, i) =>
      findOwnFaults(operation).map(({ path, message }) => ({
        path: ['http', i, ...path],
        message,
      })),
    ),
    ...findRepeated('operation', ['http'], http.map(toOperationKey)),
    ...(pricing === undefined ? [] : findPricingFaults(pricing, http)),
  ]
}

function findOwnFaults(operation: Operation): OperationFault[] {
  const { method, body, response } = operation
  const hasBody = method === 'GET' && body !== undefined
  return [
    ...findParamFaults(operation),
    ...findPriceFaults(operation),
    ...faultIf(hasBody, ['body'], 'expected no body with GET: use params'),
    ...findExampleFault(['body'], body),
    ...findExampleFault(['response'], response),
  ]
}

function findParamFaults({ url, params = [] }: Operation): OperationFault[] {
  const inUrl = placeholdersOf(url)
  const inPath = params.filter((param) => param.in === 'path').map(({ name }) => name)
  // Header names compare without case.
  const keys = params.map(({ in: place, name }) =>
    place === 'header' ? `header ${name.toLowerCase()}` : `${place} ${name}`,
  )
  return [
    ...findRepeated('parameter', ['params'], keys),
    ...inUrl.flatMap((name) =>
      faultIf(
        !inPath.includes(name),
        ['url'],
        `expected {${name}} to be declared in params, as { name: ${name}, in: path, … }`,
      ),
    ),
    ...params.flatMap((param, at) => [
      ...faultIf(
        param.in === 'path' && !inUrl.includes(param.name),
        ['params', at, 'name'],
        `expected {${param.name}} in the path of url, which lacks it`,
      ),
      ...faultIf(
        param.in === 'path' && param.required === false,
        ['params', at, 'required'],
        'expected true: a path parameter cannot be left out',
      ),
      ...findExampleFault(['params', at], param),
    ]),
  ]
}

function findPriceFaults({ price, offers = [] }: Operation): OperationFault[] {
  return [
    ...findBoundsFault(['price'], price),
    ...offers.flatMap((offer, i) => [
      ...findBoundsFault(['offers', i], offer),
      ...faultIf(
        price !== undefined && isBeyond(offer, price),
        ['offers', i],
        `expected an offer within the operation's price of ${price?.min_usd} to ${price?.max_usd} USD`,
      ),
    ]),
    ...findRepeated(
      'offer',
      ['offers'],
      offers.map(({ rail, network = 'no network' }) => `${rail} on ${network}`),
    ),
  ]
}

type Bounds = Pick<NonNullable<Operation['price']>, 'min_usd' | 'max_usd'>

function isBeyond(bounds: Bounds, limits: Bounds): boolean {
  return bounds.min_usd < limits.min_usd || bounds.max_usd > limits.max_usd
}

function findBoundsFault(path: Path, bounds: Bounds | undefined): OperationFault[] {
  const isTurned = bounds !== undefined && bounds.min_usd > bounds.max_usd
  return faultIf(isTurned, [...path, 'max_usd'], 'expected max_usd to be at least min_usd')
}

function findPricingFaults(pricing: Pricing, operations: readonly Operation[]): OperationFault[] {
  const offers = operations.flatMap((operation) => operation.offers ?? [])
  if (pricing.model === 'unknown')
    return faultIf(
      offers.length > 0,
      ['pricing'],
      'expected model per_call: an operation has offers, so the listing has a price',
    )
  const { min_usd, max_usd, rails, networks } = pricing
  return [
    ...operations.flatMap(({ price, method, url }, i) =>
      faultIf(
        price?.per === 'call' && isBeyond(price, pricing),
        ['http', i, 'price'],
        `expected pricing to cover ${method} ${url} at ${price?.min_usd} to ${price?.max_usd} USD; it says ${min_usd} to ${max_usd}`,
      ),
    ),
    ...findUnionFault('rails', rails, new Set(offers.map(({ rail }) => rail))),
    ...findUnionFault(
      'networks',
      networks,
      new Set(offers.flatMap((offer) => offer.network ?? [])),
    ),
  ]
}

/** Where operations have offers, the listing's rails and networks are their union. */
function findUnionFault(
  name: string,
  stated: readonly string[],
  offered: ReadonlySet<string>,
): OperationFault[] {
  const isSame = stated.length === offered.size && stated.every((one) => offered.has(one))
  const message = `expected what the operations' offers name: ${[...offered].join(', ')}`
  return faultIf(offered.size > 0 && !isSame, ['pricing', name], message)
}

function findExampleFault(
  path: Path,
  { schema, example }: { schema?: unknown; example?: unknown } = {},
): OperationFault[] {
  if (schema === undefined || example === undefined) return []
  const message = findValueFault(schema, example)
  return message === null ? [] : [{ path: [...path, 'example'], message }]
}

function findRepeated(noun: string, path: Path, keys: readonly string[]): OperationFault[] {
  return keys.flatMap((key, at) =>
    faultIf(keys.indexOf(key) < at, [...path, at], `expected each ${noun} once, got ${key} again`),
  )
}

function faultIf(isWrong: boolean, path: Path, message: string): OperationFault[] {
  return isWrong ? [{ path, message }] : []
}
