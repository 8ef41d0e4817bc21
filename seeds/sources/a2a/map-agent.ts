import * as v from 'valibot'
import type { Auth } from '../../../src/domain/listing/auth.ts'
import { isJsonObject, present } from '../../../src/domain/wire/parse-json.ts'
import { findCallableUrlFault } from '../../facts/callable-url.ts'
import { type MappedSeed, mapTold, parseRow, refuse } from '../../facts/map-rows.ts'
import * as member from '../../facts/row-members.ts'
import type { MapRules } from '../../facts/seed-source.ts'
import { toSeedLine } from '../../facts/seed-texts.ts'

const REGISTRY_SOURCE = 'a2aregistry_org'
const CARD_SOURCE = 'agent_cards'

const MAX_SKILLS = 100

const SkillSchema = v.object({
  ...member.texts('id', 'name', 'description'),
  tags: member.optionalList,
  examples: member.optionalList,
})
type AgentSkill = v.InferOutput<typeof SkillSchema>

/**
 * An agent card of protocol 0.3 (one `url`) or 1.0 (`supportedInterfaces`), an `agent.json` that
 * names its `capabilities` instead of skills, alone or as a registry stores it with the address it
 * was read from.
 */
const CardSchema = v.pipe(
  v.object({
    name: v.pipe(member.text, v.maxLength(2000)),
    ...member.texts('description', 'url', 'endpoint', 'a2aEndpoint', 'version', 'protocolVersion'),
    ...member.texts('preferredTransport', 'wellKnownURI'),
    supportedInterfaces: member.optionalList,
    skills: v.nullish(v.pipe(v.array(v.unknown()), v.maxLength(1000))),
    capabilities: v.optional(v.unknown()),
    securitySchemes: v.nullish(v.record(v.string(), v.unknown())),
  }),
  v.transform(({ name, description, version, ...card }) => {
    const preferred = (card.supportedInterfaces ?? []).find(isJsonObject)
    return {
      name,
      description,
      version,
      /** Where messages go. */
      url: textOf(preferred?.url) ?? card.a2aEndpoint ?? card.url ?? card.endpoint ?? '',
      protocol: textOf(preferred?.protocolVersion) ?? card.protocolVersion,
      binding: textOf(preferred?.protocolBinding) ?? card.preferredTransport ?? 'JSONRPC',
      /** Where the card itself was read, if known. */
      cardUrl: card.wellKnownURI ?? null,
      skills: [card.skills ?? card.capabilities]
        .flatMap((list) => (Array.isArray(list) ? list.slice(0, 1000) : []))
        .filter((skill) => v.is(SkillSchema, skill)),
      auth: toAuth(card.securitySchemes ?? {}),
    }
  }),
  v.check(({ url }) => url !== '', 'expected url, where messages go'),
)
export type AgentCard = v.InferOutput<typeof CardSchema>

export function parseAgentCard(value: unknown) {
  return parseRow(CardSchema, value, 'name')
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

/** The first scheme a card declares; a card without one says nothing about keys. */
function toAuth(schemes: Record<string, unknown>): Auth {
  const [scheme] = Object.values(schemes).filter(isJsonObject)
  if (scheme === undefined) return { type: 'unknown' }
  // Version 1.0 names the type around the scheme.
  const [kind = ''] = Object.keys(scheme).filter((each) => isJsonObject(scheme[each]))
  const type = textOf(scheme.type) ?? kind
  const inner = scheme[type]
  const first = isJsonObject(inner) ? inner : scheme
  if (/^apiKey/i.test(type)) {
    const place = textOf(first.in ?? first.location)
    const name = textOf(first.name) ?? ''
    const isPlaced = (place === 'header' || place === 'query') && /^[\w-]{1,100}$/.test(name)
    return isPlaced ? { type: 'api_key', in: place, name } : { type: 'api_key' }
  }
  if (/^(?:oauth2|openIdConnect)/i.test(type)) return { type: 'oauth' }
  if (/^http/i.test(type))
    return { type: /bearer/i.test(JSON.stringify(first)) ? 'bearer' : 'other' }
  return { type: 'other' }
}

/** @param isOwn read at its own address, and not from a registry's list */
export function mapCard(card: AgentCard, rules: MapRules, isOwn: boolean): MappedSeed {
  const { url, auth } = card
  const isCallable = (address: string) => findCallableUrlFault(address, rules) === null
  const cardUrl = card.cardUrl !== null && isCallable(card.cardUrl) ? card.cardUrl : null
  const fault = findCallableUrlFault(url, rules)
  if (fault !== null) return refuse(url, fault)
  return mapTold(
    {
      key: url,
      prefix: 'a2a',
      names: [card.name],
      said: [card.description, ...card.skills.map((skill) => skill.description)],
      tags: card.skills.flatMap((skill) => skill.tags ?? []),
      words: toSkills(card.skills).map((skill) => skill.name),
      facts: {
        kind: 'a2a_agent',
        url,
        ...(auth.type !== 'unknown' && { auth }),
        ...(cardUrl !== null && { discovery: { agent_card: cardUrl } }),
        sources: [{ source: isOwn ? CARD_SOURCE : REGISTRY_SOURCE, ref: cardUrl ?? url }],
      },
      evidence: { interface: toInterface(card, rules.now) },
    },
    rules,
  )
}

/** The skills in an agent's card, as evidence. */
export function toInterface({ skills: told, ...card }: AgentCard, now: string) {
  const skills = toSkills(told)
  const line = (text: string | null | undefined) => toSeedLine(text, 100) ?? undefined
  const [version, protocol, binding] = [card.version, card.protocol, card.binding].map(line)
  const server = present({ version, protocol, url: card.url, binding })
  return {
    at: now,
    from: 'agent_card',
    ...(skills.length > 0 && { skills }),
    server,
    ...(told.length > MAX_SKILLS && { truncated: true }),
  }
}

/** Skills as plain text: what an agent reads before it decides to send a message. */
function toSkills(skills: readonly AgentSkill[]) {
  return skills.slice(0, MAX_SKILLS).flatMap((skill, at) => {
    const name = toSeedLine(skill.name ?? skill.id, 200)
    const description = toSeedLine(skill.description, 1000)
    if (name === null || description === null) return []
    const told = (skill.examples ?? []).slice(0, 10)
    const examples = told.flatMap((each) => toSeedLine(each, 500) ?? [])
    const id = toSeedLine(skill.id, 200) ?? `skill-${at + 1}`
    return [{ id, name, description, ...(examples.length > 0 && { examples }) }]
  })
}
