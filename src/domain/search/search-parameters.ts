import * as v from 'valibot'
import { described, isOnCalendar, optionally, whole } from '../wire/shapes.ts'
import { cutAt, findNearestName } from '../wire/text.ts'
import { SEARCH_SORTS, SEARCH_VIEWS } from '../wire/vocabulary.ts'
import {
  FILTER_ROWS,
  type FILTERS,
  type Filter,
  type FilterName,
  type KnownValues,
  LISTING_FILTERS,
  SEARCH_FACETS,
} from './search-filters.ts'

/** The most characters of `q` that a caller may send and that the engine reads. */
export const MAX_QUERY_CHARACTERS = 1000
/** One endpoint's part of `SearchQuery`: its page size, and the parameters that it omits. */
interface SearchEndpoint {
  defaultLimit: number
  maxLimit: number
  without: readonly string[]
}
export const LISTINGS_ENDPOINT: SearchEndpoint = {
  defaultLimit: 20,
  maxLimit: 50,
  without: FILTER_ROWS.flatMap(([name]) => (LISTING_FILTERS.includes(name) ? [] : [name])),
}
export const OPERATIONS_ENDPOINT: SearchEndpoint = {
  defaultLimit: 5,
  maxLimit: 20,
  without: ['sort', 'facets', 'view', 'explain'],
}
/** Largest signed 32-bit number: no directory has so many listings, and every client can represent it. */
export const MAX_OFFSET = 2_147_483_647

/** An answer echoes this as `query`; OpenAPI uses its descriptions. */
export const SearchQuerySchema = v.object({
  q: optionally(
    v.string(),
    `A task or keywords, at most ${MAX_QUERY_CHARACTERS} characters; any of the words may match. Also taken as query.`,
  ),
  ...filterEntries(),
  sort: optionally(
    v.picklist(SEARCH_SORTS),
    'Order of the results; relevance if absent. reported_use sorts by the highest count that a third party reported. Unknown values come last; ties keep the order of relevance.',
  ),
  facets: optionally(
    v.array(v.picklist(SEARCH_FACETS)),
    'Facets to count, separated by commas; each is counted with every filter but its own.',
  ),
  view: optionally(v.picklist(SEARCH_VIEWS), 'Full summaries (the default), or compact rows.'),
  explain: optionally(
    v.boolean(),
    'If true, each result says which words matched where, and what its relevance consists of.',
  ),
  limit: described(whole(1, LISTINGS_ENDPOINT.maxLimit), 'How many results to send at most.'),
  offset: described(
    whole(0, MAX_OFFSET),
    'How many results to skip, for the pages after the first.',
  ),
})

export type SearchQuery = v.InferOutput<typeof SearchQuerySchema>

type FilterEntries = {
  [Name in keyof FilterValues]: v.OptionalSchema<v.GenericSchema<FilterValues[Name]>, undefined>
}

function filterEntries(): FilterEntries {
  const entries = FILTER_ROWS.map(([name, filter]) => [
    name,
    optionally(toSchema(filter), filter.text),
  ])
  // The entries and their type are made from the same rows.
  return Object.fromEntries(entries) as FilterEntries
}

function toSchema(filter: Filter): v.GenericSchema {
  if ('max' in filter)
    return filter.max < Number.MAX_SAFE_INTEGER
      ? v.pipe(v.number(), v.minValue(0), v.maxValue(filter.max))
      : v.pipe(v.number(), v.finite(), v.minValue(0))
  if (filter.takes === 'flag') return v.boolean()
  if (filter.takes === 'since') return v.pipe(v.string(), v.regex(/^\d{4}-\d\d-\d\d$/))
  const value = typeof filter.values === 'string' ? v.string() : v.picklist(filter.values)
  return filter.takes === 'one' ? value : v.array(value)
}

/** A wrong query parameter, as listed in `errors` in a problem document. */
export interface ParameterProblem {
  in: 'query'
  name: string
  detail: string
  allowed?: readonly (string | number | boolean)[]
}

type ParsedSearch = { query: SearchQuery } | { problems: ParameterProblem[] }

/** Only the first few wrong parameters are reported: nobody reads a thousand. */
const MAX_PROBLEMS = 8
const BOOLEANS = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
])
const WHOLE_NUMBER = /^\d{1,15}$/
const DECIMAL = /^(?:\d{1,15}(?:\.\d{0,15})?|\.\d{1,15})$/

/** Thrown and caught only within this file, so that a parameter reader just returns its value. */
class Refusal extends Error {
  readonly allowed: readonly (string | number | boolean)[] | undefined
  constructor(detail: string, allowed?: readonly (string | number | boolean)[]) {
    super(detail)
    this.allowed = allowed
  }
}

type Reader = (text: string, known: KnownValues, endpoint: SearchEndpoint) => object

const READERS: Record<string, Reader> = {
  q: (text) => readText(text),
  ...Object.fromEntries(
    FILTER_ROWS.map(([name, filter]): [string, Reader] => [
      name,
      (text, known) => ({ [name]: readFilter(text, filter, known) }),
    ]),
  ),
  sort: (text) => ({ sort: oneOf(text, SEARCH_SORTS) }),
  facets: (text) => ({ facets: someOf(text, SEARCH_FACETS) }),
  view: (text) => ({ view: oneOf(text, SEARCH_VIEWS) }),
  explain: (text) => ({ explain: readBoolean(text) }),
  limit: (text, _, { maxLimit }) => ({ limit: readWhole(text, 1, maxLimit) }),
  offset: (text) => ({ offset: readWhole(text, 0, MAX_OFFSET) }),
}
const PARAMETERS = Object.keys(READERS)
/** Other names for parameters, from other protocols and other searches. */
const ALIASES: Readonly<Record<string, string>> = { query: 'q' }

