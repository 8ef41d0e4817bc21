import * as v from 'valibot'
import { type ArgumentSlot, slotOf, slotsIn } from '../arguments/fill-arguments.ts'
import { type DerivedListing, trustScoreOf } from '../derived/derived-listing.ts'
import { exampleOf, toPlaceholder } from '../listing/json-schema.ts'
import {
  OfferSchema,
  OperationPriceSchema,
  type ShownTool,
  type Skill,
} from '../listing/listing-facts.ts'
import { isJsonPayload, toOutputFields, toOutputNames, toShellWords } from '../listing/operation.ts'
import { lowestPriceOf, networksOf, type Pricing, railsOf } from '../listing/pricing.ts'
import { callsOf, toDigest, toFactsOfCall } from '../relay/pins.ts'
import { toWarning } from '../views/known-view.ts'
import { isJsonObject, present } from '../wire/json.ts'
import { callPath, pagePath } from '../wire/links.ts'
import { SELLER_TEXTS, SellerTextsSchema } from '../wire/shapes.ts'
import { cutLine, cutText, joinNames } from '../wire/text.ts'
import {
  AUTH_TYPES,
  EFFECTS,
  HTTP_METHODS,
  KINDS,
  RAILS,
  type Rail,
  WARNINGS,
} from '../wire/vocabulary.ts'
import { findWay } from './client-setup.ts'
import {
  chooseOperation,
  type KitOperation,
  lowestOf,
  type OperationOffers,
  sellsOn,
  toAgentRequest,
  toKitAgent,
  toKitInvoke,
  toKitOperations,
} from './kit-entries.ts'
import type { KitView } from './kit-view.ts'

/** Descriptions are cut, so that three results stay within a kilobyte and a half. */
const MAX_DESCRIPTION = 80
/** The most offers of one operation that an answer shows. */
export const MAX_OFFERS = 2
const MAX_INPUTS = 6
const MAX_OUTPUTS = 6
const MAX_OUTPUT_TYPE = 40
const MAX_OUTPUT_NAMES = 40
const MAX_EXAMPLE = 300
const MAX_MESSAGE = 120

/** An operation of a listing: a call over HTTP, a tool of an MCP server, a skill of an agent. */
export const FoundOperationSchema = v.object({
  listing: v.object({
    id: v.string(),
    name: v.string(),
    kind: v.picklist(KINDS),
    trust: v.nullable(v.number()),
    auth: v.picklist(AUTH_TYPES),
    warning: v.optional(v.picklist(WARNINGS)),
    page: v.string(),
  }),
  operation: v.object({
    /** Name of a tool or skill. */
    name: v.optional(v.string()),
    method: v.optional(v.picklist(HTTP_METHODS)),
    /**
     * Address of the call: for a tool its server's address, for a skill the address for messages.
     * Except in its first row, an answer short of room omits it if the example's address begins with it.
     */
    url: v.optional(v.string()),
    /** The protocol, if neither HTTP nor MCP over streamable HTTP: `JSONRPC 0.3.0`. */
    protocol: v.optional(v.string()),
    /** The address of an agent's card, if the address for messages was not read from that card. */
    agent_card: v.optional(v.string()),
    /** The command that starts a local server. */
    command: v.optional(v.string()),
    /** The package of a local server that no command starts: `mcpb:https://…`. */
    package: v.optional(v.string()),
    description: v.optional(v.string()),
    /** What a call changes; absent if unknown, and for a whole server or agent. */
    effect: v.optional(v.picklist(EFFECTS)),
    price: v.optional(OperationPriceSchema),
    /** The offers; without prices if `price` already gives them. */
    offers: v.optional(v.array(v.partial(OfferSchema, ['min_usd', 'max_usd']))),
    /** Required inputs, with their types. */
    input: v.optional(v.record(v.string(), v.string())),
    /** The outer fields of a JSON answer, in a kit with their types; for another answer, its media type. */
    output: v.optional(v.union([v.string(), v.record(v.string(), v.string())])),
    /** A request, or a tool's arguments, ready to send once its `<PLACEHOLDER>`s are filled in. */
    example: v.optional(
      v.object({
        url: v.optional(v.string()),
        headers: v.optional(v.record(v.string(), v.string())),
        body: v.optional(v.unknown()),
        arguments: v.optional(v.unknown()),
      }),
    ),
    relay_url: v.optional(v.string()),
    /** Values that only the caller has: `header X-API-Key`, `env DATABASE_URL`; absent if unknown. */
    bring: v.optional(v.array(v.string())),
  }),
})
export type FoundOperation = v.InferOutput<typeof FoundOperationSchema>

