import * as v from 'valibot'
import { textLike } from '../wire/shapes.ts'

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
