import * as v from 'valibot'
import { readPriceWords } from '../../../src/domain/discovery/payment-info.ts'
import { decimalsOf, priceUnits, unknownCoin } from '../../../src/domain/discovery/x402-offers.ts'
import { toPrice } from '../../../src/domain/listing/offers.ts'
import type { Operation } from '../../../src/domain/listing/operation.ts'
import { collapseOperations } from '../../../src/domain/sources/unite-operations.ts'
import { findCallableUrlFault } from '../../facts/callable-url.ts'
import { chooseRows, type MappedSeed, mapTold, PAID_API, refuse } from '../../facts/map-rows.ts'
import { leftOut, toMethod, toOperationAddress, toPathParams } from '../../facts/operations.ts'
import { type Fault, faultOf, type Refusal } from '../../facts/refusal.ts'
import * as member from '../../facts/row-members.ts'
import type { MapRules, SeedSource } from '../../facts/seed-source.ts'
import { toSeedLine } from '../../facts/seed-texts.ts'

const SOURCE = 'mpp_services'
const CATALOGUE = 'https://github.com/tempoxyz/mpp/blob/main/schemas/services.ts'
const TEMPO = 'eip155:4217'

const amount = v.nullish(v.union([v.string(), v.number()]))
const texts = member.texts('unitType', 'amountHint', 'method')
const priced = { ...texts, amount, dynamic: member.optionalFlag }
const PaymentSchema = v.object({
  ...priced,
  ...member.texts('currency'),
  ...member.numbers('decimals'),
})

/**
 * A service of the MPP directory. Its API has each endpoint's price under `payment`; its file has
 * method and path in one `route` and the coin at the service: both are read.
 */
const EndpointSchema = v.object({
  ...priced,
  ...member.texts('route', 'path', 'desc', 'description'),
  payment: v.nullish(PaymentSchema),
})

const ServiceSchema = v.object({
  id: v.pipe(member.text, v.regex(/^[\w.-]{1,80}$/, 'expected an identifier such as apex-db')),
  name: member.text,
  serviceUrl: member.text,
  ...member.texts('description', 'status'),
  categories: member.optionalList,
  tags: member.optionalList,
  docs: v.nullish(v.record(v.string(), v.unknown())),
  payments: v.nullish(v.array(PaymentSchema)),
  endpoints: v.pipe(v.array(v.unknown(), 'expected a list of endpoints'), v.maxLength(2000)),
})
type Service = v.InferOutput<typeof ServiceSchema>

function mapService(service: Service, rules: MapRules): MappedSeed {
  const { id, status } = service
  if (status === 'inactive')
    return refuse(id, faultOf('inactive', `expected status active, got ${status}`))
  const url = service.serviceUrl.replace(/\/+$/, '')
  const fault = findCallableUrlFault(url, rules)
  if (fault !== null) return refuse(id, fault)
  const dropped: Refusal[] = []
  const operations = service.endpoints.flatMap(
    (value, at) => mapEndpoint(value, at, service, { url, rules, dropped }) ?? [],
  )
  const { http, pricing, left } = collapseOperations(operations)
  const sources = [{ source: SOURCE, ref: `${CATALOGUE}#${id}` }]
  const facts = { ...PAID_API, url, pricing, http, ...discoveryOf(service, rules), sources }
  return mapTold(
    {
      key: id,
      prefix: 'x402',
      names: [service.name],
      said: [service.description],
      tags: [...(service.tags ?? []), ...(service.categories ?? [])],
      ...(status === 'deprecated' && { deprecated: {} }),
      facts:
        operations.length === 0
          ? faultOf('no_invoke', 'expected at least one endpoint that can be called')
          : facts,
      dropped: [...dropped, ...leftOut(id, left)],
    },
    rules,
  )
}

interface Place {
  url: string
  rules: MapRules
  dropped: Refusal[]
}

