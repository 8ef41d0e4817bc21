import { exampleOf, isWithin, mapSchema } from '../listing/json-schema.ts'
import type { Skill, Tool } from '../listing/listing-facts.ts'
import { withoutHidden } from '../listing/listing-text.ts'
import { toOffer, toPrice } from '../listing/operation.ts'
import { toCountText } from '../listing/pricing.ts'
import { readPaymentInfo } from '../sources/payment-info.ts'
import type { Notice } from '../trust/evidence.ts'
import { isJsonObject, listOf, memberOf, objectOf, parseJson, present } from '../wire/json.ts'
import { RAILS } from '../wire/vocabulary.ts'
import {
  type Finding,
  MAX_TERMS,
  type PaymentTerm,
  type ProbeAnswer,
  type Sight,
  toFinding,
  toInertLine,
  toMppTerm,
} from './finding.ts'
import { toX402Terms } from './x402.ts'

/** @param requested the terms with which tools answered an unpaid call, by tool name */
export function toMcpFinding(
  info: McpServerInfo,
  { values, cut }: Pick<ListedTools, 'values' | 'cut'>,
  answer: Pick<ProbeAnswer, 'status' | 'ms'>,
  requested: ReadonlyMap<string, PaymentTerm[]> = new Map(),
): Finding {
  const { items, isCut } = readTools(values)
  const { protocol: version } = info
  const name = toInertLine(info.name, 120)
  const tools = items.map((tool) => ({ ...tool, ...toSold(requested.get(tool.name) ?? []) }))
  const paid = tools.filter(({ price }) => price !== undefined && price.max_usd > 0).length
  const sold = paid === 0 ? '' : `, ${paid} of them paid`
  const stated = `MCP ${version}, ${name || 'a server without a name'}, ${toCountText(items.length, 'tool')}${sold}`
  const why = cut ?? (isCut ? 'tools or schemas that are too large or malformed' : undefined)
  const terms = [...requested.values()].flat()
  const sight: Sight = {
    from: 'mcp',
    server: { name, version: toInertLine(info.version, 60), protocol: version },
    tools,
    ...(terms.length > 0 && { terms }),
    ...(why !== undefined && { truncated: true, cut: why }),
  }
  const saw = why === undefined ? stated : `${stated}, a list that was cut: ${why}`
  return toFinding({ protocol: 'mcp', outcome: 'spoke', version, saw, sight }, answer)
}

/** The current revision: every request describes itself, without a handshake or a session. */
const MCP_CURRENT = '2026-07-28'

/** How an MCP server should answer. */
export const RIGHT_MCP = `Answer POST with JSON-RPC: server/discover of revision ${MCP_CURRENT}, or initialize of an earlier one, and then tools/list.`

/** The last revision with an `initialize` handshake. */
export const MCP_FORMER = '2025-11-25'

const CLIENT = { name: 'directory-probe', version: '1' }

/** How many pages of `tools/list` are read: a server could name a next page for ever. */
const MAX_PAGES = 20

/** One message: its body, and the headers that mirror it over HTTP. A notification has no id. */
export interface McpMessage {
  id: number | null
  headers: Record<string, string>
  body: string
}

/** A session of a former revision, as `initialize` opened it. */
export interface McpSession {
  version: string
  /** Value of `Mcp-Session-Id`, if the server keeps sessions. */
  id: string | null
}

/** Sends a message. @returns its answer; null for a notification, and if no answer came */
export type AskMcp = (message: McpMessage) => Promise<RpcReply | null>

export const DISCOVER = toCurrent(1, 'server/discover', {})

/** The server chooses which of the former revisions it speaks. */
export const INITIALIZE = toMessage(2, 'initialize', {
  protocolVersion: MCP_FORMER,
  capabilities: {},
  clientInfo: CLIENT,
})

export function toInitialized(session: McpSession): McpMessage {
  return toMessage(null, 'notifications/initialized', undefined, toSessionHeaders(session))
}