export function toFoundHttp(operation: KitOperation): FoundOperation['operation'] {
  const { method, url, description, effect, price, offers, relay_url, example } = operation
  const required = (operation.params ?? []).filter(
    (param) => param.required === true || param.in === 'path',
  )
  const body = withoutEmpty(example.body)
  const sent = present({ url: example.url === url ? undefined : example.url, body })
  const keys = Object.entries(example.headers).flatMap(([name, value]) =>
    /<[A-Z0-9_]+>/.test(value) ? [`header ${name}`] : [],
  )
  return {
    ...{ method, url },
    ...present({
      description: description && cutLine(description, MAX_DESCRIPTION),
      ...{ effect, price, offers: offers && toOffers(offers, price) },
    }),
    ...toInput(required.map(({ name, schema }) => [name, typeOf(schema)])),
    ...toShortOutput(operation),
    ...(isShort(sent) && Object.keys(sent).length > 0 && { example: sent }),
    ...(relay_url !== undefined && { relay_url }),
    ...(keys.length > 0 && { bring: keys }),
  }
}

/** The offers; without prices if `price` already gives them. */
export function toOffers(
  offers: NonNullable<KitOperation['offers']>,
  price: Partial<Record<'min_usd' | 'max_usd', number | null>> | undefined,
): FoundOperation['operation']['offers'] {
  return offers.map(({ min_usd, max_usd, ...rest }) => {
    const isSame = min_usd === price?.min_usd && max_usd === price.max_usd
    return isSame ? rest : { ...rest, min_usd, max_usd }
  })
}

/** Members of a listing that show how to call its tools or message its agent. */
type Reached = Pick<KitView, 'kind' | 'summary' | 'invoke' | 'agent' | 'discovery'>

/** A server or an agent without a chosen operation; null if it is unknown how to reach it. */
function toFoundWhole(reached: Reached): FoundOperation['operation'] | null {
  const place = reached.kind === 'a2a_agent' ? toRequested(reached, []) : toPlace(reached)
  const description = cutLine(reached.summary, MAX_DESCRIPTION)
  return Object.keys(place).length === 0 ? null : { ...place, description }
}

function toFoundTool(tool: ShownTool, reached: Reached): FoundOperation['operation'] {
  const { effect, price, offers } = tool
  const { properties, required } = tool.input_schema
  const names = Array.isArray(required) ? required.map(String) : []
  const types: object = typeof properties === 'object' && properties !== null ? properties : {}
  // Some services list only the names of their tools: then the arguments are unknown.
  const filled =
    properties === undefined ? undefined : withoutEmpty(exampleOf(tool.input_schema, 'arguments'))
  return {
    name: tool.name,
    ...toPlace(reached),
    ...(tool.description !== tool.name && {
      description: cutLine(tool.description, MAX_DESCRIPTION),
    }),
    ...present({ effect, price, offers: offers && toOffers(offers, price) }),
    ...toInput(names.map((input) => [input, typeOf(Reflect.get(types, input))])),
    ...(isShort(filled) && { example: { arguments: filled } }),
  }
}

function toFoundSkill(
  { name, description, examples = [] }: Skill,
  reached: Reached,
): FoundOperation['operation'] {
  return {
    name,
    ...toRequested(reached, examples),
    description: cutLine(description, MAX_DESCRIPTION),
  }
}

/** Where messages to an agent go, and an example message. */
function toRequested({ agent, discovery }: Reached, examples: readonly string[]) {
  if (agent === undefined)
    return discovery.agent_card === undefined ? {} : { agent_card: discovery.agent_card }
  const { url, binding, protocol = '' } = agent
  const text = examples.find(({ length }) => length <= MAX_MESSAGE) ?? '<TASK>'
  return {
    url,
    protocol: `${binding} ${protocol}`.trim(),
    ...(binding === 'JSONRPC' && { example: toAgentRequest(protocol, { message: 'm1', text }) }),
  }
}

