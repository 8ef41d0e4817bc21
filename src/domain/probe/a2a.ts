import * as v from 'valibot'
import { type Auth, FIELD_NAME } from '../listing/invoke.ts'
import { toCountText } from '../listing/pricing.ts'
import { withAsciiHosts } from '../listing/target-url.ts'
import { textOf } from '../sources/payment-info.ts'
import { isJsonObject, listOf, objectOf } from '../wire/json.ts'
import {
  type Finding,
  jsonOf,
  judgeStatus,
  type ProbeAnswer,
  type Sight,
  toFinding,
  toHeadText,
  toInertLine,
  toWrong,
} from './finding.ts'
import { readSkills } from './mcp.ts'

export const RIGHT_CARD =
  'Serve a valid card at /.well-known/agent-card.json: name, description, version, supportedInterfaces (or url for 0.3), capabilities, defaultInputModes, defaultOutputModes and skills, with an interface on the same domain.'

/**
 * `spoke` is a valid card whose first interface, which clients prefer, is on its own site. No
 * message is sent. @param now milliseconds since the epoch
 */
export function judgeCard(
  answer: ProbeAnswer,
  cardUrl: string,
  isSameSite: (left: string, right: string) => boolean,
  now: number,
): Finding {
  const common = judgeStatus('a2a', answer, now)
  if (common !== null) return common
  const value = jsonOf(answer)
  const why = answer.cut === 'size' ? 'too large' : 'no JSON card'
  if (answer.status !== 200 || value === undefined)
    return toWrong('a2a', answer, `${toHeadText(answer)}, ${why}`)
  const { card, fault } = readAgentCard(value)
  if (card === null || fault !== null) {
    const has = (names: readonly string[]) =>
      isJsonObject(value) && names.some((name) => name in value)
    const isMeant = has(OF_CARDS) && !has(OF_SERVER_CARDS)
    const change = isMeant ? RIGHT_CARD : undefined
    return toWrong('a2a', answer, `a card that is not valid: ${fault}`, change)
  }
  const host = new URL(card.url).hostname
  if (!isSameSite(host, new URL(cardUrl).hostname))
    return toWrong(
      'a2a',
      answer,
      `a card with its interface on another domain, ${host}`,
      'Serve the card on the domain that takes the messages, or give the card an interface on its own domain: a card proves nothing about another domain.',
    )
  const sight = toSight(card, isJsonObject(value) && Array.isArray(value.supportedInterfaces))
  const { server, skills = [] } = sight
  const version = server?.protocol ?? ''
  const saw = `a valid card of ${card.name}, protocol ${version}, ${toCountText(skills.length, 'skill')}`
  return toFinding({ protocol: 'a2a', outcome: 'spoke', version, saw, sight }, answer)
}

function toSight(card: AgentCard, isCurrent: boolean): Sight {
  const { items: skills, isCut } = readSkills(card.skills)
  const { name, url, version, binding, protocol } = card
  const server = {
    name: toInertLine(name, 120),
    version: toInertLine(version ?? '', 60),
    protocol: VERSION.test(protocol ?? '') ? (protocol ?? '') : isCurrent ? '1.0' : '0.3',
    url,
    binding: toInertLine(binding, 60),
  }
  return { from: 'agent_card', server, skills, ...(isCut && { truncated: true }) }
}

/** Members that MCP server cards have and agent cards do not. */
export const OF_SERVER_CARDS = ['remotes', 'transport', 'serverInfo', 'tools']

/** Members that only an agent card has. */
const OF_CARDS = ['skills', 'capabilities', 'supportedInterfaces', 'protocolVersion']

const VERSION = /^\d{1,3}(?:\.\d{1,3}){0,2}$/

/** Paths of cards: the current path, and the one used up to protocol 0.3. */
export const CARD_PATHS = ['/.well-known/agent-card.json', '/.well-known/agent.json'] as const

/** What an agent states about itself; texts are unchanged. */
export type AgentCard = NonNullable<ReturnType<typeof readAgentCard>['card']>

const MAX_NAME = 2000
const MAX_SKILLS = 1000

/**
 * An agent card of protocol 0.2 or 0.3 (one `url`) or 1.0 (`supportedInterfaces`), or an
 * `agent.json` that names `capabilities` instead of skills, alone or as a registry stores it. Many
 * cards write null for a member without a value.
 * @returns the card with its faults according to the specification, or the reason why it is not a
 *   card
 */