export function toSessionHeaders({ version, id }: McpSession): Record<string, string> {
  return { 'mcp-protocol-version': version, ...(id !== null && { 'mcp-session-id': id }) }
}

/** A request in the session's revision, or in the current revision. */
function toRequest(
  id: number,
  method: string,
  params: Record<string, unknown>,
  session: McpSession | null,
): McpMessage {
  if (session !== null) return toMessage(id, method, params, toSessionHeaders(session))
  const { headers, ...message } = toCurrent(id, method, params)
  const named = typeof params.name === 'string' && { 'mcp-name': params.name }
  return { ...message, headers: { ...headers, ...named } }
}

function toCurrent(id: number, method: string, params: object): McpMessage {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': MCP_CURRENT,
    'io.modelcontextprotocol/clientInfo': CLIENT,
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  const headers = { 'mcp-protocol-version': MCP_CURRENT, 'mcp-method': method }
  return toMessage(id, method, { ...params, _meta }, headers)
}

function toMessage(
  id: number | null,
  method: string,
  params?: object,
  headers: McpMessage['headers'] = {},
): McpMessage {
  const head = { jsonrpc: '2.0', ...(id !== null && { id }), method }
  return { id, headers, body: JSON.stringify({ ...head, ...(params && { params }) }) }
}

/** Tools read page by page, not yet checked. */
export interface ListedTools {
  values: unknown[]
  /** Why the list is incomplete. */
  cut?: string
  /** The answer that ended the list early; null if none came. */
  fault?: RpcReply | null
}

/** @param session the session of a former revision; null for the current revision */
export async function listTools(
  ask: AskMcp,
  { hasTools }: McpServerInfo,
  session: McpSession | null,
): Promise<ListedTools> {
  const values: unknown[] = []
  let cursor: string | undefined
  for (let page = 0; hasTools && page < MAX_PAGES; page += 1) {
    const reply = await ask(toRequest(10 + page, 'tools/list', present({ cursor }), session))
    const result = reply?.kind === 'result' ? reply.result : {}
    if (!Array.isArray(result.tools))
      return { values, cut: `page ${page + 1} was not answered`, fault: reply }
    // One tool more than is kept, so that later steps see that there were more.
    for (const tool of result.tools.slice(0, SEEN.tools + 1)) values.push(tool)
    const next = typeof result.nextCursor === 'string' ? result.nextCursor : undefined
    if (next === undefined) return { values }
    if (values.length > SEEN.tools) return { values, cut: `more than ${SEEN.tools} tools` }
    if (next === cursor)
      return { values, cut: `nextCursor ${JSON.stringify(next.slice(0, 40))} came back unchanged` }
    cursor = next
  }
  return cursor === undefined ? { values } : { values, cut: `more than ${MAX_PAGES} pages` }
}

/** How many tools one probe calls at most to learn their terms. */
const MAX_REQUESTED = 3

/**
 * Paid tools' answers to an unpaid call. A tool is called only if it declares that it changes
 * nothing, and has a price or belongs to a paid server.
 */
export async function askTerms(
  ask: AskMcp,
  values: readonly unknown[],
  session: McpSession | null,
  isPaid: boolean,
): Promise<Map<string, PaymentTerm[]>> {
  const chosen = values
    .slice(0, SEEN.tools)
    .filter(isJsonObject)
    .filter((tool) => memberOf(tool.annotations, 'readOnlyHint') === true)
    .filter((tool) => isPaid || readToolPrice(tool).isPaid)
    .flatMap((tool) => toName(tool.name) ?? [])
  const requested = new Map<string, PaymentTerm[]>()
  for (const [at, name] of chosen.slice(0, MAX_REQUESTED).entries()) {
    const tool = values.find((each) => memberOf(each, 'name') === name)
    const given = objectOf(exampleOf(memberOf(tool, 'inputSchema'), 'arguments'))
    const params = { name, arguments: given }
    const reply = await ask(toRequest(40 + at, 'tools/call', params, session))
    if (reply === null) break
    const terms = readRpcTerms(reply)
    if (terms.length > 0) requested.set(name, terms)
  }
  return requested
}