/** Where a server's tools are called: its address, else the command that starts it. */
function toPlace({ invoke }: Reached) {
  const servers = invoke.filter((entry) => entry.kind !== 'http')
  const way = findWay(servers)
  if (way === null) {
    const bundle = servers.find((entry) => entry.kind === 'mcp_package')
    return bundle === undefined ? {} : { package: `${bundle.registry}:${bundle.identifier}` }
  }
  const bring =
    'url' in way
      ? Object.keys(way.headers).map((name) => `header ${name}`)
      : Object.keys(way.env ?? {}).map((name) => `env ${name}`)
  return {
    ...('url' in way
      ? { url: way.url, ...(way.transport === 'sse' && { protocol: 'sse' }) }
      : { command: toShellWords([way.command, ...way.args]) }),
    ...(bring.length > 0 && { bring }),
  }
}

/**
 * An empty object tells a caller nothing: as the whole input it is left out, and inside other
 * values it becomes a placeholder.
 */
function withoutEmpty(value: unknown): unknown {
  return isEmpty(value) ? undefined : fillEmpty(value, 'value')
}

function fillEmpty(value: unknown, name: string): unknown {
  if (isEmpty(value)) return toPlaceholder(name)
  if (Array.isArray(value)) return value.map((each) => fillEmpty(each, name))
  if (!isJsonObject(value)) return value
  const members = Object.entries(value).map(([key, inner]) => [key, fillEmpty(inner, key)])
  return Object.fromEntries(members)
}

function isEmpty(value: unknown): boolean {
  return isJsonObject(value) && Object.keys(value).length === 0
}

function isShort(value: unknown): boolean {
  return value !== undefined && JSON.stringify(value).length <= MAX_EXAMPLE
}

function toInput(pairs: readonly (readonly [string, string])[]): {
  input?: Record<string, string>
} {
  return pairs.length === 0 ? {} : { input: Object.fromEntries(pairs.slice(0, MAX_INPUTS)) }
}

/** An answer's outer fields with their types; for an answer that is not JSON, its media type. */
export function toOutput(operation: Answering): Pick<Found, 'output'> {
  const { response } = operation
  if (response === undefined) return {}
  if (!isJsonPayload(response)) return { output: response.content_type }
  const fields = toOutputFields(operation).slice(0, MAX_OUTPUTS)
  if (fields.length === 0) return {}
  const pairs = fields.map(({ name, type }) => [name, cutText(type, MAX_OUTPUT_TYPE)])
  return { output: Object.fromEntries(pairs) }
}

/** Like `toOutput`, with names only: the rows in an answer have no room for types. */
function toShortOutput(operation: Answering): Pick<Found, 'output'> {
  const { output } = toOutput(operation)
  if (output === undefined || typeof output === 'string') return present({ output })
  return { output: joinNames(toOutputNames(operation), MAX_OUTPUT_NAMES) }
}

type Answering = Pick<KitOperation, 'response' | 'result'>
type Found = FoundOperation['operation']

function typeOf(schema: unknown): string {
  const type = typeof schema === 'object' && schema !== null ? Reflect.get(schema, 'type') : null
  return typeof type === 'string' ? type : 'any'
}

/** An operation's facts that a search uses, in addition to its listing's words. */
export type OperationEntry = ReturnType<typeof toOperationEntries>[number]

/**
 * All operations of a listing, each as an answer shows it. A server and an agent are also found as
 * a whole, with their address: a query may be about them and name no operation.
 */
