import { exampleOf, hasLocalReferencesOnly, isWithin } from '../listing/json-schema.ts'
import type { Skill, Tool } from '../listing/listing-facts.ts'
import { withoutHidden } from '../listing/listing-text.ts'
import { toCountText } from '../listing/price-text.ts'
import type { Notice } from '../trust/evidence.ts'
import { isJsonObject, memberOf, parseJson, present } from '../wire/json.ts'
import {
  type Finding,
  judgeStatus,
  type PaymentTerm,
  type ProbeAnswer,
  readMppTerms,
  type Sight,
  toFinding,
  toHeadText,
  toInertLine,
  toOfferWords,
  toWrong,
} from './finding.ts'
import {
  type RpcReply,
  readRpcTerms,
  readToolPrice,
  readX402Terms,
  toMissingTerms,
  toSold,
} from './x402.ts'

/** An answer that ended the handshake before a server introduced itself. */
export function judgeNoMcp(answer: ProbeAnswer, reply: RpcReply | null, now: number): Finding {
  if (answer.status === 402) return toPaidEndpoint(answer)
  const terms = readRpcTerms(reply)
  if (terms.length > 0) return toPaid(answer, terms, 'a JSON-RPC error before the handshake, with')
  const common = judgeStatus('mcp', answer, now)
  if (common !== null) return common
  if (reply?.kind === 'error')
    return toWrong('mcp', answer, `JSON-RPC error ${reply.code}: ${reply.message}`, RIGHT_MCP)
  return toWrong('mcp', answer, `${toHeadText(answer)}, no answer to initialize`)
}

/** An MCP endpoint behind a payment: its terms and payouts are read, its tools are not seen. */
function toPaidEndpoint(answer: ProbeAnswer): Finding {
  const read = [readX402Terms(answer), readMppTerms(answer)]
  const terms = read.flatMap((each) => (each.found ? each.terms : []))
  if (terms.length > 0) return toPaid(answer, terms, '402 before the handshake, with')
  const { what, change } = toMissingTerms(read)
  return toWrong('mcp', answer, `status 402, ${what}`, change, what)
}

function toPaid(answer: ProbeAnswer, terms: PaymentTerm[], words: string): Finding {
  const saw = `${words} ${toOfferWords(terms)}`
  const from = terms.some(({ rail }) => rail === 'x402') ? 'x402' : 'mpp'
  const isMeant = answer.status !== 402 && { isMeant: true as const }
  const sight: Sight = { from, terms }
  return toFinding({ protocol: 'mcp', outcome: 'gated', saw, sight, ...isMeant }, answer)
}

/** A server that introduced itself, and then refused its own session. */
export function judgeBrokenSession(finding: Finding, { id }: McpSession): Finding {
  if (id === null || (finding.outcome !== 'dead' && finding.outcome !== 'wrong_protocol'))
    return finding
  const saw = `initialize gave an Mcp-Session-Id, but tools/list with that id answered ${finding.saw}`
  const change =
    'Keep the session that initialize opened and answer requests with its id, on every machine behind the address; or give no Mcp-Session-Id.'
  return toFinding({ ...finding, saw, isMeant: true, faults: [{ what: saw, change }] })
}

/** @param requested terms that tools answered an unpaid call with, by name */
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
export const MCP_CURRENT = '2026-07-28'

/** How an MCP server is spoken to. */
export const RIGHT_MCP = `Answer POST with JSON-RPC: server/discover of revision ${MCP_CURRENT}, or initialize of an earlier one, and then tools/list.`

/** The last revision with an `initialize` handshake. */
const MCP_FORMER = '2025-11-25'

/** Error of a server of the current era that speaks other revisions than the one asked. */
const UNSUPPORTED_VERSION = -32_022

/** Errors that only a server of the current era gives: bad headers, missing capability, version. */
const CURRENT_ERRORS = new Set([-32_020, -32_021, UNSUPPORTED_VERSION])

const CLIENT = { name: 'directory-probe', version: '1' }

/** Pages of `tools/list` that are read: the limit for a server that always has another. */
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
  /** Value of `Mcp-Session-Id`, where the server keeps sessions. */
  id: string | null
}

/** Sends a message. @returns its answer; null for a notification, and where none came */
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

/** By the revision of a session, or by the current one. */
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