/** A server that cannot parse a request answers with an error that has no id: such an error is accepted too. */
export function parseRpcReply(text: string, id: number): RpcReply | null {
  const value = parseJson(text)
  const message = Array.isArray(value)
    ? value.find((each) => isJsonObject(each) && each.id === id)
    : value
  if (!isJsonObject(message) || message.jsonrpc !== '2.0') return null
  const isOurs = message.id === id
  if (isOurs && isJsonObject(message.result)) return { kind: 'result', result: message.result }
  const { error } = message
  if (!isJsonObject(error) || typeof error.code !== 'number') return null
  if (!isOurs && message.id !== null && message.id !== undefined) return null
  return { kind: 'error', code: error.code, message: String(error.message), data: error.data }
}

export type McpServerInfo = ReturnType<typeof toInfo>

const REVISION = /^\d{4}-\d{2}-\d{2}$/

/** @returns null if the reply is not a result of `initialize` */
export function readInitialized(reply: RpcReply | null): McpServerInfo | null {
  if (reply?.kind !== 'result') return null
  const { protocolVersion, serverInfo, capabilities } = reply.result
  if (typeof protocolVersion !== 'string' || !REVISION.test(protocolVersion)) return null
  if (!isJsonObject(serverInfo) || !isJsonObject(capabilities)) return null
  return toInfo(serverInfo, capabilities, protocolVersion)
}

/** @returns null unless the reply is a result of `server/discover` that supports the current revision */
export function readDiscovered(reply: RpcReply | null): McpServerInfo | null {
  if (reply?.kind !== 'result') return null
  const { supportedVersions, capabilities, serverInfo, _meta } = reply.result
  if (!Array.isArray(supportedVersions) || !supportedVersions.includes(MCP_CURRENT)) return null
  if (!isJsonObject(capabilities)) return null
  const meta = memberOf(_meta, 'io.modelcontextprotocol/serverInfo')
  const info = [serverInfo, meta].find((each) => isJsonObject(each))
  return toInfo(objectOf(info), capabilities, MCP_CURRENT)
}

function toInfo(
  info: Record<string, unknown>,
  capabilities: Record<string, unknown>,
  protocol: string,
) {
  const text = (value: unknown) => (typeof value === 'string' ? value : '')
  const hasTools = isJsonObject(capabilities.tools)
  return { name: text(info.name), version: text(info.version), protocol, hasTools }
}

/** How many of a listing's tools and skills are kept; further ones are cut, and the list is marked as cut. */
export const SEEN = {
  tools: 500,
  skills: 200,
  /** The most characters kept, written as JSON: with the members around them they stay under 256 KiB in any script. */
  characters: 80_000,
  nameLength: 128,
  titleLength: 120,
  descriptionLength: 600,
  examples: 5,
  exampleLength: 200,
  schema: { depth: 16, nodes: 1500, characters: 12_000 },
} as const

interface KeptList<Item> {
  items: Item[]
  isCut: boolean
}

/** A bounded number of tools, with inert texts. A schema that is too large or not self-contained is replaced by one for any object. */
export function readTools(values: readonly unknown[]): KeptList<Tool> {
  return keepWithin(values, SEEN.tools, (value) => {
    const name = toName(value.name)
    if (name === null) return null
    const schema = readSchema(value.inputSchema)
    const title = toText(value.title, SEEN.titleLength)
    const hints = objectOf(value.annotations)
    const tool: Tool = {
      name,
      ...(title !== '' && { title }),
      description: toText(value.description, SEEN.descriptionLength) || title || name,
      input_schema: schema.value,
      ...(isHiding(value.description) && { hidden: true }),
      ...(typeof hints.readOnlyHint === 'boolean' && { read_only: hints.readOnlyHint }),
      ...(typeof hints.destructiveHint === 'boolean' && { destructive: hints.destructiveHint }),
      ...readToolPrice(value).sold,
    }
    return { item: tool, isCut: schema.isCut }
  })
}

