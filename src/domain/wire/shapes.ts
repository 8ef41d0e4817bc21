import * as v from 'valibot'

export const count = v.pipe(
  v.number(),
  v.integer('expected a whole number'),
  v.minValue(0, 'expected 0 or more'),
)

export function whole(least: number, most: number) {
  return v.pipe(v.number(), v.integer(), v.minValue(least), v.maxValue(most))
}

/** With a sentence for the documents that describe the interface. */
export function described<const Schema extends v.GenericSchema>(schema: Schema, text: string) {
  return v.pipe(schema, v.description(text))
}

export function optionally<const Schema extends v.GenericSchema>(schema: Schema, text: string) {
  return v.optional(described(schema, text))
}

export function textLike(pattern: RegExp, message: string) {
  return v.pipe(v.string('expected text'), v.regex(pattern, message))
}

export function listOf<Item extends v.GenericSchema>(item: Item, max: number) {
  return v.pipe(
    v.array(item, 'expected a list'),
    v.maxLength(max, `expected at most ${max} entries`),
  )
}

/** @param sameAs entries mapped to the same text are the same entry */
export function uniqueList<Item extends v.GenericSchema>(
  item: Item,
  max: number,
  sameAs: (entry: v.InferOutput<Item>) => unknown = (entry) => entry,
  entry = 'entry',
) {
  return v.pipe(
    listOf(item, max),
    v.check(
      (list) => new Set(list.map((each) => sameAs(each))).size === list.length,
      `expected each ${entry} once`,
    ),
  )
}

export function checkedText(typeMessage: string, findFault: (text: string) => string | null) {
  return v.pipe(v.string(typeMessage), faultless(findFault))
}

export function faultless<Value>(findFault: (value: Value) => string | null) {
  return v.rawCheck<Value>(({ dataset, addIssue }) => {
    const fault = dataset.typed ? findFault(dataset.value) : null
    if (fault !== null) addIssue({ message: fault })
  })
}
