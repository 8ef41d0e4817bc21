import * as v from 'valibot'

/** Members of rows that strangers publish: bounded, and null counts as left out. */
const MAX_TEXT = 20_000
export const text = v.pipe(
  v.string('expected text'),
  v.maxLength(MAX_TEXT, `expected at most ${MAX_TEXT} characters`),
)
/** To the second, as evidence has times; null for anything else. */
export function toInstant(instant: string | null | undefined): string | null {
  const whole = (instant ?? '').replace(/T(\d\d)(\d\d)(?=\d\d)/, 'T$1:$2:')
  const time = /^\d{4}-\d\d-\d\dT/.test(whole) ? Date.parse(whole) : Number.NaN
  return Number.isNaN(time) ? null : new Date(time).toISOString().replace(/\.\d{3}Z$/, 'Z')
}

export const optionalFlag = v.nullish(v.boolean())
export const optionalList = v.nullish(v.array(v.unknown()))

export const texts = <const Names extends readonly string[]>(...names: Names) =>
  v.entriesFromList(names, v.nullish(text))
export const numbers = <const Names extends readonly string[]>(...names: Names) =>
  v.entriesFromList(names, v.nullish(v.number()))
