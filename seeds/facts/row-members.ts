import * as v from 'valibot'

/** Members of rows that strangers publish: bounded, and null counts as left out. */
const MAX_TEXT = 20_000
export const text = v.pipe(
  v.string('expected text'),
  v.maxLength(MAX_TEXT, `expected at most ${MAX_TEXT} characters`),
)
export const optionalFlag = v.nullish(v.boolean())
export const optionalList = v.nullish(v.array(v.unknown()))

const optionalText = v.nullish(text)
const optionalNumber = v.nullish(v.number())
export const texts = <const Names extends readonly string[]>(...names: Names) =>
  v.entriesFromList(names, optionalText)
export const numbers = <const Names extends readonly string[]>(...names: Names) =>
  v.entriesFromList(names, optionalNumber)