export function readAgentCard(document: unknown) {
  const value = withAsciiHosts(withoutNulls(document))
  if (!isJsonObject(value)) return { card: null, fault: 'the card: expected an object' }
  const name = textOf(value.name)
  if (name === null || name.length > MAX_NAME)
    return { card: null, fault: `name: expected text of at most ${MAX_NAME} characters` }
  const interfaces = listOf(value.supportedInterfaces)
  const preferred = interfaces.find(isJsonObject) ?? {}
  const places = [preferred.url, value.a2aEndpoint, value.url, value.endpoint]
  const url = places.flatMap((each) => textOf(each) ?? []).at(0)
  if (url === undefined)
    return { card: null, fault: 'url: expected the address that messages are sent to' }
  const card = {
    name,
    /** Where messages go: the address of the card's preferred interface. */
    url,
    description: textOf(value.description),
    version: textOf(value.version),
    protocol: textOf(preferred.protocolVersion) ?? textOf(value.protocolVersion),
    // A2A 0.3, 5.5.5: a card that names no transport speaks JSON-RPC.
    binding: textOf(preferred.protocolBinding) ?? textOf(value.preferredTransport) ?? 'JSONRPC',
    skills: skillsOf(value.skills ?? value.capabilities),
    auth: authOf(value.securitySchemes),
    /** The address at which the card itself was read, as registries store it. */
    cardUrl: textOf(value.wellKnownURI),
  }
  return { card, fault: findFault(value) }
}

function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (!isJsonObject(value)) return value
  const stated = Object.entries(value).filter(([, member]) => member !== null)
  return Object.fromEntries(stated.map(([name, member]) => [name, withoutNulls(member)]))
}

/** The skills that have an id. */
function skillsOf(list: unknown): Record<string, unknown>[] {
  const objects = listOf(list).slice(0, MAX_SKILLS).filter(isJsonObject)
  return objects.map((skill, at) => ({ ...skill, id: textOf(skill.id) ?? `skill-${at + 1}` }))
}

/** The first scheme that a card declares; `unknown` if the card says nothing about keys. */
function authOf(schemes: unknown): Auth {
  const [scheme] = Object.values(objectOf(schemes)).filter(isJsonObject)
  if (scheme === undefined) return { type: 'unknown' }
  // In version 1.0 the type is the name of the member that holds the scheme.
  const [kind = ''] = Object.keys(scheme).filter((each) => isJsonObject(scheme[each]))
  const type = textOf(scheme.type) ?? kind
  const inner = scheme[type]
  const first = isJsonObject(inner) ? inner : scheme
  if (/^apiKey/i.test(type)) {
    const place = textOf(first.in ?? first.location)
    const name = textOf(first.name) ?? ''
    const isPlaced = (place === 'header' || place === 'query') && FIELD_NAME.test(name)
    return isPlaced ? { type: 'api_key', in: place, name } : { type: 'api_key' }
  }
  if (/^(?:oauth2|openIdConnect)/i.test(type)) return { type: 'oauth' }
  if (/^x402/i.test(type)) return { type: 'payment' }
  if (/^http/i.test(type))
    return { type: /bearer/i.test(JSON.stringify(first)) ? 'bearer' : 'other' }
  return { type: 'other' }
}

const text = v.string('expected text')
const filled = v.pipe(text, v.minLength(1, 'expected text, got nothing'))
const url = v.pipe(
  text,
  v.check((value) => /^https?:$/.test(URL.parse(value)?.protocol ?? ''), 'expected an http(s) URL'),
)
const list = v.array(text, 'expected a list')
const skill = v.object({ id: filled, name: filled, description: text, tags: list })
const common = {
  ...{ name: filled, description: text, version: text },
  capabilities: v.object({}),
  ...{ defaultInputModes: list, defaultOutputModes: list },
  skills: v.array(skill, 'expected a list of skills'),
}
const interfaces = v.pipe(
  v.array(
    v.object({ url, protocolBinding: filled, protocolVersion: v.optional(text) }),
    'expected a list of interfaces',
  ),
  v.minLength(1, 'expected at least one interface'),
)
const version = v.optional(text)
const CurrentSchema = v.object({ ...common, supportedInterfaces: interfaces })
const FormerSchema = v.object({
  ...common,
  url,
  protocolVersion: version,
  preferredTransport: version,
})

/** Why a card is not valid under 1.0 or 0.3; null if it is valid. */
function findFault(card: Record<string, unknown>): string | null {
  const [current, former] = [CurrentSchema, FormerSchema].map(
    (schema) => v.safeParse(schema, card, { abortEarly: true }).issues?.[0],
  )
  if (current === undefined || former === undefined) return null
  const issue = 'supportedInterfaces' in card ? current : former
  const message = issue.received === 'undefined' ? 'missing' : issue.message
  return `${v.getDotPath(issue) ?? 'the card'}: ${message}`
}