/**
 * Strict: unknown, repeated or misspelt parameters are errors. A blank `q` is treated as absent.
 * @param endpoint the endpoint, with its accepted parameters and the words for its messages
 */
export function parseSearchParameters(
  rawQuery: string,
  known: KnownValues,
  endpoint = LISTINGS_ENDPOINT,
): ParsedSearch {
  const taken = PARAMETERS.filter((name) => !endpoint.without.includes(name))
  const seen = new Set<string>()
  const problems: ParameterProblem[] = []
  const given: Partial<SearchQuery> = {}
  for (const [written, text] of new URLSearchParams(rawQuery)) {
    if (problems.length >= MAX_PROBLEMS) break
    const name = Object.hasOwn(ALIASES, written) ? (ALIASES[written] ?? written) : written
    try {
      if (seen.has(name)) throw new Refusal(toRepeated(name))
      seen.add(name)
      const read = taken.includes(name) ? READERS[name] : undefined
      if (read === undefined) throw new Refusal(toUnknown(name, taken), taken)
      Object.assign(given, read(text, known, endpoint))
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      problems.push(toProblem(written, error))
    }
  }
  if (problems.length > 0) return { problems }
  return { query: normalise(given, endpoint) }
}

function toRepeated(name: string): string {
  const [alias] = Object.entries(ALIASES).find(([, meant]) => meant === name) ?? []
  const other = alias === undefined ? '' : `, as ${name} or as ${alias}`
  return `it is given more than once; give it once${other}`
}

/** @param taken the accepted names */
export function toUnknown(name: string, taken: readonly string[], what = 'parameter'): string {
  const nearest = findNearestName(name, taken)
  return `unknown ${what}${nearest === null ? '' : `; did you mean ${nearest}?`}`
}

function toProblem(name: string, { message, allowed }: Refusal): ParameterProblem {
  return { in: 'query', name: cutAt(name, 64), detail: message, ...(allowed && { allowed }) }
}

/** The echo always has the same order, whatever the order of the parameters. */
function normalise(given: Partial<SearchQuery>, { defaultLimit }: SearchEndpoint): SearchQuery {
  const { limit = defaultLimit, offset = 0 } = given
  const entries = Object.entries(given)
  const inOrder = PARAMETERS.flatMap((name) => entries.filter(([other]) => other === name))
  return { ...Object.fromEntries(inOrder), limit, offset }
}

function readFilter(text: string, filter: Filter, known: KnownValues) {
  if ('max' in filter) return readDecimal(text, filter.max)
  if (filter.takes === 'flag') return readBoolean(text)
  if (filter.takes === 'since') return readDay(text)
  const allowed = typeof filter.values === 'string' ? known[filter.values] : filter.values
  if (filter.named !== undefined)
    return filter.named.read(text) ?? oneOf(text, allowed, filter.named.write)
  return filter.takes === 'one' ? oneOf(text, allowed) : someOf(text, allowed)
}

function readDay(text: string): string {
  if (/^\d{4}-\d\d-\d\d$/.test(text) && isOnCalendar(text)) return text
  throw new Refusal(`got ${quote(text)}; expected a day such as 2026-11-20`)
}

function readText(text: string): Partial<SearchQuery> {
  // Code points, not UTF-16 units: an emoji is one character to the person who typed it.
  if (text.length > MAX_QUERY_CHARACTERS && [...text].length > MAX_QUERY_CHARACTERS) {
    throw new Refusal(`it has more than ${MAX_QUERY_CHARACTERS} characters; send at most that many`)
  }
  const q = text.toWellFormed().trim()
  return q === '' ? {} : { q }
}

/** @param write a function that turns an allowed value into the text that a caller may send */
function oneOf<const T extends string>(
  text: string,
  allowed: readonly T[],
  write = (value: T): string => value,
): T {
  const found = allowed.find((value) => value === text)
  if (found === undefined) throw new Refusal(`unknown value ${quote(text)}`, allowed.map(write))
  return found
}

/** Each value once, in the order of the closed list. */
function someOf<const T extends string>(text: string, allowed: readonly T[]): T[] {
  const requested = new Set(text.split(',').map((value) => oneOf(value, allowed)))
  return allowed.filter((value) => requested.has(value))
}

function readBoolean(text: string): boolean {
  const value = BOOLEANS.get(text)
  if (value === undefined) throw new Refusal(`unknown value ${quote(text)}`, [...BOOLEANS.keys()])
  return value
}

function readWhole(text: string, min: number, max: number): number {
  const number = Number(text)
  if (WHOLE_NUMBER.test(text) && number >= min && number <= max) return number
  throw new Refusal(`got ${quote(text)}, expected a whole number from ${min} to ${max}`)
}

function readDecimal(text: string, max: number): number {
  const number = Number(text)
  if (DECIMAL.test(text) && number <= max) return number
  throw new Refusal(`got ${quote(text)}, expected a plain number from 0 to ${max}`)
}

function quote(text: string): string {
  return JSON.stringify(cutAt(text, 40).toWellFormed())
}

type ValueOf<Row> = Row extends { takes: 'flag' }
  ? boolean
  : Row extends { takes: 'since' }
    ? string
    : Row extends { takes: 'most' | 'least' }
      ? number
      : Row extends { takes: 'some'; values: readonly (infer Value)[] }
        ? Value[]
        : Row extends { values: readonly (infer Value)[] }
          ? Value
          : string

/** The parsed value of each filter. */
type FilterValues = { [Name in FilterName]: ValueOf<(typeof FILTERS)[Name]> }
