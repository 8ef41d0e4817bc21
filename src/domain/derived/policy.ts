import * as v from 'valibot'
import { textLike } from '../wire/shapes.ts'
import type { DerivedListing } from './derived-listing.ts'
import { trustScoreOf } from './derived-listing.ts'

const id = textLike(/^[a-z0-9]+(?:-[a-z0-9]+)*$/, 'expected lower-case letters, digits and hyphens')
const line = v.pipe(v.string(), v.minLength(1), v.maxLength(200))

/** `tables/policies.yaml`: which MCP servers an editor may offer. Each row is a registry. */
export const PolicySchema = v.strictObject({
  id,
  name: line,
  note: v.optional(v.pipe(v.string(), v.maxLength(200)), ''),
  /** Minimum trust score; a server without one is out. */
  min_trust: v.optional(v.pipe(v.number(), v.minValue(0), v.maxValue(100))),
  /** Claimed with proof of its domain. */
  verified: v.optional(v.boolean(), false),
  /** No open notice on its page. */
  no_notices: v.optional(v.boolean(), false),
  /** Ids of listings; without it every server may be in. */
  allow: v.optional(v.array(v.string())),
})
export type Policy = v.InferOutput<typeof PolicySchema>

export interface PolicyView extends Pick<Policy, 'id' | 'name' | 'note'> {
  servers: { id: string; name: string /** Empty for one that is in. */; reasons: string[] }[]
}

/** @returns why a server is out, in the terms of the policy; empty for one that is in. */
export function judgePolicy(policy: Policy, listing: DerivedListing): string[] {
  const { min_trust, verified, no_notices, allow } = policy
  const score = trustScoreOf(listing.trust)
  const { notices } = listing
  const isProved = listing.tiers.earned.some((tier) => tier === 'verified')
  return [
    ...(allow !== undefined && !allow.includes(listing.id) ? ['not on the list'] : []),
    ...(min_trust !== undefined && (score ?? -1) < min_trust
      ? [score === null ? 'no trust score' : `trust ${score}, below ${min_trust}`]
      : []),
    ...(verified && !isProved ? ['not claimed with proof of its domain'] : []),
    ...(no_notices && notices.length > 0
      ? [`open: ${notices.map((one) => one.id).join(', ')}`]
      : []),
  ]
}

/** Every MCP server under a policy, allowed ones first. */
export function toPolicyView(policy: Policy, listings: readonly DerivedListing[]): PolicyView {
  const { id, name, note } = policy
  const servers = listings
    .filter(({ facts }) => facts.kind === 'mcp_server')
    .map((listing) => ({
      id: listing.id,
      name: listing.facts.name,
      reasons: judgePolicy(policy, listing),
    }))
  servers.sort((a, b) => Number(a.reasons.length > 0) - Number(b.reasons.length > 0))
  return { id, name, note, servers }
}