/** Tools page by page, not yet checked. */
export interface ListedTools {
  values: unknown[]
  /** Why the list is not whole. */
  cut?: string
  /** The answer that ended the list early, or null for none. */
  fault?: RpcReply | null
}

/** @param session a former revision's, or null for the current revision */
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
    // One more than is kept, so that later steps see that there were more.
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

/** Tools that are called for their terms in one probe. */
const MAX_REQUESTED = 3

/**
 * What paid tools answer an unpaid call with. Only those are called that say themselves that they
 * change nothing, and that have a price or belong to a paid server.
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
    const example = exampleOf(memberOf(tool, 'inputSchema'), 'arguments')
    const given = isJsonObject(example) ? example : {}
    const params = { name, arguments: given }
    const reply = await ask(toRequest(40 + at, 'tools/call', params, session))
    if (reply === null) break
    const terms = readRpcTerms(reply)
    if (terms.length > 0) requested.set(name, terms)
  }
  return requested
}

/** Servers that could not parse a request answer with an error without an id: it counts too. */
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

/** @returns null where it is not a result of `initialize`. */
export function readInitialized(reply: RpcReply | null): McpServerInfo | null {
  if (reply?.kind !== 'result') return null
  const { protocolVersion, serverInfo, capabilities } = reply.result
  if (typeof protocolVersion !== 'string' || !REVISION.test(protocolVersion)) return null
  if (!isJsonObject(serverInfo) || !isJsonObject(capabilities)) return null
  return toInfo(serverInfo, capabilities, protocolVersion)
}

/** @returns null where it is not a result of `server/discover`, or not of our revision. */
export function readDiscovered(reply: RpcReply | null): McpServerInfo | null {
  if (reply?.kind !== 'result') return null
  const { supportedVersions, capabilities, serverInfo, _meta } = reply.result
  if (!Array.isArray(supportedVersions) || !supportedVersions.includes(MCP_CURRENT)) return null
  if (!isJsonObject(capabilities)) return null
  const meta = isJsonObject(_meta) ? _meta['io.modelcontextprotocol/serverInfo'] : null
  const info = [serverInfo, meta].find((each) => isJsonObject(each))
  return toInfo(isJsonObject(info) ? info : {}, capabilities, MCP_CURRENT)
}