export function readSkills(values: readonly unknown[]): KeptList<Skill> {
  return keepWithin(values, SEEN.skills, (value) => {
    const id = toName(value.id)
    if (id === null) return null
    const examples = listOf(value.examples)
      .slice(0, SEEN.examples)
      .map((each) => toText(each, SEEN.exampleLength))
      .filter((each) => each !== '')
    const skillName = toText(value.name, SEEN.titleLength) || id
    const skill: Skill = {
      id,
      name: skillName,
      description: toText(value.description, SEEN.descriptionLength) || skillName,
      ...(examples.length > 0 && { examples }),
    }
    return { item: skill, isCut: false }
  })
}

function keepWithin<Item>(
  values: readonly unknown[],
  most: number,
  read: (value: Record<string, unknown>) => { item: Item; isCut: boolean } | null,
): KeptList<Item> {
  const items: Item[] = []
  let left: number = SEEN.characters
  let isCut = values.length > most
  for (const value of values.slice(0, most)) {
    const kept = isJsonObject(value) ? read(value) : null
    if (kept === null) {
      isCut = true
      continue
    }
    left -= JSON.stringify(kept.item).length
    if (left < 0) return { items, isCut: true }
    items.push(kept.item)
    isCut ||= kept.isCut
  }
  return { items, isCut }
}

/** A client sends the name back, so a name that would have to be changed for display is left out. */
function toName(value: unknown): string | null {
  if (typeof value !== 'string' || value === '' || value.length > SEEN.nameLength) return null
  return toInertLine(value, SEEN.nameLength) === value ? value : null
}

function toText(value: unknown, maxLength: number): string {
  return typeof value === 'string' ? toInertLine(value, maxLength) : ''
}

/** Emoji and joining scripts need some invisible characters: only other invisible characters hide something. */
function isHiding(value: unknown): boolean {
  const start = typeof value === 'string' ? value.slice(0, SEEN.descriptionLength * 4) : ''
  return (
    /[\p{Cf}\p{Co}\p{Default_Ignorable_Code_Point}]/u.test(start) && withoutHidden(start) !== start
  )
}

function readSchema(value: unknown): { value: Record<string, unknown>; isCut: boolean } {
  const any = { type: 'object' }
  if (value === undefined) return { value: any, isCut: false }
  const isKept =
    isJsonObject(value) && isWithin(value, SEEN.schema) && hasLocalReferencesOnly(value)
  return isKept ? { value: inertStrings(value), isCut: false } : { value: any, isCut: true }
}

/** Keys are names that a caller must send; the texts next to them are documentation. */
function inertStrings(schema: Record<string, unknown>): Record<string, unknown> {
  const clean = (value: unknown, key: string): unknown => {
    if (typeof value === 'string')
      return key === 'description' || key === 'title'
        ? toInertLine(value, SEEN.descriptionLength)
        : value
    if (Array.isArray(value)) return value.map((each) => clean(each, ''))
    return isJsonObject(value) ? inertStrings(value) : value
  }
  // Texts are cleaned under every keyword, known or not.
  return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, clean(value, key)]))
}

/** Keywords that limit a call's arguments. The rest of a schema is documentation. */
const FACTS = new Set(
  `type properties required items prefixItems enum const format pattern default minimum maximum
  exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength minItems maxItems uniqueItems
  minProperties maxProperties additionalProperties patternProperties propertyNames anyOf oneOf allOf
  not if then else $defs definitions $ref dependentSchemas dependentRequired contains`.split(/\s+/),
)

/** A default or choice longer than this is the seller's prose. */
const MAX_VALUE = 80