export function toOperationEntries(listing: DerivedListing, baseUrl: string) {
  const { id, facts, surface, trust, buy } = listing
  const shown = {
    ...{ id, name: facts.name, kind: facts.kind, trust: trustScoreOf(trust) },
    ...{ auth: facts.auth.type, ...present({ warning: toWarning(listing) }), page: pagePath(id) },
  }
  const relayUrl = buy.buy === 'relay_x402' ? `${baseUrl}${callPath(id)}` : null
  const agent = toKitAgent(listing)
  const invoke = toKitInvoke(facts.invoke, facts.auth)
  const reached = { ...facts, invoke, ...(agent !== undefined && { agent }) }
  const whole = toFoundWhole(reached)
  const toTerms = readTerms(facts.pricing, [...surface.operations, ...surface.tools])
  const toEntry = (
    operation: FoundOperation['operation'],
    names: string[],
    description = '',
    sold: OperationOffers & Partial<Pick<KitOperation, 'task' | 'result'>> = {},
    slots: ArgumentSlot[] = [],
  ) => ({
    found: { listing: shown, operation },
    /** The operation's name and task. */
    names,
    /** Id of the operation's task. */
    task: sold.task,
    isMapped: sold.result !== undefined,
    description,
    /** Slots in the operation's example that a query can fill. */
    slots,
    /** What a call changes; null if unknown. */
    effect: operation.effect ?? null,
    ...toTerms(sold),
  })
  return [
    ...toKitOperations(listing, relayUrl).map((operation) => {
      const { url, task, description } = operation
      const names = [lastPartOf(url), ...(task === undefined ? [] : [task.replaceAll('_', ' ')])]
      const found = toFoundHttp(operation)
      return toEntry(found, names, description, operation, toHttpSlots(operation))
    }),
    ...surface.tools.map((tool) => {
      const names = tool.title === undefined ? [tool.name] : [tool.name, tool.title]
      const stated = tool.description === tool.name ? '' : tool.description
      const found = toFoundTool(tool, reached)
      const given = found.example?.arguments
      const slots = slotsIn(['arguments'], given, tool.input_schema, true)
      return toEntry(found, names, stated, tool, slots)
    }),
    ...surface.skills.map((skill) => {
      const stated = [skill.description, ...(skill.examples ?? [])].join(' ')
      return toEntry(toFoundSkill(skill, reached), [skill.name], stated)
    }),
    ...(whole === null ? [] : [toEntry(whole, [facts.name], facts.summary)]),
  ]
}

function toHttpSlots({ params = [], body, example }: KitOperation): ArgumentSlot[] {
  return [
    ...params.flatMap(({ name, in: place, schema, required, description, example: shown }) => {
      if (place === 'header') return []
      const isNeeded = required === true || place === 'path'
      const named = { name, schema, description, example: shown ?? '', required: isNeeded }
      return slotOf(place, named) ?? []
    }),
    ...slotsIn(['body'], example.body, body?.schema, true),
  ]
}

/**
 * Ways to pay for an operation, and its lowest price in US dollars (null if none is known): from
 * the operation's own terms or, if no operation has terms, from the listing's.
 */
function readTerms(pricing: Pricing, operations: readonly OperationOffers[]) {
  const sellsOnRail = RAILS.map(
    (rail) => [rail, sellsOn(rail, operations, railsOf(pricing))] as const,
  )
  const hasOffers = operations.some(({ offers = [] }) => offers.length > 0)
  const isPriced = operations.some((operation) => lowestOf(operation) !== null)
  const listedUsd = isPriced ? null : lowestPriceOf(pricing)
  return (operation: OperationOffers) => {
    const { offers = [] } = operation
    return {
      rails: sellsOnRail.flatMap(([rail, sells]) => (sells(operation) ? [rail] : [])),
      networks: hasOffers ? offers.flatMap(({ network }) => network ?? []) : networksOf(pricing),
      offers,
      minUsd: lowestOf(operation) ?? listedUsd,
    }
  }
}

/** How many other operations are named; more are in the full kit. */
const MOST_NAMED = 8

