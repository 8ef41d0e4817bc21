import { findCallableUrlFault } from '../../facts/callable-url.ts'
import { finishSeed, type MappedSeed } from '../../facts/finish-seed.ts'
import type { Refusal } from '../../facts/refusal.ts'
import type { SeedFacts } from '../../facts/seed-facts.ts'
import type { MapRules } from '../../facts/seed-source.ts'
import { type SeedTexts, toSeedLine, toSeedTags, toSeedTexts } from '../../facts/seed-texts.ts'
import { addressSlug } from '../../text/address-slug.ts'
import { guessCategories } from '../../text/guess-categories.ts'
import type { AgentCard, AgentSkill } from './agent-row.ts'

export const REGISTRY_SOURCE = 'a2aregistry_org'
export const CARD_SOURCE = 'agent_cards'

const MAX_SKILLS = 100

/** @param isOwn read at its own address, and not from a registry's list */
export function mapCard(card: AgentCard, rules: MapRules, isOwn: boolean): MappedSeed {
  const name = card.url
  const refuse = (fault: Pick<Refusal, 'reason' | 'detail'>): MappedSeed => ({
    ok: false,
    refusal: { ...fault, name },
  })
  const fault = findCallableUrlFault(card.url, rules)
  if (fault !== null) return refuse(fault)
  const cardUrl =
    card.cardUrl !== null && findCallableUrlFault(card.cardUrl, rules) === null
      ? card.cardUrl
      : null
  const texts = toSeedTexts(
    [card.name],
    [card.description, ...card.skills.map((s) => s.description)],
  )
  if ('reason' in texts) return refuse(texts)
  const skills = toSkills(card.skills)
  const tags = toSeedTags(card.skills.flatMap((skill) => skill.tags ?? []))
  const facts = toFacts(card, { cardUrl, tags, texts, rules, isOwn, skills })
  return finishSeed(
    {
      key: card.url,
      prefix: 'a2a',
      slug: addressSlug(card.url),
      published: null,
      rows: 1,
      facts,
      evidence: { interface: toInterface(card, skills, rules.now) },
      suspicious: texts.suspicious,
    },
    [],
  )
}

interface Parts {
  cardUrl: string | null
  tags: string[]
  texts: SeedTexts
  rules: MapRules
  isOwn: boolean
  skills: Skill[]
}

function toFacts(
  card: AgentCard,
  { cardUrl, tags, texts, rules, isOwn, skills }: Parts,
): SeedFacts {
  const words = [texts.description, ...tags, ...skills.map((skill) => skill.name)].join(' ')
  return {
    name: texts.name,
    kind: 'a2a_agent',
    url: card.url,
    summary: texts.summary,
    categories: guessCategories(texts.name, words, rules.categories),
    ...(tags.length === 0 ? {} : { tags }),
    ...(card.auth.type === 'unknown' ? {} : { auth: card.auth }),
    ...(cardUrl === null ? {} : { discovery: { agent_card: cardUrl } }),
    sources: [{ source: isOwn ? CARD_SOURCE : REGISTRY_SOURCE, ref: cardUrl ?? card.url }],
  }
}

interface Skill {
  id: string
  name: string
  description: string
  examples?: string[]
}

/** Skills as plain text: what an agent reads before it decides to send a message. */
export function toSkills(skills: readonly AgentSkill[]): Skill[] {
  return skills.slice(0, MAX_SKILLS).flatMap((skill, at) => {
    const name = toSeedLine(skill.name ?? skill.id, 200)
    const description = toSeedLine(skill.description, 1000)
    if (name === null || description === null) return []
    const examples = (skill.examples ?? [])
      .slice(0, 10)
      .flatMap((each) => toSeedLine(each, 500) ?? [])
    return [
      {
        id: toSeedLine(skill.id, 200) ?? `skill-${at + 1}`,
        name,
        description,
        ...(examples.length === 0 ? {} : { examples }),
      },
    ]
  })
}

export function toInterface(card: AgentCard, skills: Skill[], now: string) {
  const version = toSeedLine(card.version, 100)
  const protocol = toSeedLine(card.protocol, 100)
  const binding = toSeedLine(card.binding, 100)
  const server = {
    ...(version === null ? {} : { version }),
    ...(protocol === null ? {} : { protocol }),
    url: card.url,
    ...(binding === null ? {} : { binding }),
  }
  return {
    at: now,
    from: 'agent_card',
    ...(skills.length === 0 ? {} : { skills }),
    server,
    ...(card.skills.length > MAX_SKILLS ? { truncated: true } : {}),
  }
}
