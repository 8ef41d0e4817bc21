import * as v from 'valibot'
import {
  createOperationSchema,
  MAX_SKILLS,
  MAX_TOOLS,
  ToolNameSchema as name,
  printableText,
  SkillSchema,
  ToolSchema,
} from '../listing/listing-facts.ts'
import { PayoutSchema } from '../listing/networks.ts'
import { NetworkSchema } from '../listing/pricing.ts'
import { InstantSchema } from '../wire/dates.ts'
import { listOf } from '../wire/shapes.ts'
import { INTERFACE_ORIGINS, NOTICES } from '../wire/vocabulary.ts'
import { SeenAnswerSchema } from './seen-answer.ts'

/**
 * Data read from a seller by machines: evidence members `interface` and `notices`. Writers cut it
 * to these limits first and set `truncated`.
 *
 * Known limit: schemas of tools are kept as the seller publishes them and are not judged; nothing
 * of ours runs them.
 */
export const MAX_INTERFACE_BYTES = 262_144
export const MAX_OPERATIONS = 500
const MAX_PAYOUTS = 50
const MAX_NOTICES = 20

/** An operation as a machine read it, and what it answered when our probe called it. */
const SeenOperationSchema = v.strictObject({
  // The build leaves out facts of an address it doesn't list.
  ...createOperationSchema({ allowPrivate: true }).entries,
  seen: v.optional(SeenAnswerSchema),
})

export const InterfaceSchema = v.pipe(
  v.strictObject({
    at: InstantSchema,
    from: v.picklist(INTERFACE_ORIGINS, `expected one of ${INTERFACE_ORIGINS.join(', ')}`),
    operations: v.optional(listOf(SeenOperationSchema, MAX_OPERATIONS)),
    tools: v.optional(listOf(ToolSchema, MAX_TOOLS)),
    skills: v.optional(listOf(SkillSchema, MAX_SKILLS)),
    server: v.optional(
      v.strictObject({
        name: v.optional(name),
        version: v.optional(name),
        protocol: v.optional(name),
        /** Where an agent's card sends messages, and in which of A2A's bindings, such as `JSONRPC`. */
        url: v.optional(v.pipe(v.string(), v.url(), v.maxLength(2000))),
        binding: v.optional(name),
      }),
    ),
    /** Named by the seller's own 402 to our probe. */
    payouts: v.optional(
      listOf(
        v.strictObject({ payout: PayoutSchema, network: NetworkSchema, seen_at: InstantSchema }),
        MAX_PAYOUTS,
      ),
    ),
    truncated: v.optional(v.boolean()),
  }),
  v.check(
    (value) => new TextEncoder().encode(JSON.stringify(value)).length <= MAX_INTERFACE_BYTES,
    `expected at most ${MAX_INTERFACE_BYTES} bytes`,
  ),
)

export const NoticeSchema = v.strictObject({
  id: v.picklist(NOTICES, `expected one of ${NOTICES.join(', ')}`),
  note: printableText(300),
  at: InstantSchema,
})

export const NoticesSchema = listOf(NoticeSchema, MAX_NOTICES)

export type Interface = v.InferOutput<typeof InterfaceSchema>
export type SeenOperation = v.InferOutput<typeof SeenOperationSchema>
export type Notice = v.InferOutput<typeof NoticeSchema>
