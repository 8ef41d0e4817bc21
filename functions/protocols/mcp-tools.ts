import type { CallToolResult, McpServer, ToolAnnotations } from '@modelcontextprotocol/server'
import { toJsonSchema } from '@valibot/to-json-schema'
import * as v from 'valibot'
import { CompareRowSchema } from '../../src/domain/compare/compare-view.ts'
import type { Switches } from '../../src/domain/derived/tables.ts'
import {
  type CompactKit,
  CompactKitSchema,
  toCompactKit,
} from '../../src/domain/kit/found-operations.ts'
import { mapSchema } from '../../src/domain/listing/json-schema.ts'
import { MAX_ID_LENGTH } from '../../src/domain/listing/listing-text.ts'
import { MAX_PLAN_ROWS, PLAN_ROWS, TaskPlanSchema } from '../../src/domain/plans/task-plan.ts'
import {
  KitCardSchema,
  ListingCardSchema,
  toKitCard,
  toListingCard,
} from '../../src/domain/protocols/cards.ts'
import { fitRows, sizeOf } from '../../src/domain/search/fitted-lists.ts'
import { FILTERS, isOffered, MAX_TRUST } from '../../src/domain/search/search-filters.ts'
import {
  MAX_QUERY_CHARACTERS,
  OPERATIONS_ENDPOINT,
  toUnknown,
} from '../../src/domain/search/search-parameters.ts'
import {
  CompactRowSchema,
  OperationsAnswerSchema,
  SuggestedSchema,
} from '../../src/domain/search/search-response.ts'
import { isJsonObject } from '../../src/domain/wire/json.ts'
import { MOST_COMPARED } from '../../src/domain/wire/links.ts'
import {
  optionally as optional,
  SELLER_TEXTS,
  SellerTextsSchema,
  whole,
} from '../../src/domain/wire/shapes.ts'
import { EFFECTS, KINDS, RAILS, RUNS, SEARCH_SORTS } from '../../src/domain/wire/vocabulary.ts'
import type { InputError } from '../http/answers.ts'
import type { Directory } from './directory.ts'

/** Results that an agent gets unless it requests more: as many as fit into two kilobytes. */
const TOOL_RESULTS = OPERATIONS_ENDPOINT.defaultLimit
const MOST_TOOL_RESULTS = OPERATIONS_ENDPOINT.maxLimit

// Any text is accepted: an unknown id is answered with the nearest ids.
export const listingId = v.pipe(
  v.string(),
  v.maxLength(MAX_ID_LENGTH),
  v.description('Such as mcp.github.'),
)

