import * as v from 'valibot'
import { isJsonObject } from '../../../src/domain/wire/parse-json.ts'

/**
 * A service of the MPP directory. Its API tells each endpoint's price under `payment`; its file puts
 * method and path into one `route` and the coin beside the service: both are read.
 */
const text = v.pipe(v.string('expected text'), v.maxLength(20_000))
const optionalText = v.optional(v.nullable(text))

const PaymentSchema = v.object({
  method: optionalText,
  amount: v.optional(v.nullable(v.union([v.string(), v.number()]))),
  currency: optionalText,
  decimals: v.optional(v.nullable(v.number())),
  unitType: optionalText,
  dynamic: v.optional(v.nullable(v.boolean())),
  amountHint: optionalText,
})

const EndpointSchema = v.object({
  route: optionalText,
  method: optionalText,
  path: optionalText,
  desc: optionalText,
  description: optionalText,
  payment: v.optional(v.nullable(PaymentSchema)),
  amount: v.optional(v.nullable(v.union([v.string(), v.number()]))),
  unitType: optionalText,
  dynamic: v.optional(v.nullable(v.boolean())),
  amountHint: optionalText,
})

const ServiceSchema = v.object({
  id: v.pipe(text, v.regex(/^[\w.-]{1,80}$/, 'expected an identifier such as apex-db')),
  name: text,
  serviceUrl: text,
  description: optionalText,
  categories: v.optional(v.nullable(v.array(v.unknown()))),
  tags: v.optional(v.nullable(v.array(v.unknown()))),
  status: optionalText,
  docs: v.optional(v.nullable(v.record(v.string(), v.unknown()))),
  payments: v.optional(v.nullable(v.array(PaymentSchema))),
  endpoints: v.pipe(v.array(v.unknown(), 'expected a list of endpoints'), v.maxLength(2000)),
})

export type MppService = v.InferOutput<typeof ServiceSchema>

export interface MppEndpoint {
  method: string
  path: string
  description: string | null
  /** Atomic units; null where it depends on the call, or costs nothing. */
  amount: string | null
  unit: string
  hint: string
  currency: string
  decimals: number
  rail: string
}

export type ParsedService =
  | { ok: true; service: MppService }
  | { ok: false; name: string; detail: string }

export function parseMppService(value: unknown): ParsedService {
  const result = v.safeParse(ServiceSchema, value)
  if (result.success) return { ok: true, service: result.output }
  const [issue] = result.issues
  const id = isJsonObject(value) && typeof value.id === 'string' ? value.id : '(no id)'
  return {
    ok: false,
    name: id.slice(0, 250),
    detail: `${v.getDotPath(issue) ?? 'row'}: ${issue.message}`,
  }
}

/** @returns null for an endpoint without a method and a path */
export function parseMppEndpoint(value: unknown, service: MppService): MppEndpoint | null {
  if (!v.is(EndpointSchema, value)) return null
  const endpoint = v.parse(EndpointSchema, value)
  const [, routeMethod, routePath] = /^([A-Z]+) (\/\S*)$/.exec(endpoint.route ?? '') ?? []
  const method = endpoint.method ?? routeMethod
  const path = endpoint.path ?? routePath
  if (method === undefined || path === undefined || !path.startsWith('/')) return null
  const said = { ...endpoint, ...(endpoint.payment ?? {}) }
  // The first way to pay is the one the amounts are written in.
  const coin = endpoint.payment ?? service.payments?.[0]
  return {
    method,
    path,
    description: endpoint.description ?? endpoint.desc ?? null,
    amount: said.dynamic === true ? null : toText(said.amount),
    unit: said.unitType ?? 'request',
    hint: said.amountHint ?? '',
    currency: coin?.currency ?? '',
    decimals: coin?.decimals ?? 6,
    rail: coin?.method ?? 'tempo',
  }
}

function toText(amount: string | number | null | undefined): string | null {
  return amount === null || amount === undefined ? null : String(amount)
}
