import * as v from 'valibot'
import type { DerivedListing } from '../derived/derived-listing.ts'
import type { SurfaceOperation } from '../derived/surface.ts'
import {
  type Auth,
  fillAddress,
  findExampleGap,
  type InvokeEntry,
  type Setting,
} from '../listing/invoke.ts'
import { toPlaceholder } from '../listing/json-schema.ts'
import { type Operation, ParamSchema, PayloadSchema } from '../listing/listing-facts.ts'
import { toExampleRequest, withQuery } from '../listing/operation.ts'
import { railsOf } from '../listing/pricing.ts'
import {
  InvokeSchema,
  operationLine,
  SeenCallSchema,
  VariableViewSchema,
} from '../views/listing-view.ts'
import { largestOf, present, smallestOf } from '../wire/json.ts'
import { HTTP_METHODS, type Rail } from '../wire/vocabulary.ts'

const ExampleRequestSchema = v.object({
  method: v.picklist(HTTP_METHODS),
  url: v.string(),
  /** The same request through the relay; absent if the relay cannot forward it. */
  relay_url: v.optional(v.string()),
  headers: v.record(v.string(), v.string()),
  /** A JSON value if the body is JSON, else its text. */
  body: v.optional(v.unknown()),
})

/** An operation with everything a caller needs, and one request that can be sent as it is. */
export const KitOperationSchema = v.object({
  ...operationLine,
  /** The same operation through the relay; absent if the relay cannot forward it. */
  relay_url: v.optional(v.string()),
  params: v.optional(v.array(ParamSchema)),
  body: v.optional(PayloadSchema),
  /** The output, and the document that describes it. */
  response: v.optional(v.object({ ...PayloadSchema.entries, ref: v.optional(v.string()) })),
  /** Where in the answer each member of the task's output is; absent if the operation is not mapped. */
  result: v.optional(v.record(v.string(), v.string())),
  safe: v.optional(v.boolean()),
  /** `<PLACEHOLDER>`s are for values that only the caller can know. */
  example: ExampleRequestSchema,
})
export type KitOperation = v.InferOutput<typeof KitOperationSchema>

/** @param relayUrl the listing's address at the relay, null if the relay cannot call it */
export function toKitOperations(
  { facts, surface }: DerivedListing,
  relayUrl: string | null,
): KitOperation[] {
  if (facts.kind !== 'http_api') return []
  const operations: SurfaceOperation[] =
    surface.operations.length > 0
      ? surface.operations
      : [{ method: 'GET', url: facts.url, effect: 'read' }]
  const takesX402 = sellsOn('x402', operations, railsOf(facts.pricing))
  return operations.map(({ seen, map: _, send: __, ...operation }) => {
    const request = toExampleRequest(operation, facts.auth)
    const relayed = takesX402(operation) ? relayUrl : null
    const through = (url: string) => toRelayUrl(relayed, facts.url, url)
    return {
      ...operation,
      ...(seen !== undefined && { seen: v.parse(SeenCallSchema, seen) }),
      ...through(operation.url),
      example: { ...request, ...through(request.url) },
    }
  })
}

/** The relay's own query parameters. */
const OWN_PARAMETERS = /(?:^|&)(?:endpoint|relay_info)(?=[=&]|$)/

/**
 * The relay takes endpoints on the listing's own origin. The query stays outside `endpoint`,
 * unchanged; placeholders stay as they are, so that the user finds them.
 */
