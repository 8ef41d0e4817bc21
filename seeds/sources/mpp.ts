import * as v from 'valibot'
import type { Operation } from '../../src/domain/listing/listing-facts.ts'
import { collapseOperations } from '../../src/domain/sources/join-rows.ts'
import { readPaidEntry } from '../../src/domain/sources/x402-manifest.ts'
import { present } from '../../src/domain/wire/json.ts'
import {
  chooseRows,
  type Fault,
  faultOf,
  findCallableUrlFault,
  findOperationAddressFault,
  foreignNumbers,
  foreignText,
  foreignTexts,
  leftOut,
  type Mapped,
  type MapRules,
  mapReported,
  optionalFlag,
  optionalList,
  PAID_API,
  type Refusal,
  refuse,
} from '../facts/map-rows.ts'
import { withPlainWords } from '../facts/seed-texts.ts'
import type { SeedSource } from '../fetch/read-source.ts'

const SOURCE = 'mpp_services'
const CATALOGUE = 'https://github.com/tempoxyz/mpp/blob/main/schemas/services.ts'

const priced = {
  ...foreignTexts('method', 'unitType', 'amountHint', 'currency'),
  ...foreignNumbers('decimals'),
  amount: v.nullish(v.union([v.string(), v.number()])),
  dynamic: optionalFlag,
}
const PaymentSchema = v.object(priced)

/**
 * A service in the MPP directory. The directory's API has each endpoint's price under `payment`; its file has method
 * and path in one `route`, and the coin at the service. Both forms are accepted.
 */
const EndpointSchema = v.object({
  ...priced,
  ...foreignTexts('route', 'path', 'desc', 'description'),
  payment: v.nullish(PaymentSchema),
})

const ServiceSchema = v.object({
  id: v.pipe(foreignText, v.regex(/^[\w.-]{1,80}$/, 'expected an identifier such as apex-db')),
  name: foreignText,
  serviceUrl: foreignText,
  ...foreignTexts('description', 'status'),
  categories: optionalList,
  tags: optionalList,
  docs: v.nullish(v.record(v.string(), v.unknown())),
  payments: v.nullish(v.array(PaymentSchema)),
  endpoints: v.pipe(v.array(v.unknown(), 'expected a list of endpoints'), v.maxLength(2000)),
})
type Service = v.InferOutput<typeof ServiceSchema>

function mapService(service: Service, rules: MapRules): Mapped {
  const { id, status } = service
  if (status === 'inactive')
    return refuse(id, faultOf('inactive', `expected status active, got ${status}`))
  const url = service.serviceUrl.replace(/\/+$/, '')
  const fault = findCallableUrlFault(url, rules)
  if (fault !== null) return refuse(id, fault)
  const dropped: Refusal[] = []
  const operations = service.endpoints.flatMap((value, at): Operation[] => {
    const { name, operation, fault } = mapEndpoint(value, { ...service, serviceUrl: url }, rules)
    if (fault !== undefined)
      dropped.push({ ...fault, name: `${id} ${name ?? `endpoint ${at + 1}`}` })
    return operation === undefined ? [] : [operation]
  })
  const { http, pricing, left } = collapseOperations(operations)
  const sources = [{ source: SOURCE, ref: `${CATALOGUE}#${id}` }]
  const facts = { ...PAID_API, url, pricing, http, ...discoveryOf(service, rules), sources }
  return mapReported(
    {
      key: id,
      prefix: 'x402',
      names: [service.name],
      stated: [service.description],
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

const UNNAMED = faultOf('invalid_row', 'expected a method and a path')

/** An endpoint as an operation, or why it is left out; if both are returned, only its price is left out. */
function mapEndpoint(
  value: unknown,
  { serviceUrl: base, payments }: Service,
  rules: MapRules,
): { name?: string; operation?: Operation | undefined; fault?: Fault | undefined } {
  if (!v.is(EndpointSchema, value)) return { fault: UNNAMED }
  const name = value.route ?? `${value.method ?? ''} ${value.path ?? ''}`
  const [, path] = /^[A-Za-z]+ (\/\S*)$/.exec(name) ?? []
  if (path === undefined) return { fault: UNNAMED }
  const fault = findOperationAddressFault(base + path, rules)
  if (fault !== null) return { name, fault }
  const stated = { ...value, ...value.payment }
  const isFixed = stated.dynamic !== true && (stated.amount ?? null) !== null
  // The amounts are in the coin of the first way to pay.
  const payment = toPayment(stated, value.payment ?? payments?.[0] ?? {}, isFixed)
  const description = value.description ?? value.desc ?? undefined
  const entry = { route: name, ...present({ description }), ...payment }
  const read = readPaidEntry(entry, { base, ref: base })
  if (read === null || read.operation.assumed !== undefined) return { name, fault: UNNAMED }
  const [operation = read.operation] = withPlainWords([read.operation])
  const { price } = operation
  const isOther = isFixed && !['request', 'url', 'record'].includes(stated.unitType ?? 'request')
  return {
    name,
    operation: price && isOther ? { ...operation, price: { ...price, per: 'other' } } : operation,
    fault: read.payment.fault,
  }
}

type Payment = v.InferOutput<typeof PaymentSchema>

/** A fixed amount as an offer; the hint about an amount that differs by call as a price in words. */
function toPayment({ amount, amountHint }: Payment, coin: Payment, isFixed: boolean) {
  const { method: named, currency, decimals } = coin
  const method = named ?? 'tempo'
  if (!isFixed)
    return { protocols: [{ mpp: { method } }], ...(amountHint && { price: amountHint }) }
  return { offers: [{ method, currency: currency ?? '', decimals: decimals ?? 6, amount }] }
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

/** The MPP services directory: a single answer with everything in it. */
export const mpp: SeedSource = {
  id: 'mpp',
  title: 'services of the MPP directory with their priced endpoints',
  liveUrl: 'https://mpp.dev/api/services',
  promisesAll: true,
  lists: ['services'],
  expected: 'a list of MPP services',
  isRow: (value) => typeof value.serviceUrl === 'string',
  choose: chooseRows(ServiceSchema, 'id', mapService),
}
