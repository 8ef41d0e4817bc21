import * as v from 'valibot'

/** Members of rows that strangers publish: bounded, and null is as good as left out. */
const MAX_TEXT = 20_000
export const text = v.pipe(
  v.string('expected text'),
  v.maxLength(MAX_TEXT, `expected at most ${MAX_TEXT} characters`),
)
export const optionalText = optional(text)
export const optionalNumber = optional(v.number())
export const optionalFlag = optional(v.boolean())
export const optionalList = optional(v.array(v.unknown()))

export function optional<Schema extends v.GenericSchema>(schema: Schema) {
  return v.optional(v.nullable(schema))
}
