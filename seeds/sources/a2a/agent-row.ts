import * as v from 'valibot'
import type { Auth } from '../../../src/domain/listing/auth.ts'
import { isJsonObject } from '../../../src/domain/wire/parse-json.ts'

/**
 * An agent card of protocol 0.3 (one `url`) or 1.0 (`supportedInterfaces`), alone or as a registry
 * keeps it with the address it was read from.
 */
const text = v.optional(v.nullable(v.pipe(v.string(), v.maxLength(20_000))))

const SkillSchema = v.object({
  id: text,
  name: text,
  description: text,
  tags: v.optional(v.nullable(v.array(v.unknown()))),
  examples: v.optional(v.nullable(v.array(v.unknown()))),
})

const CardSchema = v.object({
  name: v.pipe(v.string('expected text'), v.maxLength(2000)),
  description: text,
  url: text,
  a2aEndpoint: text,
  version: text,
  protocolVersion: text,
  preferredTransport: text,
  wellKnownURI: text,
  supportedInterfaces: v.optional(v.nullable(v.array(v.unknown()))),
  skills: v.optional(v.nullable(v.pipe(v.array(v.unknown()), v.maxLength(1000)))),
  securitySchemes: v.optional(v.nullable(v.record(v.string(), v.unknown()))),
  security: v.optional(v.nullable(v.unknown())),
  securityRequirements: v.optional(v.nullable(v.unknown())),
})

export type AgentSkill = v.InferOutput<typeof SkillSchema>

export interface AgentCard {
  name: string
  description: string | null
  /** Where messages go. */
  url: string
  version: string | null
  protocol: string | null
  binding: string
  /** Where the card itself was read, if anybody says. */
  cardUrl: string | null
  skills: AgentSkill[]
  auth: Auth
}

export function parseAgentCard(value: unknown): AgentCard | { name: string; detail: string } {
  const result = v.safeParse(CardSchema, value)
  if (!result.success) {
    const [issue] = result.issues
    const name = isJsonObject(value) && typeof value.name === 'string' ? value.name : '(no name)'
    return {
      name: name.slice(0, 250),
      detail: `${v.getDotPath(issue) ?? 'card'}: ${issue.message}`,
    }
  }
  const card = result.output
  const preferred = (card.supportedInterfaces ?? []).find(isJsonObject)
  const url = textOf(preferred?.url) ?? card.a2aEndpoint ?? card.url
  if (!url) return { name: card.name.slice(0, 250), detail: 'url: expected where messages go' }
  return {
    name: card.name,
    description: card.description ?? null,
    url,
    version: card.version ?? null,
    protocol: textOf(preferred?.protocolVersion) ?? card.protocolVersion ?? null,
    binding: textOf(preferred?.protocolBinding) ?? card.preferredTransport ?? 'JSONRPC',
    cardUrl: card.wellKnownURI ?? null,
    skills: (card.skills ?? []).flatMap((skill) =>
      v.is(SkillSchema, skill) ? [v.parse(SkillSchema, skill)] : [],
    ),
    auth: toAuth(card),
  }
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

/** The first scheme a card declares; a card without one says nothing about keys. */
function toAuth(card: v.InferOutput<typeof CardSchema>): Auth {
  const schemes = Object.values(card.securitySchemes ?? {}).filter(isJsonObject)
  const [first] = schemes
  if (first === undefined) return { type: 'unknown' }
  const type = textOf(first.type) ?? Object.keys(first)[0] ?? ''
  if (/^apiKey/i.test(type)) {
    const place = textOf(first.in)
    const name = textOf(first.name) ?? ''
    const isPlaced = (place === 'header' || place === 'query') && /^[\w-]{1,100}$/.test(name)
    return isPlaced ? { type: 'api_key', in: place, name } : { type: 'api_key' }
  }
  if (/^(?:oauth2|openIdConnect)/i.test(type)) return { type: 'oauth' }
  if (/^http/i.test(type))
    return { type: /bearer/i.test(JSON.stringify(first)) ? 'bearer' : 'other' }
  return { type: 'other' }
}
