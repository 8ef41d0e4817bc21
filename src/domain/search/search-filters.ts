import type { DirectoryPart, Switches } from '../derived/tables.ts'
import { toNetworkId, toNetworkName, toNetworkWord } from '../listing/networks.ts'
import { toUsd } from '../listing/pricing.ts'
import {
  AUTH_TYPES,
  DISCOVERY_FILES,
  EFFECTS,
  KIND_LABELS,
  KINDS,
  RAILS,
  RUNS,
} from '../wire/vocabulary.ts'

export const MAX_TRUST = 100

/** The facts about a listing that filters read from the index. */
interface FilterFacts {
  kind: string
  rails: readonly string[]
  has: readonly string[]
  categories: readonly string[]
  sources: readonly string[]
  auth: string
  runs: readonly string[]
  /** CAIP-2 ids. */
  networks: readonly string[]
  /** Ids of the tasks that the listing does; empty if none is known. */
  tasks?: readonly string[] | undefined
  /** An operation's effect. */
  effect?: string | undefined
}

/** Filter values that come from the content, not from the specification. */
export interface KnownValues {
  categories: readonly string[]
  sources: readonly string[]
  networks: readonly string[]
  tasks: readonly string[]
}

/** A filter's list on the search page, and its position among the other lists. */
interface FilterList {
  label: string
  place: number
}

interface FilterRow {
  /** One sentence about the filter, for the description of the interface. */
  text: string
  /** An example value, for the description of the interface. */
  example: unknown
  /** Words for the filter's values on pages, if the values are not names. */
  words?: Readonly<Record<string, string>> | ((value: string) => string)
  /** Set if the filter's values are shown next to the results, with counts. */
  list?: FilterList
  /** The part of a directory that the filter is about; a directory without that part does not offer it. */
  part?: DirectoryPart
  /** Set for facts that operations have and listings lack: a search for listings does not take the filter. */
  isOfOperations?: true
}

/** A filter on values: `one` takes one value, `some` several that must all match, `flag` true or false. */
interface ValueFilter extends FilterRow {
  takes: 'one' | 'some' | 'flag'
  values: readonly string[] | keyof KnownValues
  /** For ids that have names: `read` returns the id that a text means, or null; `write` the name to print. */
  named?: { read: (text: string) => string | null; write: (value: string) => string }
  /** The listing's values that the filter is compared with. */
  of: (facts: FilterFacts) => readonly string[]
}

/** A filter on a number, at most or at least; listings without the number are left out. */
interface NumberFilter extends FilterRow {
  takes: 'most' | 'least'
  max: number
}

/** A filter on a day: that day or later; listings without a day are left out. */
interface DayFilter extends FilterRow {
  takes: 'since'
}

export type Filter = ValueFilter | NumberFilter | DayFilter

/**
 * The search filters. The endpoint's parameters and checks, the index's bit sets, facets, OpenAPI
 * and the search page follow from them. A new filter is a row here; a fact that `FilterFacts` lacks
 * also goes into `search-document.ts` and `toSearchDocument` in `indexes.ts`. MCP's tools
 * (`mcp-tools.ts`) and the search on static hosts (`page-search.ts`) have lists of their own. The
 * order is that of the `query` echo.
 */
export const FILTERS = {
  kind: {
    takes: 'one',
    values: KINDS,
    of: ({ kind }) => [kind],
    text: 'Only listings of this kind.',
    example: 'http_api',
    words: KIND_LABELS,
    list: { label: 'Kind', place: 1 },
  },
  category: {
    takes: 'one',
    values: 'categories',
    of: ({ categories }) => categories,
    text: 'Only listings in this category; /api/v1/categories has the identifiers.',
    example: 'llm_inference',
    list: { label: 'Category', place: 2 },
  },
  rail: {
    takes: 'one',
    values: RAILS,
    of: ({ rails }) => rails,
    part: 'payments',
    text: 'Only listings that take payment on this rail.',
    example: 'x402',
    list: { label: 'Pays with', place: 4 },
  },
  source: {
    takes: 'one',
    values: 'sources',
    of: ({ sources }) => sources,
    text: 'Only listings known from this source; /api/v1/sources has the identifiers.',
    example: 'mcp_registry',
    list: { label: 'Source', place: 8 },
  },
  max_price_usd: {
    takes: 'most',
    part: 'payments',
    max: Number.MAX_SAFE_INTEGER,
    text: 'Only listings whose lowest known price is at most this many US dollars; free is 0.',
    example: 0.05,
    words: toPriceLimit,
    list: { label: 'Price of a call', place: 3 },
  },
  min_trust: {
    takes: 'least',
    part: 'trust',
    max: MAX_TRUST,
    text: `Only listings whose trust score, from 0 to ${MAX_TRUST}, is at least this; listings without a score are left out.`,
    example: 30,
    words: (value) => (value === '0' ? 'scored' : `trust ${value} or more`),
    list: { label: 'Trust', place: 7 },
  },
  paid_only: {
    takes: 'flag',
    values: ['true'],
    of: ({ rails }) => (rails.length > 0 ? ['true'] : []),
    part: 'payments',
    text: 'If true, only listings that name a payment rail.',
    example: true,
    words: () => 'paid',
  },
  has: {
    takes: 'some',
    values: DISCOVERY_FILES,
    of: ({ has }) => has,
    text: 'Only listings whose service publishes all of these discovery files, separated by commas.',
    example: ['openapi', 'llms_txt'],
    words: (value) => `has ${value.replaceAll('_', ' ')}`,
  },
  auth: {
    takes: 'one',
    values: [...AUTH_TYPES, 'no_account'],
    of: ({ auth }) => (auth === 'none' || auth === 'payment' ? [auth, 'no_account'] : [auth]),
    text: 'How callers prove who they are; unknown if the listing does not say, no_account if callers need no account.',
    example: 'payment',
    words: {
      none: 'open',
      payment: 'payment only',
      api_key: 'API key',
      bearer: 'token',
      oauth: 'OAuth',
      other: 'other credentials',
      unknown: 'not declared',
      no_account: 'no account needed',
    },
    list: { label: 'Access', place: 5 },
  },
  runs: {
    takes: 'one',
    values: RUNS,
    of: ({ runs }) => runs,
    text: 'Only listings that run remotely, on the service’s own servers, or that come as a package to run locally.',
    example: 'remote',
    words: { remote: 'hosted', local: 'on your machine' },
    list: { label: 'Runs', place: 6 },
  },
  network: {
    takes: 'one',
    values: 'networks',
    named: { read: toNetworkId, write: toNetworkWord },
    of: ({ networks }) => networks,
    part: 'payments',
    text: 'Only listings that take payment on this network: its CAIP-2 id or its common name, such as base or solana.',
    example: 'eip155:8453',
    words: toNetworkName,
    list: { label: 'Network', place: 9 },
  },
  answered_since: {
    takes: 'since',
    text: 'Only listings that answered a probe or a test purchase on this day or later.',
    example: '2026-09-01',
    words: (value) => `answered since ${value}`,
  },
  paid_since: {
    takes: 'since',
    part: 'payments',
    text: 'Only listings whose last counted payment was on this day or later.',
    example: '2026-07-01',
    words: (value) => `paid since ${value}`,
  },
  task: {
    takes: 'one',
    values: 'tasks',
    of: ({ tasks = [] }) => tasks,
    text: 'Only results that do this task; /api/v1/tasks has the identifiers.',
    example: 'web_search',
    words: (value) => value.replaceAll('_', ' '),
    list: { label: 'Does', place: 10 },
  },
  effect: {
    takes: 'one',
    values: EFFECTS,
    of: ({ effect }) => (effect === undefined ? [] : [effect]),
    text: 'Only operations whose call has this effect: it only reads, or it writes, deletes or spends money.',
    example: 'read',
    isOfOperations: true,
  },
} as const satisfies Record<string, Filter>

