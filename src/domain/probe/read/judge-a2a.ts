import * as v from 'valibot'
import { toCountText } from '../../operation/price-text.ts'
import { type Finding, judgeStatus, type Sight, toFinding, toWrong } from './finding.ts'
import { toInertLine } from './inert-text.ts'
import { readSkills } from './mcp-tools.ts'
import { jsonOf, type ProbeAnswer, toHeadText } from './probe-answer.ts'

/** Where cards are published: the current place, and that of protocol 0.3 and before. */
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
const CurrentCardSchema = v.looseObject({
  ...common,
  supportedInterfaces: v.pipe(
    v.array(
      v.looseObject({ url, protocolBinding: filled, protocolVersion: v.optional(text) }),
      'expected a list of interfaces',
    ),
    v.minLength(1, 'expected at least one interface'),
  ),
})
const FormerCardSchema = v.looseObject({
  ...common,
  url,
  protocolVersion: v.optional(text),
  preferredTransport: v.optional(text),
})

type CardReading =
  | {
      valid: true
      version: string
      url: string
      binding: string
      name: string
      skills: readonly unknown[]
      own: string
    }
  | { valid: false; fault: string }

/**
 * What an agent's card says. No message is sent: `spoke` is a valid card whose first interface, the
 * one clients prefer, is on the site the card came from.
 *
 * @param isSameSite whether two hosts belong to one registrable domain
 * @param now milliseconds since the epoch
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
  if (!card.valid) return toWrong('a2a', answer, `a card that is not valid: ${card.fault}`)
  const host = new URL(card.url).hostname
  if (!isSameSite(host, new URL(cardUrl).hostname))
    return toWrong('a2a', answer, `a card whose interface is on another domain, ${host}`)
  const { items: skills, isCut } = readSkills(card.skills)
  const { name, version, url } = card
  const server = {
    name: toInertLine(name, 120),
    version: toInertLine(card.own, 60),
    protocol: version,
    url,
    binding: toInertLine(card.binding, 60),
  }
  const saw = `a valid card of ${name}, protocol ${version}, ${toCountText(skills.length, 'skill')}`
  const sight: Sight = { from: 'agent_card', server, skills, ...(isCut && { truncated: true }) }
  return toFinding({ protocol: 'a2a', outcome: 'spoke', version, saw, sight }, answer)
}

const VERSION = /^\d{1,3}(?:\.\d{1,3}){0,2}$/

function readCard(value: unknown): CardReading {
  const current = v.safeParse(CurrentCardSchema, value, { abortEarly: true })
  if (current.success) {
    const { supportedInterfaces, name, skills, version: own } = current.output
    const [first] = supportedInterfaces
    const { url = '', protocolBinding: binding = '' } = first ?? {}
    return { ...toVersion(first?.protocolVersion, '1.0'), url, binding, name, skills, own }
  }
  const former = v.safeParse(FormerCardSchema, value, { abortEarly: true })
  if (former.success) {
    const { name, skills, url: main, protocolVersion, version: own } = former.output
    // A2A 0.3, 5.5.5: a card that names no transport speaks JSON-RPC.
    const { preferredTransport: binding = 'JSONRPC' } = former.output
    return { ...toVersion(protocolVersion, '0.3'), url: main, binding, name, skills, own }
  }
  const isCurrent = typeof value === 'object' && value !== null && 'supportedInterfaces' in value
  const [issue] = isCurrent ? current.issues : former.issues
  return { valid: false, fault: `${v.getDotPath(issue) ?? 'the card'}: ${issue.message}` }
}

function toVersion(declared: string | undefined, otherwise: string) {
  const version = declared !== undefined && VERSION.test(declared) ? declared : otherwise
  return { valid: true, version } as const
}
