import { toPlaceholder } from '../listing/json-schema.ts'
import { encodeValue, toText, withQuery } from '../listing/operation.ts'
import { isJsonObject, present } from '../wire/json.ts'
import {
  type ArgumentKind,
  type ArgumentSlot,
  type Filled,
  meaningsOf,
  placeholderOf,
  readValues,
} from './argument-slots.ts'
import type { QuestionFacts } from './question-facts.ts'

/** A request as an example shows it. */
export interface ShownExample {
  url?: string | undefined
  headers?: Record<string, string> | undefined
  body?: unknown
  arguments?: unknown
}

/**
 * An example request with values from the query in place of the example's own. A required value
 * that the query lacks becomes its `<PLACEHOLDER>`; an optional one is removed.
 *
 * @param template address of the operation, with its `{placeholders}`
 */
export function fillArguments(
  template: string,
  example: ShownExample,
  slots: readonly ArgumentSlot[],
  facts: QuestionFacts,
): ShownExample {
  const read = readValues(slots, facts, (slot) => shownAt(example, template, slot))
  const values = keepMembers(example, keepPlace(read))
  const url = fillUrl(template, example, values, facts)
  let { body, arguments: given } = example
  for (const { slot, value } of values) {
    const [root, ...path] = slot.at
    if (root === 'body') body = replaceAt(body, path, value)
    if (root === 'arguments') given = replaceAt(given, path, value)
  }
  const { headers } = example
  return present({ url, headers, body: orNothing(body), arguments: orNothing(given) })
}

/** A call that is sent without any is shown without any. */
function orNothing(value: unknown): unknown {
  return isJsonObject(value) && Object.keys(value).length === 0 ? undefined : value
}

/**
 * Optional members of an inner object that would all go stay as placeholders: an empty object says
 * nothing, and the object itself may be required.
 */
function keepMembers(example: ShownExample, values: readonly Filled[]): readonly Filled[] {
  const innerOf = ({ slot }: Filled) => JSON.stringify(memberPathOf(slot).slice(0, -1))
  const gone = values.filter(({ value, slot }) => value === undefined && isInner(slot))
  const emptied = new Set(
    [...Map.groupBy(gone, innerOf).values()].flatMap((own) => {
      const [first] = own
      const inner = first && memberPathOf(first.slot).slice(0, -1)
      const members = inner && Object.keys(Object(readAt(example, inner))).length
      return members === own.length ? own : []
    }),
  )
  return values.map((each) =>
    emptied.has(each) ? { ...each, value: placeholderOf(each.slot) } : each,
  )
}

function isInner(slot: ArgumentSlot): boolean {
  return ['body', 'arguments'].includes(String(slot.at[0])) && memberPathOf(slot).length > 2
}

/** Where the member lies; the first text of a list stands for the list. */
function memberPathOf({ at }: ArgumentSlot): readonly (string | number)[] {
  return typeof at.at(-1) === 'number' ? at.slice(0, -1) : at
}

function readAt(example: ShownExample, [root, ...path]: readonly (string | number)[]): unknown {
  let value: unknown = root === 'body' ? example.body : example.arguments
  for (const step of path) value = Object(value)[step]
  return value
}

/** How many facts of a query a request can hold: places, addresses, quoted text. */
export function countStated(
  template: string,
  example: ShownExample,
  slots: readonly ArgumentSlot[],
  facts: QuestionFacts,
): number {
  const stated = readValues(slots, facts, (slot) => shownAt(example, template, slot)).filter(
    ({ isStated }) => isStated,
  )
  return new Set(stated.flatMap((filled) => meaningsOf(filled, facts))).size
}

/**
 * A name or coordinates: where either will do, authors make both optional. An answer without any
 * place is not what the example asks for, so its way of naming the place stays.
 */
function keepPlace(values: readonly Filled[]): readonly Filled[] {
  const places = values.filter(({ slot }) => PLACE_KINDS.has(slot.kind))
  if (places.some(({ value }) => value !== undefined)) return values
  return values.map((filled) =>
    places.includes(filled) ? { ...filled, value: placeholderOf(filled.slot) } : filled,
  )
}