/** A maximum price as people choose it. @example toPriceLimit('0.1') → 'up to $0.10' */
function toPriceLimit(value: string): string {
  if (value === '0') return 'free'
  return `up to ${Number.isFinite(Number(value)) ? toUsd(Number(value)) : value}`
}

export type FilterName = keyof typeof FILTERS

/** `Object.entries` loses the types of the names. */
export const FILTER_ROWS = Object.entries(FILTERS) as readonly (readonly [FilterName, Filter])[]

/** The filters that a search for listings takes. */
export const LISTING_FILTERS = FILTER_ROWS.flatMap(([name, { isOfOperations }]) =>
  isOfOperations === true ? [] : [name],
)

/** Facet keys: filters that have a list, and price bands. */
export type SearchFacet =
  | 'price'
  | {
      [Name in FilterName]: (typeof FILTERS)[Name] extends { list: FilterList } ? Name : never
    }[FilterName]

export const SEARCH_FACETS: readonly SearchFacet[] = [
  ...FILTER_ROWS.flatMap(([name, filter]) => (hasList(name, filter) ? [name] : [])),
  'price',
]

/** The filter that a facet offers; the facet's counts ignore this filter. */
export function filterOf(facet: SearchFacet): FilterName {
  return facet === 'price' ? 'max_price_usd' : facet
}

/** Filters with a list on the search page, in its order. */
export const LISTED_FILTERS = FILTER_ROWS.flatMap(([name, { list, part }]) =>
  list === undefined ? [] : [{ name, part, ...list }],
).toSorted((a, b) => a.place - b.place)

function hasList(
  name: FilterName,
  { list }: Filter,
): name is Exclude<SearchFacet, 'price'> & FilterName {
  return list !== undefined && name in FILTERS
}

/** A value as written in a parameter: by its name, if it has one. */
export function toFilterValue(name: string, value: string): string {
  const [, filter] = FILTER_ROWS.find(([known]) => known === name) ?? []
  return filter !== undefined && 'of' in filter ? (filter.named?.write(value) ?? value) : value
}

/** Words for a filter's value; names and unknown values stay unchanged. */
export function toFilterWords(name: FilterName, value: string): string {
  const { words }: Filter = FILTERS[name]
  if (typeof words === 'function') return words(value)
  return words !== undefined && Object.hasOwn(words, value) ? (words[value] ?? value) : value
}

const PAYMENT_WORDS = [
  'paid',
  ...['expect', 'price', 'calls', 'payment', 'pay', 'x402', 'mpp'],
  ...['Call-Expect', 'X-PAYMENT', 'PAYMENT-SIGNATURE'],
]

/** The part of a directory that each argument, or each value in a closed list, needs. */
const PART_OF = new Map<string, DirectoryPart>([
  ...FILTER_ROWS.flatMap(([name, { part }]) => (part === undefined ? [] : [[name, part] as const])),
  ...PAYMENT_WORDS.map((word) => [word, 'payments'] as const),
  ['trust', 'trust'],
])

/** Whether a directory without some parts offers an argument or one of its values. */
export function isOffered(word: string, switches: Partial<Switches> = {}): boolean {
  const part = PART_OF.get(word)
  return part === undefined || switches[part] !== false
}