function toRelayUrl(
  relayUrl: string | null,
  listingUrl: string,
  url: string,
): { relay_url?: string } {
  const listed = new URL(listingUrl)
  const [, origin, path = '', query = ''] =
    /^(https?:\/\/[^/?#]+)([^?#]*)(?:\?([^#]*))?/.exec(url) ?? []
  if (relayUrl === null || origin !== listed.origin) return {}
  if (
    listed.search === '' &&
    (path === listed.pathname || (path === '' && listed.pathname === '/'))
  )
    return OWN_PARAMETERS.test(query) ? whole(relayUrl, path, query) : join(relayUrl, query)
  if (`${path}?${query}` === `${listed.pathname}${listed.search}`) return { relay_url: relayUrl }
  if (OWN_PARAMETERS.test(query)) return whole(relayUrl, path, query)
  return join(relayUrl, `endpoint=${encodeVisibly(path || '/')}`, query)
}

function join(relayUrl: string, ...parts: string[]) {
  const query = parts.filter((part) => part !== '').join('&')
  return { relay_url: query === '' ? relayUrl : `${relayUrl}?${query}` }
}

/** Parameter names that the relay would cut out are safe inside `endpoint`. */
function whole(relayUrl: string, path: string, query: string) {
  return join(relayUrl, `endpoint=${encodeVisibly(`${path || '/'}?${query}`)}`)
}

function encodeVisibly(text: string): string {
  return encodeURIComponent(text)
    .replace(/%3C([A-Z0-9_]+)%3E/g, '<$1>')
    .replace(/%7B([A-Za-z0-9_.]+)%7D/g, '{$1}')
}

export type OperationOffers = Partial<Pick<Operation, 'price' | 'offers'>>

/** Lowest price according to the operation's own terms, in US dollars; null without such terms. */
export function lowestOf({ price, offers = [] }: OperationOffers): number | null {
  const all = price === undefined ? offers : [...offers, price]
  const least = smallestOf(all.map(({ min_usd }) => min_usd))
  return Number.isFinite(least) ? least : null
}

/** Whether an operation is sold on a rail: by its own offers or, if no operation has any, by the listing's. */
export function sellsOn(
  rail: Rail,
  operations: readonly OperationOffers[],
  listed: readonly Rail[],
): (operation: OperationOffers) => boolean {
  const isStated = operations.some(({ offers = [] }) => offers.length > 0)
  return isStated
    ? ({ offers = [] }) => offers.some((offer) => offer.rail === rail)
    : () => listed.includes(rail)
}

/** The rails on which an operation is sold by its own offers. */
export function railsSoldOn({ offers = [] }: OperationOffers): Rail[] {
  return [...new Set(offers.map(({ rail }) => rail))]
}

/**
 * The operation that a buyer most likely wants, among those sold on the rail if there are any; without a rail,
 * among those sold on several, which most buyers can pay, and of a task if any operation has one. The choice is
 * limited to the most frequent task if most operations do it, or if the first and another do it; an operation
 * mapped to its task comes first, then one with a price.
 */
export function chooseOperation<Each extends OfferedCall>(
  operations: readonly Each[],
  rail?: Rail,
): Each | undefined {
  const doesTask = ({ task }: Each) => task !== undefined
  const known = operations.some(doesTask) ? operations.filter(doesTask) : operations
  const sold =
    rail === undefined
      ? known.filter((each) => railsSoldOn(each).length > 1)
      : operations.filter((each) => railsSoldOn(each).includes(rail))
  const all = sold.length > 0 ? sold : operations
  const tasks = Map.groupBy(
    all.filter(({ task }) => task !== undefined),
    ({ task }) => task,
  )
  const most = largestOf([...tasks.values()].map(({ length }) => length))
  const purpose = [...tasks.values()].find(
    ({ length, 0: first }) =>
      length === most && (length * 2 > all.length || (length > 1 && first === all[0])),
  )
  const wanted = purpose ?? all
  return (
    wanted.find(({ result }) => result !== undefined) ??
    wanted.find(({ price, offers }) => price !== undefined || offers !== undefined) ??
    wanted[0]
  )
}

type OfferedCall = OperationOffers & Partial<Pick<KitOperation, 'task' | 'result'>>

const KitSettingSchema = v.object({
  ...VariableViewSchema.entries,
  example: v.optional(v.string()),
  /** The value to use; a `<PLACEHOLDER>` if only the caller knows it. */
  value: v.string(),
})
export type KitSetting = v.InferOutput<typeof KitSettingSchema>

const [remote, packaged] = InvokeSchema.options

/** How an MCP server is reached or started, with what the caller must provide. */
export const KitInvokeSchema = v.variant('kind', [
  v.object({
    ...remote.entries,
    /** The address, with each variable's value filled in. */
    url: v.string(),
    variables: v.optional(v.array(KitSettingSchema)),
    headers: v.optional(v.array(KitSettingSchema)),
  }),
  v.object({
    ...packaged.entries,
    env: v.optional(v.array(KitSettingSchema)),
    args: v.optional(v.array(v.string())),
  }),
])
export type KitInvoke = v.InferOutput<typeof KitInvokeSchema>

export function toKitInvoke(invoke: readonly InvokeEntry[], auth: Auth): KitInvoke[] {
  return invoke.map((entry): KitInvoke => {
    if (entry.kind === 'mcp') {
      const { kind, transport, variables: named = [] } = entry
      const headers = headersOf(entry, auth).map(toKitSetting)
      const variables = named.map(toKitSetting)
      const filled = fillAddress(entry, (variable) => toKitSetting(variable).value)
      return {
        ...{ kind, transport, url: withQueryKey(filled, auth) },
        ...(variables.length > 0 && { variables }),
        ...(headers.length > 0 && { headers }),
      }
    }
    const { env = [], args = [] } = entry
    return {
      ...v.parse(packaged, entry),
      ...(env.length > 0 && { env: env.map(toKitSetting) }),
      ...(args.length > 0 && { args }),
    }
  })
}

/** Declared headers, else the header named by the listing's own `auth`. A client handles OAuth itself. */
function headersOf({ headers }: { headers?: Setting[] | undefined }, auth: Auth): Setting[] {
  if (headers !== undefined) return headers
  const secret = { required: true, secret: true }
  if (auth.type === 'bearer') return [{ name: 'Authorization', ...secret, example: 'Bearer …' }]
  return auth.type === 'api_key' && auth.in === 'header' && auth.name !== undefined
    ? [{ name: auth.name, ...secret }]
    : []
}

/** The headers that the listing's own `auth` names, with a placeholder for each secret. */
export function toAccessHeaders(auth: Auth): Record<string, string> {
  const settings = headersOf({}, auth).map(toKitSetting)
  return Object.fromEntries(settings.map(({ name, value }) => [name, value]))
}

/** The address with a placeholder for a key that goes in the query, the same for every client. */
function withQueryKey(url: string, auth: Auth): string {
  if (auth.type !== 'api_key' || auth.in !== 'query' || auth.name === undefined) return url
  const { name } = auth
  if (URL.parse(url)?.searchParams.has(name) === true) return url
  return withQuery(url, [[name, toPlaceholder(name)]])
}

function toKitSetting(setting: Setting): KitSetting {
  const { name, description, required, secret, choices } = setting
  // A realistic sample gets pasted unchanged, and the mistake shows much later.
  const isSample = findExampleGap(setting).length > 0
  const example = isSample ? undefined : setting.example
  const known = setting.default ?? example
  const value = secret || known === undefined ? toSecretValue(setting) : known
  return {
    ...{ name, ...present({ description }), required, secret },
    ...present({ example, default: setting.default, choices }),
    value,
  }
}

/** What a seller says about a setting, and its possible values. */
export function toSettingWords(
  setting: Pick<KitSetting, 'description' | 'choices' | 'default'>,
): string[] {
  const { description, choices = [] } = setting
  return [
    ...(description === undefined ? [] : [description]),
    ...(choices.length === 0 ? [] : [`one of ${choices.join(', ')}`]),
    ...(setting.default === undefined ? [] : [`${setting.default} by default`]),
  ]
}

/** @example toSecretValue({ name: 'Authorization', example: 'Bearer …' }) → 'Bearer <TOKEN>' */
function toSecretValue({ name, example = '' }: Setting): string {
  const scheme = /^(?:Bearer|Basic|Token|ApiKey|Bot) (?=\S)/i.exec(example)?.[0]
  return scheme === undefined ? toPlaceholder(name) : `${scheme}${toPlaceholder('token')}`
}

export const KitAgentSchema = v.object({
  url: v.string(),
  binding: v.string(),
  protocol: v.optional(v.string()),
})
export type KitAgent = v.InferOutput<typeof KitAgentSchema>

/** Where messages to an agent go, if the card that was read last says so. */
export function toKitAgent({ facts, evidence }: DerivedListing): KitAgent | undefined {
  const { url, binding, protocol } = evidence.interface?.server ?? {}
  if (facts.kind !== 'a2a_agent' || url === undefined || binding === undefined) return undefined
  return { url, binding, ...present({ protocol }) }
}

/** @param protocol the version that the agent's card declares; before 1.0 messages had another form */
export function toAgentRequest(
  protocol: string,
  { message, text }: Record<'message' | 'text', string>,
) {
  const isV1 = protocol.startsWith('1')
  const messageId = message
  const sent = isV1
    ? { messageId, role: 'ROLE_USER', parts: [{ text }] }
    : { messageId, kind: 'message', role: 'user', parts: [{ kind: 'text', text }] }
  const method = isV1 ? 'SendMessage' : 'message/send'
  return {
    ...(isV1 && { headers: { 'A2A-Version': '1.0' } }),
    body: { jsonrpc: '2.0', id: 1, method, params: { message: sent } },
  }
}

/** A note for pages and kits: the relay and `call_listing` pass on HTTP calls only. */
export const PAID_TOOLS =
  'A paid tool answers an unpaid call with its terms, as JSON-RPC error -32042 or as a result with isError. Your own MCP client pays them and repeats the call with the payment in _meta. The relay and call_listing call no tools.'
