import * as v from 'valibot'
import { toCountText } from '../operation/price-text.ts'
import { isJsonObject } from '../wire/parse-json.ts'
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

/** Paths of cards: the current one, and that of protocol 0.3 and before. */
export const CARD_PATHS = ['/.well-known/agent-card.json', '/.well-known/agent.json'] as const

const text = v.string('expected text')
const filled = v.pipe(text, v.minLength(1, 'expected text, got nothing'))
const url = v.pipe(
  text,
  v.check((value) => /^https?:$/.test(URL.parse(value)?.protocol ?? ''), 'expected an http(s) URL'),
)
const skill = v.object({
  id: filled,
  name: filled,
  description: text,
  tags: v.array(text, 'expected a list'),
})
const common = {
  name: filled,
  description: text,
  version: text,
  capabilities: v.looseObject({}),
  defaultInputModes: v.array(text, 'expected a list'),
  defaultOutputModes: v.array(text, 'expected a list'),
  skills: v.array(v.looseObject(skill.entries), 'expected a list of skills'),
}
const interfaces = v.pipe(
  v.array(
    v.looseObject({ url, protocolBinding: filled, protocolVersion: v.optional(text) }),
    'expected a list of interfaces',
  ),
  v.minLength(1, 'expected at least one interface'),
)
const CurrentCardSchema = v.pipe(
  v.looseObject({ ...common, supportedInterfaces: interfaces }),
  v.transform(({ supportedInterfaces: [first], ...card }) => {
    const { url = '', protocolBinding: binding = '', protocolVersion } = first ?? {}
    return { ...card, url, binding, protocol: toVersion(protocolVersion, '1.0') }
  }),
)
const FormerCardSchema = v.pipe(
  v.looseObject({
    ...common,
    url,
    protocolVersion: v.optional(text),
    // A2A 0.3, 5.5.5: a card that names no transport speaks JSON-RPC.
    preferredTransport: v.optional(text, 'JSONRPC'),
  }),
  v.transform(({ protocolVersion, preferredTransport: binding, ...card }) => {
    return { ...card, binding, protocol: toVersion(protocolVersion, '0.3') }
  }),
)

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
  const card = readCard(value)
  if (typeof card === 'string') {
    const isMeant = isJsonObject(value) && OF_CARDS.some((name) => name in value)
    const change = isMeant ? RIGHT_CARD : undefined
    return toWrong('a2a', answer, `a card that is not valid: ${card}`, change)
  }
  const host = new URL(card.url).hostname
  if (!isSameSite(host, new URL(cardUrl).hostname))
    return toWrong(
      'a2a',
      answer,
      `a card whose interface is on another domain, ${host}`,
      'Serve the card on the domain that takes the messages, or name an interface on this one: a card for another domain shows nothing about who runs it.',
    )
  const { items: skills, isCut } = readSkills(card.skills)
  const { name, protocol: version, url } = card
  const server = {
    name: toInertLine(name, 120),
    version: toInertLine(card.version, 60),
    protocol: version,
    url,
    binding: toInertLine(card.binding, 60),
  }
  const saw = `a valid card of ${name}, protocol ${version}, ${toCountText(skills.length, 'skill')}`
  const sight: Sight = { from: 'agent_card', server, skills, ...(isCut && { truncated: true }) }
  return toFinding({ protocol: 'a2a', outcome: 'spoke', version, saw, sight }, answer)
}

/** Members that nothing but a card has. */
const OF_CARDS = ['skills', 'capabilities', 'supportedInterfaces', 'protocolVersion']

const VERSION = /^\d{1,3}(?:\.\d{1,3}){0,2}$/

function toVersion(declared: string | undefined, otherwise: string): string {
  return declared !== undefined && VERSION.test(declared) ? declared : otherwise
}

/** Many write null for what a card does not say. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (!isJsonObject(value)) return value
  const said = Object.entries(value).filter(([, member]) => member !== null)
  return Object.fromEntries(said.map(([name, member]) => [name, withoutNulls(member)]))
}

/** @returns the error where it is not a card of either kind */
function readCard(card: unknown) {
  const value = withoutNulls(card)
  const current = v.safeParse(CurrentCardSchema, value, { abortEarly: true })
  if (current.success) return current.output
  const former = v.safeParse(FormerCardSchema, value, { abortEarly: true })
  if (former.success) return former.output
  const isCurrent = isJsonObject(value) && 'supportedInterfaces' in value
  const [issue] = isCurrent ? current.issues : former.issues
  const message = issue.received === 'undefined' ? 'missing' : issue.message
  return `${v.getDotPath(issue) ?? 'the card'}: ${message}`
}
