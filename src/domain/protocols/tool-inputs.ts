import * as v from 'valibot'
import type { Switches } from '../derived/tables.ts'
import { MAX_ID_LENGTH } from '../listing/listing-text.ts'
import { MAX_PLAN_ROWS, PLAN_ROWS } from '../plans/task-plan.ts'
import { ExpectationSchema } from '../relay/pins.ts'
import { namesIn } from '../relay/relayed-headers.ts'
import { isOffered } from '../search/offered-words.ts'
import { FILTERS, MAX_TRUST } from '../search/search-filters.ts'
import { toUnknown } from '../search/search-parameters.ts'
import { MAX_QUERY_CHARACTERS, OPERATIONS_ENDPOINT } from '../search/search-query.ts'
import { MOST_COMPARED } from '../wire/links.ts'
import { optionally as optional, whole } from '../wire/shapes.ts'
import { EFFECTS, HTTP_METHODS, KINDS, RAILS, RUNS, SEARCH_SORTS } from '../wire/vocabulary.ts'

/** Results an agent gets unless it asks for more: as many as fit into two kilobytes. */
export const TOOL_RESULTS = OPERATIONS_ENDPOINT.defaultLimit
const MOST_TOOL_RESULTS = OPERATIONS_ENDPOINT.maxLimit

// Any text: an unknown id is answered with the nearest ones.
const id = v.pipe(v.string(), v.maxLength(MAX_ID_LENGTH), v.description('Such as mcp.github.'))

/** Arguments by name; a message about an unknown name lists the valid ones. */
function toolInput<const Entries extends v.ObjectEntries>(entries: Entries) {
  const names = Object.keys(entries)
  return v.strictObject(entries, ({ expected, received, path }) => {
    const name = String(path?.[0].key ?? '')
    if (expected === 'never')
      return `${toUnknown(name, names, 'argument')}. The arguments are ${names.join(', ') || 'none'}.`
    return received === 'undefined' && name !== ''
      ? `The argument ${name} is missing.`
      : `Expected an object with arguments, got ${received}.`
  })
}

export type ToolInput = ReturnType<typeof toolInput>

const words = optional(
  v.pipe(v.string(), v.maxLength(MAX_QUERY_CHARACTERS)),
  'The task in plain words.',
)

/** Names that other interfaces have for an argument: they are taken too, and not listed. */
const OTHER_NAMES: readonly [other: string, argument: string, schema: v.GenericSchema][] = [
  ['listing_id', 'id', id],
  ['q', 'query', words],
]

/** The same arguments under their own names. Under both names at once, neither is known. */
export function withOwnNames(
  { entries }: ToolInput,
  given: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const known: v.ObjectEntries = entries
  const named = { ...given }
  for (const [other, argument, schema] of OTHER_NAMES)
    if (
      known[argument] === schema &&
      Object.hasOwn(named, other) &&
      !Object.hasOwn(named, argument)
    ) {
      named[argument] = named[other]
      delete named[other]
    }
  return named
}

/** Arguments with a closed list of values, some for optional parts of a directory. */
const LISTS = {
  sort: (isThere = (_: string) => true) =>
    optional(v.picklist(SEARCH_SORTS.filter(isThere)), 'Else relevance.'),
  auth: (isThere = (_: string) => true) =>
    optional(
      v.picklist(FILTERS.auth.values.filter(isThere)),
      'How callers sign in; no_account: nobody signs up.',
    ),
}

/** The arguments of a tool, and their values, in a directory that may be without payments or trust. */
export function toOfferedInput({ entries }: ToolInput, switches: Switches): ToolInput {
  const isThere = (word: string) => isOffered(word, switches)
  const offered = Object.entries(entries).filter(([name]) => isThere(name))
  const narrowed = Object.entries(LISTS).flatMap(([name, list]) =>
    Object.hasOwn(entries, name) ? [[name, list(isThere)] as const] : [],
  )
  return toolInput(Object.fromEntries([...offered, ...narrowed]))
}

export const SearchToolInput = toolInput({
  query: words,
  kind: v.optional(v.picklist(KINDS)),
  category: optional(v.string(), 'list_facets has the identifiers.'),
  rail: v.optional(v.picklist(RAILS)),
  max_price_usd: v.optional(v.pipe(v.number(), v.minValue(0))),
  min_trust: v.optional(v.pipe(v.number(), v.minValue(0), v.maxValue(MAX_TRUST))),
  paid_only: v.optional(v.boolean()),
  answered_since: optional(v.string(), 'YYYY-MM-DD.'),
  paid_since: v.optional(v.string()),
  auth: LISTS.auth(),
  network: optional(v.string(), 'Paid on this network: base, solana, eip155:4217.'),
  task: optional(v.string(), 'Does this task: web_search.'),
  runs: v.optional(v.picklist(RUNS)),
  sort: LISTS.sort(),
  limit: optional(whole(1, MOST_TOOL_RESULTS), `Else ${TOOL_RESULTS}.`),
  offset: optional(v.pipe(v.number(), v.integer(), v.minValue(0)), 'Results to skip.'),
  with_kit: optional(v.boolean(), 'The first result also has its compact kit.'),
})

