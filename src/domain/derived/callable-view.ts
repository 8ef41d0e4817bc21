import * as v from 'valibot'
import { OfferSchema, OperationPriceSchema } from '../listing/listing-facts.ts'
import { costOf } from '../listing/pricing.ts'
import { DriftSchema, PackageRunSchema } from '../trust/evidence.ts'
import { NoticeSchema } from '../trust/interface.ts'
import { cutLine } from '../wire/cut-text.ts'
import { present } from '../wire/json.ts'
import {
  ASSUMABLE,
  AUTH_TYPES,
  COSTS,
  EFFECTS,
  HTTP_METHODS,
  PROBE_OUTCOMES,
} from '../wire/vocabulary.ts'
import type { DerivedListing } from './derived-listing.ts'

const words = v.optional(v.array(v.string()))

export const SignInViewSchema = v.object({
  resource: v.optional(v.string()),
  authorization_server: v.string(),
  authorization_endpoint: v.optional(v.string()),
  token_endpoint: v.optional(v.string()),
  device_authorization_endpoint: v.optional(v.string()),
  registration_endpoint: v.optional(v.string()),
  client_id_metadata_document_supported: v.optional(v.boolean()),
  grant_types_supported: words,
  code_challenge_methods_supported: words,
  scopes_supported: words,
  ref: v.optional(v.string()),
})

export const AuthViewSchema = v.object({
  type: v.picklist(AUTH_TYPES),
  in: v.optional(v.picklist(['header', 'query'])),
  name: v.optional(v.string()),
  docs: v.optional(v.string()),
  note: v.optional(v.string()),
  /** Where to sign in, from RFC 9728 and RFC 8414; absent where it was not read. */
  sign_in: v.optional(SignInViewSchema),
})

export const SeenCallSchema = v.object({
  at: v.string(),
  outcome: v.picklist(PROBE_OUTCOMES),
  status: v.optional(v.number()),
  /** Price and payees of its last 402. */
  min_usd: v.optional(v.number()),
  max_usd: v.optional(v.number()),
  pay_to: v.optional(v.array(v.string())),
})

/** One operation, without the schemas that kit.json has. */
export const operationLine = {
  method: v.picklist(HTTP_METHODS),
  /** May hold `{placeholders}` in its path. */
  url: v.string(),
  description: v.optional(v.string()),
  price: v.optional(OperationPriceSchema),
  offers: v.optional(v.array(OfferSchema)),
  task: v.optional(v.string()),
  /** What a call changes; absent where neither a declaration, a hint nor the method says it. */
  effect: v.optional(v.picklist(EFFECTS)),
  assumed: v.optional(v.array(v.picklist(ASSUMABLE))),
  seen: v.optional(SeenCallSchema),
}

export const OperationLineSchema = v.object(operationLine)

const text = v.string()
const ToolLineSchema = v.object({
  ...{ name: text, title: v.optional(text), description: text },
  effect: v.optional(v.picklist(EFFECTS)),
})
const SkillLineSchema = v.object({ id: text, name: text, description: text })

/** Fields of the full listing that say how it is called. */
export const callableEntries = {
  /** Digest of what a caller relies on; changes exactly when any of it does. */
  digest: v.string(),
  cost: v.picklist(COSTS),
  auth: AuthViewSchema,
  operations: v.array(OperationLineSchema),
  tools: v.array(ToolLineSchema),
  skills: v.array(SkillLineSchema),
  notices: v.array(NoticeSchema),
  /** Tools, prices and payees before and after, newest first; absent where none changed. */
  drift: v.optional(v.array(DriftSchema)),
  /** How the last run of its package went, in a sandbox of ours; absent where none was run. */
  package_run: v.optional(PackageRunSchema),
  registry_name: v.optional(v.string()),
  version: v.optional(v.string()),
}

const CallableSchema = v.object(callableEntries)

/** Everything but the digest, which takes longer than the rest: rows of lists don't print it. */
export function toCallableView(
  listing: DerivedListing,
): Omit<v.InferOutput<typeof CallableSchema>, 'digest'> {
  const { facts, surface, notices, evidence } = listing
  const { registry_name, version } = facts
  return {
    cost: costOf(facts),
    auth: facts.auth,
    operations: surface.operations.map((operation) => v.parse(OperationLineSchema, operation)),
    tools: surface.tools.map((tool) => v.parse(ToolLineSchema, inOneLine(tool))),
    skills: surface.skills.map((skill) => v.parse(SkillLineSchema, inOneLine(skill))),
    notices,
    ...present({
      drift: evidence.drift,
      package_run: evidence.package_run,
      registry_name,
      version,
    }),
  }
}

const MAX_LINE_LENGTH = 200

/** @example inOneLine({ description: 'First.\n\nSecond.' }) → { description: 'First.' } */
function inOneLine<Described extends { description: string }>(described: Described): Described {
  return { ...described, description: cutLine(described.description, MAX_LINE_LENGTH) }
}