/** A finding without the seller's sentences: names, parameters, types and hints stay. */
export function toFacts(finding: Finding): Finding {
  const { sight } = finding
  if (sight === undefined) return finding
  const tools = sight.tools?.map(toToolFacts)
  const skills = sight.skills?.map(({ id, name }) => ({ id, name, description: name }))
  return { ...finding, sight: { ...sight, ...present({ tools, skills }) } }
}

/** @example toToolFacts({ name: 'find', description: 'Finds…', … }) → { name: 'find', description: 'find', … } */
export function toToolFacts({ title: _, ...tool }: Tool): Tool {
  return { ...tool, description: tool.name, input_schema: toSchemaFacts(tool.input_schema) }
}

/** A JSON Schema without its texts; it accepts the same values. */
function toSchemaFacts(schema: Record<string, unknown>): Record<string, unknown> {
  return mapSchema(schema, (keyword, value) => {
    const isProse = keyword === 'default' && JSON.stringify(value).length > MAX_VALUE
    return FACTS.has(keyword) && !isProse ? value : undefined
  })
}

/**
 * Rules that find tools whose texts give orders to the agent that reads them. A match only shows where
 * a person should look: honest tools also explain in which order to call them.
 *
 * Known limit: the rules find only English texts, and somebody who knows the rules can avoid them.
 */
export const TEXT_RULES = [
  {
    id: 'overrides',
    says: 'tells the agent to ignore or replace earlier instructions',
    pattern:
      /\b(?:ignore|disregard|forget|override)\b[^.]{0,40}\b(?:previous|prior|above|earlier|other|system|all)\b[^.]{0,30}\b(?:instructions?|prompts?|rules?|messages?|tools?)\b/i,
  },
  {
    id: 'comes_first',
    says: 'tells the agent to call it before or instead of any other tool',
    pattern:
      /\b(?:before|prior to|instead of)\b[^.]{0,30}\b(?:any|every|all|other)\b(?: other)? tools?\b/i,
  },
  {
    id: 'keeps_secret',
    says: 'tells the agent to hide something from the person it works for',
    pattern:
      /\b(?:do not|don.t|never|without)\b[^.;:]{0,20}\b(?:tell|telling|mention|mentioning|inform|informing|notify|notifying)\b[^.]{0,20}\b(?:user|human|person|them)\b/i,
  },
  {
    id: 'speaks_as_system',
    says: 'contains marks that make it look like a system message',
    pattern:
      /<\/?(?:important|system|instructions?|secret|assistant)>|\[\/?INST\]|<\|im_(?:start|end)\|>/i,
  },
  {
    id: 'reads_secrets',
    says: 'names a file with keys or configurations of other tools',
    pattern:
      /~\/\.ssh|\bid_(?:rsa|ed25519)\b|\.cursor\/mcp\.json|\bclaude_desktop_config\b|~\/\.aws/i,
  },
] as const

/** Checked in addition to the rules: invisible characters are found when a text is read. */
export const HIDDEN_RULE = { id: 'hidden', says: 'contains invisible characters' } as const

type Reported = Pick<Tool, 'name' | 'description' | 'hidden'> | Pick<Skill, 'name' | 'description'>

/** One match, with its name, for each tool or skill whose text matches a rule. */
export function findSuspiciousTexts(reported: readonly Reported[]) {
  return reported.flatMap((each) => {
    const isHidden = 'hidden' in each && each.hidden === true
    const rule = isHidden
      ? HIDDEN_RULE
      : TEXT_RULES.find(({ pattern }) => pattern.test(each.description))
    return rule === undefined ? [] : [{ name: each.name, rule: rule.id, says: rule.says }]
  })
}

/** One notice about all of these texts; it changes no score. @param since when the tool's text was first seen */
export function toSuspicionNotice(
  reported: readonly Reported[],
  since: (name: string) => string,
): Notice[] {
  const [first, ...more] = findSuspiciousTexts(reported)
  if (first === undefined) return []
  const others = more.length === 0 ? '' : ` So do ${more.length} more.`
  const note = `The text of ${first.name.slice(0, 60)} ${first.says}.${others} A person will look at it; by itself this is no evidence against the seller.`
  return [{ id: 'suspicious_text', note, at: since(first.name) }]
}