/** `kit.json?view=compact`: the input of the next call, and nothing else. */
export const CompactKitSchema = v.object({
  id: v.string(),
  kind: v.picklist(KINDS),
  digest: v.string(),
  auth: v.picklist(AUTH_TYPES),
  rails: v.array(v.picklist(RAILS)),
  operation: v.object({
    ...v.omit(FoundOperationSchema.entries.operation, ['bring']).entries,
    /** Digest of what a caller relies on, as in a lock; present if the operation was requested by name. */
    digest: v.optional(v.string()),
  }),
  /** Values that only the caller has: `header X-API-Key`, `env DATABASE_URL`, a `<PLACEHOLDER>`. */
  bring: v.array(v.string()),
  /** Names of other operations, in the form that the parameter `operation` takes. */
  others: v.array(v.string()),
  more: v.optional(v.number()),
  texts: SellerTextsSchema,
})
export type CompactKit = v.InferOutput<typeof CompactKitSchema>

interface CompactChoice {
  /** An operation's name as in `others` or a lock, or its index in kit.json. */
  operation?: string | undefined
  rail?: Rail | undefined
}

/** @returns null for an operation that the kit does not have */
export function toCompactKit(kit: KitView, choice: CompactChoice): CompactKit | null {
  const rows = toRows(kit)
  const names = rows.map(({ name }) => name)
  const wanted = findWanted(kit, names, choice)
  const row = rows[wanted]
  if (row === undefined && (rows.length > 0 || choice.operation !== undefined)) return null
  const others = names.filter((_, at) => at !== wanted)
  const { bring = [], ...operation } = row?.toOperation() ?? toFoundWhole(kit) ?? {}
  const { url, body } = operation.example ?? {}
  const isNamed = row !== undefined && callsOf(kit).includes(choice.operation ?? '')
  return {
    ...{ id: kit.id, kind: kit.kind, digest: kit.digest, auth: kit.auth.type },
    rails: kit.payment.rails,
    operation: {
      ...operation,
      ...(isNamed && { digest: toDigest(toFactsOfCall(kit, choice.operation ?? '')) }),
    },
    bring: [...bring, ...new Set(JSON.stringify({ url, body }).match(/<[A-Z0-9_]+>/g))],
    others: others.slice(0, MOST_NAMED),
    ...(others.length > MOST_NAMED && { more: others.length - MOST_NAMED }),
    texts: SELLER_TEXTS,
  }
}

function toRows(kit: KitView) {
  const { origin } = new URL(kit.url)
  return [
    ...kit.operations.map((each) => ({
      name: `${each.method} ${each.url.startsWith(`${origin}/`) ? each.url.slice(origin.length) : each.url}`,
      toOperation() {
        const { url, headers, body } = each.example
        const example = {
          ...(url !== each.url && { url }),
          ...(Object.keys(headers).length > 0 && { headers }),
          ...(body !== undefined && { body }),
        }
        const { offers, ...found } = toFoundHttp(each)
        return {
          ...found,
          ...(offers !== undefined && { offers: offers.slice(0, MAX_OFFERS) }),
          ...toOutput(each),
          ...(Object.keys(example).length > 0 && { example }),
        }
      },
    })),
    ...kit.tools.map((tool) => ({
      name: tool.name,
      toOperation: () => toFoundTool(tool, kit),
    })),
    ...kit.skills.map((skill) => ({
      name: skill.id,
      toOperation: () => toFoundSkill(skill, kit),
    })),
  ]
}

/** @returns the index of the wanted row, -1 if no row fits */
function findWanted(
  { operations, skills }: KitView,
  names: readonly string[],
  { operation, rail }: CompactChoice,
): number {
  const pinned = operations.findIndex(({ method, url }) => `${method} ${url}` === operation)
  if (pinned >= 0) return pinned
  const named = skills.findIndex(({ name }) => name === operation)
  if (named >= 0) return named
  if (operation !== undefined)
    return /^\d{1,4}$/.test(operation) ? Number(operation) : names.indexOf(operation)
  const chosen = chooseOperation(operations, rail)
  return chosen === undefined ? 0 : operations.indexOf(chosen)
}

/**
 * The words at an address's end, which show what the call does. @example
 * lastPartOf('https://x.example/v1/users/{id}/delete') → 'users delete'
 */
function lastPartOf(url: string): string {
  return new URL(url).pathname
    .split(/(?:[/{}]|%7B|%7D)+/)
    .filter((part) => part !== '' && !/^v?\d+$/.test(part))
    .slice(-2)
    .join(' ')
}