const {
  sort: _sort,
  offset: _offset,
  with_kit: _kit,
  ...operationEntries
} = SearchToolInput.entries
export const OperationsToolInput = toolInput({
  ...operationEntries,
  effect: optional(v.picklist(EFFECTS), 'What the call does.'),
})

export const PlanToolInput = toolInput({
  task: v.pipe(
    v.string(),
    v.maxLength(60),
    v.description('Such as web_search, weather or geocoding; /api/v1/tasks lists them.'),
  ),
  input: v.pipe(
    v.record(v.string(), v.unknown()),
    v.description('The input of its contract, such as { "query": "tides" } for web_search.'),
  ),
  max_price_usd: v.optional(v.pipe(v.number(), v.minValue(0))),
  rail: optional(v.picklist(RAILS), 'Paid on this rail, or free.'),
  network: optional(v.string(), 'Paid on this network, or free.'),
  limit: optional(whole(1, MAX_PLAN_ROWS), `Else ${PLAN_ROWS}.`),
})

export const ListingToolInput = toolInput({ id })

export const KitToolInput = toolInput({
  id,
  operation: optional(whole(0, 199), 'Counted from 0; else the one that callers most likely want.'),
  rail: optional(v.picklist(RAILS), 'Operations sold on it come first; a snippet pays on it.'),
  snippet: optional(
    v.pipe(v.string(), v.maxLength(40)),
    'Also one ready snippet: curl, typescript, python, or the name of an MCP client.',
  ),
})

export const CompareToolInput = toolInput({
  ids: v.pipe(
    v.array(id),
    v.minLength(2),
    v.maxLength(MOST_COMPARED),
    v.description(`Two to ${MOST_COMPARED} ids.`),
  ),
})

export const FacetsToolInput = toolInput({})

const { digest, payee, max_usd } = ExpectationSchema.entries

export const CallToolInput = toolInput({
  id,
  expect: optional(
    v.strictObject({
      digest: optional(digest.wrapped, 'As kit.json had it.'),
      payee: optional(payee.wrapped, 'CAIP-10; one must be paid.'),
      max_usd: optional(max_usd.wrapped, 'US dollars.'),
    }),
    'The call is refused, and nothing paid, where this changed.',
  ),
  method: optional(v.picklist(HTTP_METHODS), "Else the operation's."),
  endpoint: optional(
    v.pipe(v.string(), v.maxLength(4096)),
    "A path with its query, or a URL on the service's host; else the likeliest operation with its example.",
  ),
  query: optional(
    v.union([v.string(), v.record(v.string(), v.union([v.string(), v.number(), v.boolean()]))]),
    'Added to the endpoint, in place of its own of that name.',
  ),
  headers: optional(v.record(v.string(), v.string()), 'Such as an API key.'),
  body: optional(
    v.union([v.string(), v.record(v.string(), v.unknown()), v.array(v.unknown())]),
    "Text unchanged, anything else as JSON; else the operation's example.",
  ),
})

/** The relay knows who calls and how much is sent; a hop has its own fields (RFC 9110 §7.6.1). */
const NOT_THE_CALLERS = new Set(
  namesIn(`
    connection content-length expect forwarded host keep-alive te trailer transfer-encoding
    upgrade x-forwarded-for x-forwarded-host x-forwarded-proto x-real-ip
  `),
)

const NAME = /^[\w!#$%&'*+.^`|~-]{1,200}$/
/** Visible characters, spaces, tabs and Latin-1, as HTTP has them. */
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/

/**
 * The error in the header fields an agent gives for a seller; null without one.
 *
 * @example findToolHeaderFault({ 'x-key': 'a\r\nb' }) → 'headers.x-key: …'
 */
export function findToolHeaderFault(headers: Readonly<Record<string, string>>): string | null {
  for (const [name, value] of Object.entries(headers)) {
    if (!NAME.test(name))
      return `headers: ${JSON.stringify(name)} is not the name of a header field.`
    if (NOT_THE_CALLERS.has(name.toLowerCase()))
      return `headers.${name}: the relay sets this itself; leave it out.`
    if (!VALUE.test(value))
      return `headers.${name}: expected one line of text without control characters.`
  }
  return null
}
