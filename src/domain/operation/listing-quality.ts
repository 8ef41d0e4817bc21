import type { ListingFacts, Operation } from '../listing/listing-facts.ts'
import type { Evidence } from '../trust/evidence.ts'
import type { Kind } from '../wire/vocabulary.ts'
import { isJsonPayload } from './output-fields.ts'
import { toSurface } from './surface.ts'

/**
 * In the order in which people look for them. `no_guess`: nothing about its operations is assumed;
 * `response`: each of them describes its answer.
 */
const QUALITIES = [
  'price',
  'payout',
  'operations',
  'no_guess',
  'response',
  'tools',
  'skills',
  'auth_docs',
  'evidence',
] as const
type Quality = (typeof QUALITIES)[number]

/** Which of them a listing has; those that do not apply to it are absent. */
type ListingQuality = Partial<Record<Quality, boolean>>

interface Judged {
  kind: Kind
  quality: ListingQuality
}

/** A key, an account or a token: it must be documented where to get one. */
const NEEDS_DOCS = new Set(['api_key', 'bearer', 'oauth', 'other'])

export function judgeQuality(
  facts: Pick<
    ListingFacts,
    'kind' | 'url' | 'http' | 'tools' | 'skills' | 'pricing' | 'payout' | 'auth'
  >,
  evidence: Evidence,
): ListingQuality {
  const { interface: seen } = evidence
  const { operations, tools, skills } = toSurface(facts, seen, { allowPrivate: true })
  const isPaid = facts.pricing.model === 'per_call'
  return {
    ...(facts.kind === 'http_api' && {
      price: facts.pricing.model !== 'unknown',
      ...(isPaid && { payout: facts.payout.length > 0 || (seen?.payouts ?? []).length > 0 }),
      operations: operations.length > 0 && operations.every(isDescribed),
      ...(operations.length > 0 && {
        response: operations.every(({ response }) => response !== undefined && isShaped(response)),
        no_guess: operations.every(({ assumed = [] }) => assumed.length === 0),
      }),
    }),
    ...(facts.kind === 'mcp_server' && { tools: tools.length > 0 }),
    ...(facts.kind === 'a2a_agent' && { skills: skills.length > 0 }),
    ...(NEEDS_DOCS.has(facts.auth.type) && {
      auth_docs: 'docs' in facts.auth && facts.auth.docs !== undefined,
    }),
    ...(facts.kind !== 'kit' && { evidence: Object.keys(evidence).length > 0 }),
  }
}

/** Its input has a schema, and required values have an example. */
function isDescribed({ method, params = [], body }: Operation): boolean {
  const isFilled = params.every(
    ({ schema, required, example }) =>
      schema !== undefined && (required !== true || example !== undefined),
  )
  if (method === 'GET' || method === 'DELETE') return isFilled
  return isFilled && body?.schema !== undefined && body.example !== undefined
}

/** @example countQuality([…]) → [{ kind: 'mcp_server', listings: 380, have: { tools: { has: 261, of: 380 }, … } }] */
export function countQuality(judged: readonly Judged[]) {
  const kinds = [...new Set(judged.map(({ kind }) => kind))].sort()
  return kinds.map((kind) => {
    const own = judged.filter((each) => each.kind === kind)
    const have = QUALITIES.flatMap((name) => {
      const stated = own.flatMap(({ quality }) => quality[name] ?? [])
      return stated.length === 0
        ? []
        : [[name, { has: stated.filter(Boolean).length, of: stated.length }] as const]
    })
    return { kind, listings: own.length, have: Object.fromEntries(have) }
  })
}

/** For anything but JSON the media type is the shape. */
function isShaped(response: NonNullable<Operation['response']>): boolean {
  const { schema, example } = response
  return schema !== undefined || example !== undefined || !isJsonPayload(response)
}