/** The answer to one JSON-RPC message. */
export type RpcReply =
  | { kind: 'result'; result: Record<string, unknown> }
  | { kind: 'error'; code: number; message: string; data: unknown }

/** Codes of errors that demand a payment; most servers use the first, some use HTTP's 402. */
const PAYMENT_ERRORS = new Set([-32_042, -32_402, 402])

const MAX_TEXT = 64 * 1024

/**
 * The terms that answer an unpaid request: in the `data` of an error, or in the
 * `structuredContent`, `_meta` or text of a tool's result that is an error.
 */
export function readRpcTerms(reply: RpcReply | null): PaymentTerm[] {
  if (reply === null) return []
  if (reply.kind === 'error') return PAYMENT_ERRORS.has(reply.code) ? readTerms(reply.data) : []
  const { isError, structuredContent, _meta, content } = reply.result
  if (isError !== true) return []
  const texts = listOf(content)
    .slice(0, 3)
    .flatMap((part) => {
      const text = memberOf(part, 'text')
      return typeof text === 'string' && text.length <= MAX_TEXT ? [parseJson(text)] : []
    })
  const stated = [structuredContent, ...Object.values(objectOf(_meta)), ...texts]
  return stated.map(readTerms).find((terms) => terms.length > 0) ?? []
}

/** x402 offers, or MPP challenges. */
function readTerms(stated: unknown): PaymentTerm[] {
  const [accepts, challenges] = ['accepts', 'challenges'].map((name) =>
    listOf(memberOf(stated, name)).slice(0, MAX_TERMS),
  )
  return [
    ...toX402Terms(accepts ?? []),
    ...(challenges ?? []).flatMap((each) => (isJsonObject(each) && toMppTerm(each)) || []),
  ]
}

type Sold = Pick<Tool, 'price' | 'offers'>

/** A tool's price and ways to pay, from its terms. */
function toSold(terms: readonly PaymentTerm[]): Sold {
  return toPrice(terms.flatMap(toOffer))
}

/**
 * A tool's price according to `tools/list`: `payment` next to its schema, or members of `_meta` in
 * documented shapes, each in its author's namespace.
 */
function readToolPrice(tool: Record<string, unknown>): { sold: Sold; isPaid: boolean } {
  const meta = objectOf(tool._meta)
  const named = [...Object.entries(meta), ['payment', tool.payment] as const].filter(
    ([name, value]) => /pay|pric|x402|mpp|cost/i.test(name) && (value ?? null) !== null,
  )
  const flat = Object.fromEntries(
    named.map(([name, value]) => [name.slice(name.lastIndexOf('/') + 1), value]),
  )
  const protocols = RAILS.filter((rail) =>
    named.some(([name]) => name.toLowerCase().includes(rail)),
  )
  const sold = [...named.map(([, value]) => value), { protocols, ...flat }]
    .map(readPaymentInfo)
    .find(({ price }) => price !== undefined)
  const { price, offers } = sold ?? {}
  const isMarked = named.some(([name, value]) => /required$/i.test(name) && value === true)
  return {
    sold: { ...(price !== undefined && { price }), ...(offers !== undefined && { offers }) },
    isPaid: isMarked || (price !== undefined && price.max_usd > 0),
  }
}

/** Whether all references are local: readers would fetch any other. The caller limits the value's size first. */
export function hasLocalReferencesOnly(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true
  return Object.entries(value).every(([key, child]) => {
    const isReference = key === '$ref' || key === '$dynamicRef' || key === '$recursiveRef'
    if (isReference && typeof child === 'string') return child.startsWith('#')
    return hasLocalReferencesOnly(child)
  })
}
