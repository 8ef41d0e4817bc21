import * as v from 'valibot'
import { listOf, uniqueList } from '../wire/shapes.ts'
import { EffectSchema, OfferSchema, OperationPriceSchema, TaskIdSchema } from './operation.ts'

export const MAX_TOOLS = 500
export const MAX_SKILLS = 200
const MAX_TEXT_LENGTH = 4000
const MAX_EXAMPLES = 20
const MAX_OFFERS = 20

export const ToolNameSchema = printableText(200)
const longText = printableText(MAX_TEXT_LENGTH)
const flag = v.optional(v.boolean('expected true or false'))

/** JSON Schema of the arguments, as the seller publishes it. */
const schema = v.record(v.string(), v.unknown(), 'expected a JSON Schema: an object')

export const ToolSchema = v.strictObject({
  name: ToolNameSchema,
  title: v.optional(ToolNameSchema),
  description: longText,
  input_schema: schema,
  read_only: flag,
  destructive: flag,
  /** What one call costs, and the ways to pay for it. */
  price: v.optional(OperationPriceSchema),
  offers: v.optional(listOf(OfferSchema, MAX_OFFERS)),
  /** Its text contained invisible characters, which are removed. */
  hidden: v.optional(v.literal(true)),
})

/** A tool as people write it: its schema may come from a probe. */
const WrittenToolSchema = v.strictObject({
  ...v.omit(ToolSchema, ['title', 'hidden']).entries,
  /** Omitted where a sentence would only repeat the name. */
  description: v.optional(longText),
  input_schema: v.optional(schema),
  effect: v.optional(EffectSchema),
  /** What it does. */
  task: v.optional(TaskIdSchema),
})

/** A tool with what a call of it changes, as pages and kits show it. */
export const ShownToolSchema = v.strictObject({
  ...ToolSchema.entries,
  effect: v.optional(EffectSchema),
  task: v.optional(TaskIdSchema),
})

export const SkillSchema = v.strictObject({
  id: ToolNameSchema,
  name: ToolNameSchema,
  description: longText,
  examples: v.optional(listOf(longText, MAX_EXAMPLES)),
})

export const WrittenToolsSchema = uniqueList(
  WrittenToolSchema,
  MAX_TOOLS,
  ({ name }) => name,
  'name',
)
export const WrittenSkillsSchema = uniqueList(SkillSchema, MAX_SKILLS, ({ id }) => id, 'name')

export type Tool = v.InferOutput<typeof ToolSchema>
export type ShownTool = v.InferOutput<typeof ShownToolSchema>
export type WrittenTool = v.InferOutput<typeof WrittenToolSchema>
export type Skill = v.InferOutput<typeof SkillSchema>

/** Line breaks and tabs, and no other control character. */
export function printableText(maxLength: number) {
  return v.pipe(
    v.string('expected text'),
    v.minLength(1, 'expected text, got nothing'),
    v.maxLength(maxLength, `expected at most ${maxLength} characters`),
    v.regex(
      /^[^\p{Cc}\u2028\u2029]*(?:[\n\t][^\p{Cc}\u2028\u2029]*)*$/u,
      'expected printable text',
    ),
  )
}