const PLACE_KINDS: ReadonlySet<ArgumentKind> = new Set([
  'place',
  'latitude',
  'longitude',
  'coordinates',
])

function fillUrl(
  template: string,
  { url }: ShownExample,
  values: readonly Filled[],
  facts: QuestionFacts,
) {
  if (url === undefined) return undefined
  const byName = (root: string) =>
    new Map(
      values.flatMap(({ slot, value }) =>
        slot.at[0] === root ? [[String(slot.at[1]), value]] : [],
      ),
    )
  const [path, query] = [byName('path'), byName('query')]
  const known = readPath(template, url)
  const address = template.split('?', 1)[0]?.replace(/\{([\w.]+)\}/g, (_, name: string) => {
    const value = path.has(name) ? path.get(name) : undefined
    return value === undefined
      ? (known.get(name) ?? toPlaceholder(name))
      : encodeValue(toText(value))
  })
  const shown = [...new URLSearchParams(url.split('?')[1] ?? '')]
  const pairs = shown.flatMap(([name, text]): [string, string][] => {
    if (!query.has(name)) return [[name, text]]
    const value = query.get(name)
    return value === undefined ? [] : [[name, toText(value)]]
  })
  const names = new Set(shown.map(([name]) => name))
  const more = findUnshown(
    values,
    facts,
    ({ at }) => at[0] === 'query' && !names.has(String(at[1])),
  )
  const added = more.map(({ slot, value }): [string, string] => [String(slot.at[1]), toText(value)])
  return withQuery(address ?? url, [...pairs, ...added])
}

/**
 * Adds optional parameters for facts of the query that the example leaves out. One per meaning:
 * services that take a coin by symbol or by name refuse both at once.
 */
function findUnshown(
  values: readonly Filled[],
  facts: QuestionFacts,
  isUnshown: (slot: ArgumentSlot) => boolean,
): readonly Filled[] {
  const stated = values.filter(({ isStated }) => isStated)
  const unshown = stated.filter(({ slot }) => isUnshown(slot))
  const sayings = new Set(
    stated.filter((each) => !unshown.includes(each)).flatMap((each) => meaningsOf(each, facts)),
  )
  const first = new Map<string, ArgumentKind>()
  return unshown.filter((each) => {
    const [meaning = ''] = meaningsOf(each, facts)
    if (sayings.has(meaning)) return false
    const before = first.get(meaning)
    first.set(meaning, before ?? each.slot.kind)
    return before === undefined || (before === 'latitude' && each.slot.kind === 'longitude')
  })
}

/** The example's value for each placeholder of the path. */
function readPath(template: string, url: string): Map<string, string> {
  const names: string[] = []
  const pattern = (template.split('?', 1)[0] ?? '')
    .replace(/[.*+?^$()|[\]\\]/g, '\\$&')
    .replace(/\{([\w.]+)\}/g, (_, name: string) => {
      names.push(name)
      return '([^/?#]*)'
    })
  const found = new RegExp(`^${pattern}`).exec(url)
  return new Map(names.map((name, at) => [name, found?.[at + 1] ?? toPlaceholder(name)]))
}

function shownAt(example: ShownExample, template: string, { at }: ArgumentSlot): unknown {
  const [root, ...path] = at
  if (root === 'query')
    return new URLSearchParams(example.url?.split('?')[1] ?? '').get(String(path[0]))
  if (root === 'path')
    return decode(readPath(template, example.url ?? '').get(String(path[0])) ?? '')
  return readAt(example, at)
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function replaceAt(value: unknown, path: readonly (string | number)[], put: unknown): unknown {
  const [step, ...rest] = path
  if (step === undefined) return put
  if (Array.isArray(value))
    return value
      .map((each, at) => (at === step ? replaceAt(each, rest, put) : each))
      .filter((each) => each !== undefined)
  if (!isJsonObject(value)) return value
  const inner = replaceAt(value[step], rest, put)
  const { [step]: _, ...others } = value
  if (inner === undefined) return others
  return { ...value, [step]: inner }
}