/** Arguments by name; the error for an unknown name lists the valid ones. */
export function toolInput<const Entries extends v.ObjectEntries>(entries: Entries) {
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

type ToolInput = ReturnType<typeof toolInput>

const words = optional(
  v.pipe(v.string(), v.maxLength(MAX_QUERY_CHARACTERS)),
  'The task in plain words.',
)

/** Names that an argument has in other interfaces: they are accepted too, but not listed. */
const OTHER_NAMES: readonly [other: string, argument: string, schema: v.GenericSchema][] = [
  ['listing_id', 'id', listingId],
  ['q', 'query', words],
]

/** Replaces other names of arguments by the listed names; if both are given, the other name is unknown. */
function withOwnNames(
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

/** Arguments with a closed list of values, some of which belong to optional parts of a directory. */
const LISTS = {
  sort: (isThere = (_: string) => true) =>
    optional(v.picklist(SEARCH_SORTS.filter(isThere)), 'Else relevance.'),
  auth: (isThere = (_: string) => true) =>
    optional(
      v.picklist(FILTERS.auth.values.filter(isThere)),
      'How callers sign in; no_account: no sign-up.',
    ),
}

/** The arguments of a tool, and their values, in a directory that may lack payments or trust. */
function toOfferedInput({ entries }: ToolInput, switches: Switches): ToolInput {
  const isThere = (word: string) => isOffered(word, switches)
  const offered = Object.entries(entries).filter(([name]) => isThere(name))
  const narrowed = Object.entries(LISTS).flatMap(([name, list]) =>
    Object.hasOwn(entries, name) ? [[name, list(isThere)] as const] : [],
  )
  return toolInput(Object.fromEntries([...offered, ...narrowed]))
}

const SearchToolInput = toolInput({
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
const OperationsToolInput = toolInput({
  ...operationEntries,
  effect: optional(v.picklist(EFFECTS), 'What the call does.'),
})

const PlanToolInput = toolInput({
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

const ListingToolInput = toolInput({ id: listingId })

const KitToolInput = toolInput({
  id: listingId,
  operation: optional(whole(0, 199), 'Number from 0; default: the one most likely wanted.'),
  rail: optional(v.picklist(RAILS), 'Operations sold on it come first; a snippet pays on it.'),
  snippet: optional(
    v.pipe(v.string(), v.maxLength(40)),
    'Also one ready snippet: curl, typescript, python, or the name of an MCP client.',
  ),
})

const CompareToolInput = toolInput({
  ids: v.pipe(
    v.array(listingId),
    v.minLength(2),
    v.maxLength(MOST_COMPARED),
    v.description(`Two to ${MOST_COMPARED} ids.`),
  ),
})

const FacetsToolInput = toolInput({})

/** How many operations are searched to find one that belongs to the first result. */
const MOST_OPERATIONS = 20

const FoundSchema = v.object({
  total: v.number(),
  results: v.array(CompactRowSchema),
  notes: v.array(v.string()),
  suggested: SuggestedSchema,
  texts: SellerTextsSchema,
  /** Everything needed to call the first result, if it was requested. */
  kit: v.optional(CompactKitSchema),
})
const ComparedSchema = v.object({
  rows: v.array(CompareRowSchema),
  ranking: v.string(),
  url: v.string(),
  texts: SellerTextsSchema,
})
const counts = v.array(v.object({ id: v.string(), count: v.number() }))
const FacetsSchema = v.object({
  total: v.number(),
  kinds: counts,
  categories: counts,
  rails: counts,
  sources: counts,
})

/** The read-only tools, in the order in which they are listed: all except `call_listing`. */
export function createReadingTools(directory: Directory): OfferedTool[] {
  return [
    // The same rows in the same order as `GET /api/v1/search`, compact.
    createTool('search_listings', reads(SearchToolInput, FoundSchema), async (given) => {
      const { query: q, with_kit, ...requested } = given
      const found = directory.search({ q, ...requested, limit: requested.limit ?? TOOL_RESULTS })
      if ('problems' in found) return failWith(toText(found.problems))
      const { rows, ...rest } = found
      const [first] = rows
      const kit =
        with_kit === true && first !== undefined ? await kitFor(directory, first.id, given) : null
      const beside = { ...rest, ...(kit !== null && { kit }), texts: SELLER_TEXTS }
      return answerWith({ ...beside, results: fitRows(rows, sizeOf({ ...beside, results: [] })) })
    }),
    createTool(
      'find_operations',
      reads(OperationsToolInput, OperationsAnswerSchema),
      async (requested) => {
        const { query: q, ...others } = requested
        const found = directory.findOperations({ q, ...others })
        return 'problems' in found ? failWith(toText(found.problems)) : answerWith(found)
      },
    ),
    createPlanTool(directory),
    createTool('get_listing', reads(ListingToolInput, ListingCardSchema), async ({ id }) => {
      const view = await directory.listing(id)
      return view === null ? failWith(directory.toUnknownText(id)) : answerWith(toListingCard(view))
    }),
    createTool('get_kit', reads(KitToolInput, KitCardSchema), async ({ id, ...choice }) => {
      const kit = await directory.kit(id)
      if (kit === null) return failWith(directory.toUnknownText(id))
      const card = toKitCard(kit, choice)
      return typeof card === 'string' ? failWith(card) : answerWith(card)
    }),
    createTool('compare_listings', reads(CompareToolInput, ComparedSchema), async ({ ids }) => {
      const reply = await directory.compare(ids)
      if ('problems' in reply) return failWith(toText(reply.problems))
      const { sections, first_party, ranking, url } = reply.view
      const rows = [...sections.flatMap((section) => section.rows), ...first_party]
      return answerWith({ rows, ranking, url, texts: SELLER_TEXTS })
    }),
    createTool('list_facets', reads(FacetsToolInput, FacetsSchema), async () =>
      answerWith(await directory.facets()),
    ),
  ]
}

function createPlanTool(directory: Directory): OfferedTool {
  return createTool('plan_task', reads(PlanToolInput, TaskPlanSchema), async (given) => {
    const { task, ...requested } = given
    const reply = await directory.plan(task, requested)
    if ('unknown' in reply) return failWith(reply.unknown)
    return 'problems' in reply ? failWith(toText(reply.problems)) : answerWith(reply.plan)
  })
}

function reads<const Input>(input: Input, output: v.GenericSchema) {
  return { input, output, annotations: READ_ONLY }
}

/** The compact kit of a listing, with the operation that fits the words best. */
async function kitFor(
  directory: Directory,
  id: string,
  { query: q, rail, network, max_price_usd }: v.InferOutput<typeof SearchToolInput>,
): Promise<CompactKit | null> {
  const kit = await directory.kit(id)
  if (kit === null) return null
  const requested = { q, rail, network, max_price_usd, limit: MOST_OPERATIONS }
  const found = directory.findOperations(requested)
  const results = 'results' in found ? found.results : []
  const best = results.find(({ listing }) => listing.id === id)?.operation
  const operation = best?.method === undefined ? best?.name : `${best.method} ${best.url}`
  return toCompactKit(kit, { rail, operation }) ?? toCompactKit(kit, { rail })
}

function toText(problems: readonly Pick<InputError, 'name' | 'detail' | 'allowed'>[]): string {
  return problems
    .map(({ name, detail, allowed }) =>
      allowed === undefined ? `${name}: ${detail}` : `${name}: ${detail} (${allowed.join(', ')})`,
    )
    .join('; ')
}

/** `_meta`: what a client sends alongside a call's arguments. */
export type Meta = Record<string, unknown>

type ToolName = keyof ReturnType<typeof toToolTexts>

/** A tool that can be called in two ways: through the official package's server, or directly. */
export interface Tool {
  name: ToolName
  register(server: McpServer): void
  /** @returns the server's answer; null if the server must report wrong arguments */
  answer(given: Record<string, unknown>, meta: Meta): Promise<CallToolResult> | null
}

/** Makes a tool for a directory that may lack payments or trust. */
export type OfferedTool = (switches: Switches) => Tool

/** A server is made for each request, so the schemas are prepared once for all servers. */
export function createTool<const Input extends ToolInput>(
  name: Tool['name'],
  {
    input,
    output,
    annotations,
  }: { input: Input; output: v.GenericSchema; annotations: ToolAnnotations },
  answer: (requested: v.InferOutput<Input>, meta: Meta) => Promise<CallToolResult>,
): OfferedTool {
  return (switches) => {
    const offered = toOfferedInput(input, switches)
    const toNamed = (given: unknown) => (isJsonObject(given) ? withOwnNames(offered, given) : given)
    const config = {
      ...toToolTexts(switches)[name],
      annotations,
      inputSchema: toStandard(offered, toListed(offered), toNamed),
      outputSchema: toStandard(output, toOutline(output)),
    }
    return {
      name,
      register(server) {
        server.registerTool(name, config, (requested, { mcpReq }) =>
          answer(v.parse(input, requested), mcpReq._meta ?? {}),
        )
      },
      answer(given, meta) {
        const named = withOwnNames(offered, given)
        return v.is(offered, named) ? answer(v.parse(input, named), meta) : null
      },
    }
  }
}

/** Keywords left out of listed schemas, because they cost every client tokens; a refusal names the bounds. */
const UNLISTED = new Set(
  '$schema pattern maxLength minItems maxItems minimum maximum propertyNames'.split(' '),
)

/** A schema reduced to what clients need to fill it in; the protocol decides the dialect. */
function toListed(schema: v.GenericSchema) {
  return mapSchema(
    { ...toJsonSchema(schema, { errorMode: 'ignore' }) },
    (name, value, { enum: choices }) => {
      const isEmpty =
        (name === 'additionalProperties' || name === 'required') &&
        JSON.stringify(value).length === 2
      // The type follows from the listed values.
      const isStated = name === 'type' && Array.isArray(choices)
      return UNLISTED.has(name) || isEmpty || isStated ? undefined : value
    },
  )
}

/** The members of an answer; the answer itself is checked as a whole. */
function toOutline(output: v.GenericSchema) {
  const { type, properties } = toListed(output)
  const names = Object.keys(Object(properties))
  return { type, properties: Object.fromEntries(names.map((name) => [name, {}])) }
}

/** A schema in the form that the official package reads: what is shown, and how a value is checked. */
function toStandard(
  { '~standard': standard }: v.GenericSchema,
  shown: Record<string, unknown>,
  toChecked = (given: unknown) => given,
) {
  const write = () => ({ ...shown })
  return {
    '~standard': {
      ...standard,
      validate: (given: unknown) => standard.validate(toChecked(given)),
      jsonSchema: { input: write, output: write },
    },
  }
}

/** The tools' texts in a directory that may lack payments or trust. */
function toToolTexts({ payments, trust }: Switches) {
  const list = (...words: (string | false)[]) => LIST.format(words.filter((word) => word !== false))
  return {
    search_listings: {
      title: 'Search services',
      description: `Services that do a task: ${list('kind', payments && 'price', payments && 'payment rails', 'sign-in', trust && 'payment-verified trust (null means no payment evidence)')}. Then get_kit tells how to call one.`,
    },
    find_operations: {
      title: 'Find what to call',
      description: `Operations, tools and skills that do a task, each with its ${list('address', 'required input', payments && 'price', 'an example')}: enough for the first call.`,
    },
    plan_task: {
      title: 'Plan a task',
      description: `Interchangeable services for a task that has a contract, each with ${list('the request to send', payments && 'its price', 'where the output is in its answer')}: those known to deliver first${payments ? ', then the cheapest' : ''}.`,
    },
    get_listing: {
      title: 'One service in detail',
      description: `What is known about a listing: ${list(payments && 'prices', 'operations or tools', trust && 'trust with its evidence', 'notices', 'sources')}.`,
    },
    get_kit: {
      title: 'How to call a service',
      description: `Everything the first call needs: ${list('method', 'address', 'parameters', 'an example body', payments && 'price', payments && 'payment headers', 'keys')}. One operation at a time.`,
    },
    compare_listings: {
      title: 'Services side by side',
      description: `${payments ? 'Price, rails' : 'Access, operations'}${trust ? ', trust' : ''} and uptime of two to six listings in one answer.`,
    },
    list_facets: {
      title: 'What there is to filter by',
      description: `${list('Kinds', 'categories', payments && 'rails', 'sources')} with their counts.`,
    },
    call_listing: {
      title: 'Call a service through the relay',
      description: `Passes one HTTP call to the service unchanged.${payments ? ' A paid seller answers an unpaid call with its terms; sign them and repeat the call with the payment in _meta["x402/payment"] or, for MPP, _meta["org.paymentauth/credential"]; a receipt comes back in _meta["directory/call-receipt"].' : ''}`,
    },
  }
}

const LIST = new Intl.ListFormat('en-GB')

const READ_ONLY = {
  readOnlyHint: true,
  openWorldHint: false,
} as const

export function answerWith(value: object): CallToolResult {
  return {
    content: [{ type: 'text', text: JSON.stringify(value) }],
    structuredContent: { ...value },
  }
}

export function failWith(sentence: string): CallToolResult {
  return { isError: true, content: [{ type: 'text', text: sentence }] }
}