function mapEndpoint(value: unknown, at: number, service: Service, { url, rules, dropped }: Place) {
  const endpoint = parseEndpoint(value, service)
  const name = `${service.id} ${endpoint === null ? `endpoint ${at + 1}` : `${endpoint.method} ${endpoint.path}`}`
  const method = toMethod(endpoint?.method)
  const drop = (fault: Fault) => {
    dropped.push({ ...fault, name })
    return null
  }
  if (endpoint === null || method === null)
    return drop(faultOf('invalid_row', 'expected a method and a path'))
  const address = toOperationAddress(url + endpoint.path, rules)
  if ('reason' in address) return drop(address)
  const price = priceEndpoint(endpoint)
  if (price !== null && 'reason' in price) drop(price)
  const description = toSeedLine(endpoint.description, 300)
  const params = toPathParams(address.places)
  return {
    method,
    url: address.url,
    ...(description !== null && { description }),
    ...(price !== null && !('reason' in price) && price),
    ...(params.length > 0 && { params }),
  }
}

/** @returns null for an endpoint without a method and a path */
function parseEndpoint(value: unknown, { payments }: Service) {
  if (!v.is(EndpointSchema, value)) return null
  const [, routeMethod, routePath] = /^([A-Z]+) (\/\S*)$/.exec(value.route ?? '') ?? []
  const method = value.method ?? routeMethod
  const path = value.path ?? routePath
  if (method === undefined || path === undefined || !path.startsWith('/')) return null
  const said = { ...value, ...(value.payment ?? {}) }
  // The amounts are in the coin of the first way to pay.
  const coin = value.payment ?? payments?.[0]
  const isFixed = said.dynamic !== true && said.amount !== null && said.amount !== undefined
  return {
    method,
    path,
    description: value.description ?? value.desc ?? null,
    /** Atomic units; null where it depends on the call, or is free. */
    amount: isFixed ? String(said.amount) : null,
    unit: said.unitType ?? 'request',
    hint: said.amountHint ?? '',
    currency: coin?.currency ?? '',
    decimals: coin?.decimals ?? 6,
    rail: coin?.method ?? 'tempo',
  }
}
type Endpoint = NonNullable<ReturnType<typeof parseEndpoint>>

/** @returns null where an endpoint names no price */
function priceEndpoint(endpoint: Endpoint): Pick<Operation, 'price' | 'offers'> | Fault | null {
  const place = { rail: 'mpp' as const, network: endpoint.rail === 'tempo' ? TEMPO : null }
  if (endpoint.amount === null) {
    const hint = readPriceWords(endpoint.hint)
    return hint === null ? null : toPrice([{ ...place, ...hint.bounds }], hint.per)
  }
  if (!isDollar(endpoint)) return unknownCoin(endpoint.currency)
  const usd = priceUnits(endpoint.amount, endpoint.decimals)
  if (typeof usd !== 'number') return usd
  const isCall = ['request', 'url', 'record'].includes(endpoint.unit)
  return toPrice([{ ...place, min_usd: usd, max_usd: usd }], isCall ? 'call' : 'other')
}

function isDollar({ rail, currency, decimals }: Endpoint): boolean {
  return rail === 'tempo'
    ? decimalsOf(TEMPO, currency) === decimals
    : currency.toLowerCase() === 'usd' && decimals === 2
}

function discoveryOf({ docs }: Service, rules: MapRules) {
  const fine = (value: unknown): value is string =>
    typeof value === 'string' && findCallableUrlFault(value, rules) === null
  const named = [docs?.openapi, docs?.apiReference].filter(fine)
  const openapi = named.find((url) => /\/openapi\.json$/.test(url))
  const discovery = {
    ...(openapi !== undefined && { openapi }),
    ...(fine(docs?.llmsTxt) && { llms_txt: docs.llmsTxt }),
  }
  return Object.keys(discovery).length > 0 && { discovery }
}

/** The MPP services directory: one answer, everything in it. */
export const mpp: SeedSource = {
  id: 'mpp',
  title: 'services of the MPP directory with their priced endpoints',
  liveUrl: 'https://mpp.dev/api/services',
  promisesAll: true,
  shape: {
    lists: ['services'],
    expected: 'a list of MPP services',
    isRow: (value) => typeof value.serviceUrl === 'string',
  },
  choose: chooseRows(ServiceSchema, 'id', mapService),
}
