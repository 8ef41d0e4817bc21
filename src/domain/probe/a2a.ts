import { type AgentCard, readAgentCard } from '../discovery/agent-card.ts'
import { toCountText } from '../operation/price-text.ts'
import { isJsonObject } from '../wire/json.ts'
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
      `a card whose interface is on another domain, ${host}`,
      'Serve the card on the domain that takes the messages, or name an interface on this one: a card for another domain shows nothing about who runs it.',
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

/** Members of MCP server cards, which share others with agents'. */
export const OF_SERVER_CARDS = ['remotes', 'transport', 'serverInfo', 'tools']

/** Members that nothing but a card has. */
const OF_CARDS = ['skills', 'capabilities', 'supportedInterfaces', 'protocolVersion']

const VERSION = /^\d{1,3}(?:\.\d{1,3}){0,2}$/