/** The server is of the current era but refused this request: `initialize` would not help. */
export function isCurrentEraError(reply: RpcReply | null): boolean {
  if (reply?.kind !== 'error' || !CURRENT_ERRORS.has(reply.code)) return false
  if (reply.code !== UNSUPPORTED_VERSION) return true
  // It may also name former revisions: those are reached by `initialize`.
  const supported = isJsonObject(reply.data) ? reply.data.supported : undefined
  return !(Array.isArray(supported) && supported.some((each) => String(each) <= MCP_FORMER))
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

/** Reads each character once. @returns a function from a chunk to the events it completed */
export function createEventReader(): (piece: string) => { event: string; data: string }[] {
  let rest = ''
  let event = ''
  let data: string[] = []
  const readLine = (line: string) => {
    if (line.startsWith('data:')) data.push(line.slice(5).replace(/^ /, ''))
    if (line.startsWith('event:')) event = line.slice(6).trim()
    if (line !== '') return []
    const whole = { event: event || 'message', data: data.join('\n') }
    const isEmpty = data.length === 0
    event = ''
    data = []
    return isEmpty ? [] : [whole]
  }
  return (piece) => {
    const [first = '', ...others] = piece.split('\n')
    const lines = [rest + first, ...others]
    rest = lines.pop() ?? ''
    return lines.flatMap((line) => readLine(line.endsWith('\r') ? line.slice(0, -1) : line))
  }
}

/** How many tools and skills of a listing are kept; the rest is cut and marked so. */
export const SEEN = {
  tools: 500,
  skills: 200,
  /** Characters of everything kept as JSON: with its frame under 256 KiB, in any script. */
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

/** Bounded, with inert texts. A schema too large or with external references becomes any object. */
export function readTools(values: readonly unknown[]): KeptList<Tool> {
  return keepWithin(values, SEEN.tools, (value) => {
    const name = toName(value.name)
    if (name === null) return null
    const schema = readSchema(value.inputSchema)
    const title = toText(value.title, SEEN.titleLength)
    const hints = isJsonObject(value.annotations) ? value.annotations : {}
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
    const examples = (Array.isArray(value.examples) ? value.examples : [])
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

/** A client sends the name back: one that would have to be changed for display is left out. */
function toName(value: unknown): string | null {
  if (typeof value !== 'string' || value === '' || value.length > SEEN.nameLength) return null
  return toInertLine(value, SEEN.nameLength) === value ? value : null
}

function toText(value: unknown, maxLength: number): string {
  return typeof value === 'string' ? toInertLine(value, maxLength) : ''
}

/** Emoji and joining scripts need some of them. */
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

/** Keys are names a caller must send; the texts next to them are documentation. */
function inertStrings(schema: Record<string, unknown>): Record<string, unknown> {
  const clean = (value: unknown, key: string): unknown => {
    if (typeof value === 'string')
      return key === 'description' || key === 'title'
        ? toInertLine(value, SEEN.descriptionLength)
        : value
    if (Array.isArray(value)) return value.map((each) => clean(each, ''))
    return isJsonObject(value) ? inertStrings(value) : value
  }
  return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, clean(value, key)]))
}

/** Members of a schema that hold further schemas under names of the seller's own choice. */
const NAMED = new Set([
  'properties',
  '$defs',
  'definitions',
  'patternProperties',
  'dependentSchemas',
])

/** Keywords a call must satisfy. The rest of a schema is documentation. */
const FACTS = new Set(
  `type properties required items prefixItems enum const format pattern default minimum maximum
  exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength minItems maxItems uniqueItems
  minProperties maxProperties additionalProperties patternProperties propertyNames anyOf oneOf allOf
  not if then else $defs definitions $ref dependentSchemas dependentRequired contains`.split(/\s+/),
)

/** A default or choice longer than this is the seller's prose. */
const MAX_VALUE = 80

/** A finding without the sentences of a seller: names, parameters, types and hints stay. */
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
  return Object.fromEntries(
    Object.entries(schema).flatMap(([key, value]) => {
      if (!FACTS.has(key) || (key === 'default' && JSON.stringify(value).length > MAX_VALUE))
        return []
      return [[key, NAMED.has(key) && isJsonObject(value) ? toNamed(value) : toValue(key, value)]]
    }),
  )
}

function toNamed(schemas: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(schemas).map(([name, value]) => [
      name,
      isJsonObject(value) ? toSchemaFacts(value) : value,
    ]),
  )
}

function toValue(key: string, value: unknown): unknown {
  if (key === 'default' || key === 'const' || key === 'enum') return value
  if (Array.isArray(value)) return value.map((each) => toValue(key, each))
  return isJsonObject(value) ? toSchemaFacts(value) : value
}

/**
 * Texts of tools that give orders to the agent reading them. A rule only says where a person should
 * look: honest tools also explain in which order to call them.
 *
 * Known limit: the rules read English. Somebody who knows them can avoid them.
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
    says: 'carries marks that make it look like a message of the system',
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

/** In addition to the rules: invisible characters are found where the text is read. */
export const HIDDEN_RULE = { id: 'hidden', says: 'contains invisible characters' } as const

type Reported = Pick<Tool, 'name' | 'description' | 'hidden'> | Pick<Skill, 'name' | 'description'>

/** One for each tool or skill that matches a rule, by its name. */
export function findSuspiciousTexts(reported: readonly Reported[]) {
  return reported.flatMap((each) => {
    const isHidden = 'hidden' in each && each.hidden === true
    const rule = isHidden
      ? HIDDEN_RULE
      : TEXT_RULES.find(({ pattern }) => pattern.test(each.description))
    return rule === undefined ? [] : [{ name: each.name, rule: rule.id, says: rule.says }]
  })
}

/** One notice; it changes no score. @param since when the text of a tool was first seen */
export function toSuspicionNotice(
  reported: readonly Reported[],
  since: (name: string) => string,
): Notice[] {
  const [first, ...more] = findSuspiciousTexts(reported)
  if (first === undefined) return []
  const others = more.length === 0 ? '' : ` So do ${more.length} more.`
  const note = `The text of ${first.name.slice(0, 60)} ${first.says}.${others} A person looks at it; by itself it says nothing about the seller.`
  return [{ id: 'suspicious_text', note, at: since(first.name) }]
}
