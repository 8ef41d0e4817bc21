import { type AgentCard, readAgentCard } from '../../src/domain/probe/a2a.ts'
import { readSkills } from '../../src/domain/probe/mcp.ts'
import { isJsonObject, present } from '../../src/domain/wire/json.ts'
import {
  faultOf,
  findCallableUrlFault,
  gatherSeeds,
  type Mapped,
  type MapRules,
  mapReported,
  refuse,
} from '../facts/map-rows.ts'
import { toSeedLine } from '../facts/seed-texts.ts'
import { followAddresses, ReadDocument } from '../fetch/read-sellers.ts'
import { parseAddresses, type SeedSource } from '../fetch/read-source.ts'

const REGISTRY_SOURCE = 'a2aregistry_org'
const CARD_SOURCE = 'agent_cards'

/** @param isOwn whether the card was read at its own address, not in a registry's list */
export function mapCard(card: AgentCard, rules: MapRules, isOwn: boolean): Mapped {
  const { url, auth } = card
  const isCallable = (address: string) => findCallableUrlFault(address, rules) === null
  const cardUrl = card.cardUrl !== null && isCallable(card.cardUrl) ? card.cardUrl : null
  const fault = findCallableUrlFault(url, rules)
  if (fault !== null) return refuse(url, fault)
  const { skills, ...seen } = toInterface(card, rules.now)
  const stated = card.skills.map(({ description }) => textOf(description))
  return mapReported(
    {
      key: url,
      prefix: 'a2a',
      names: [card.name],
      stated: [card.description, ...stated],
      tags: card.skills.flatMap(({ tags }) => (Array.isArray(tags) ? tags : [])),
      words: (skills ?? []).map(({ name }) => name),
      facts: {
        kind: 'a2a_agent',
        url,
        ...(auth.type !== 'unknown' && { auth }),
        ...(cardUrl !== null && { discovery: { agent_card: cardUrl } }),
        sources: [{ source: isOwn ? CARD_SOURCE : REGISTRY_SOURCE, ref: cardUrl ?? url }],
      },
      evidence: { interface: { ...seen, ...present({ skills }) } },
    },
    rules,
  )
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : null)

/** The card as evidence, with skills as plain text: an agent reads it before it sends a message. */
export function toInterface(card: AgentCard, now: string) {
  const reported = card.skills.filter(({ name, id, description }) => (name ?? id) && description)
  const { items, isCut } = readSkills(reported)
  const skills = items.flatMap(({ id, ...skill }) => {
    const [name, description] = [toSeedLine(skill.name, 200), toSeedLine(skill.description, 1000)]
    if (name === null || description === null) return []
    const examples = (skill.examples ?? []).flatMap((each) => toSeedLine(each, 500) ?? [])
    return [{ id, name, description, ...(examples.length > 0 && { examples }) }]
  })
  const line = (text: string | null) => toSeedLine(text, 100) ?? undefined
  const [version, protocol, binding] = [card.version, card.protocol, card.binding].map(line)
  return {
    at: now,
    from: 'agent_card',
    ...(skills.length > 0 && { skills }),
    server: present({ version, protocol, url: card.url, binding }),
    ...(isCut && { truncated: true }),
  }
}

export const a2a: SeedSource = {
  id: 'a2a',
  title: 'A2A agents, by their cards (0.3 and 1.0)',
  liveUrl: 'https://a2aregistry.org/api/agents?limit=100',
  lists: ['agents', 'cards'],
  expected: 'an agent card, a list of cards or of their addresses',
  isRow: (value) => typeof value.name === 'string',
  readText: parseAddresses,
  follow: (values, reader) => followAddresses(values, reader),
  choose: (values, rules) =>
    gatherSeeds(
      values.map((value) => {
        const place = value instanceof ReadDocument ? value.place : null
        const document = value instanceof ReadDocument ? value.document : value
        const { card, fault } = readAgentCard(document)
        if (card !== null)
          return mapCard({ ...card, cardUrl: place ?? card.cardUrl }, rules, place !== null)
        const named = isJsonObject(document) ? textOf(document.name) : null
        return refuse(place ?? named?.slice(0, 250) ?? '(no name)', faultOf('invalid_row', fault))
      }),
    ),
}
