import * as v from 'valibot'
import {
  CalendarDateSchema,
  checkedText,
  faultless,
  listOf,
  textLike,
  uniqueList,
} from '../wire/shapes.ts'
import {
  ASSUMABLE,
  COSTS,
  DISCOVERY_FILES,
  EFFECTS,
  HTTP_METHODS,
  KINDS,
  PRICE_UNITS,
  RAILS,
} from '../wire/vocabulary.ts'
import { createAuthSchema, createInvokeSchema, FIELD_NAME } from './invoke.ts'
import { findSchemaFault } from './json-schema.ts'
import {
  EndpointTextSchema,
  lineOfText,
  MAX_NAME_LENGTH,
  MAX_SUMMARY_LENGTH,
  MAX_TAG_LENGTH,
} from './listing-text.ts'
import { normalizePayout, PayoutSchema } from './networks.ts'
import { NetworkSchema, PriceSchema, PricingSchema } from './pricing.ts'
import { BASE_URL_PLACEHOLDER, findUrlFault, type UrlRules, urlSchema } from './target-url.ts'

const PARAM_PLACES = ['query', 'path', 'header'] as const

const NameSchema = v.pipe(
  lineOfText(MAX_NAME_LENGTH),
  // A name in full-width letters imitates another listing's name, but a search for that name does not find it.
  v.check(
    (name) => !FULL_WIDTH.test(name),
    'expected ordinary Latin letters and digits, got full-width ones',
  ),
)

const SummarySchema = lineOfText(MAX_SUMMARY_LENGTH)

const TagSchema = lineOfText(MAX_TAG_LENGTH)

/** `A` to `z` and `0` to `9` drawn as wide as a Han character. */
const FULL_WIDTH = /[\uff10-\uff19\uff21-\uff3a\uff41-\uff5a]/

const MAX_CATEGORIES = 8
const MAX_TASKS = 4
const MAX_TAGS = 30
const MAX_PAYOUTS = 20
const MAX_OPERATIONS = 200
const MAX_INVOKE = 20
const MAX_SOURCES = 20

/** A server's name in the official MCP registry. */
export const RegistryNameSchema = v.pipe(
  v.string('expected text'),
  v.minLength(3, 'expected a name such as com.example/weather'),
  v.maxLength(200, 'expected at most 200 characters'),
  v.regex(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/, 'expected a name such as com.example/weather'),
)

const FIXED_VERSION = /^(?!latest$)\w[\w.+-]{0,99}$/

/** A range or a moving tag does not identify what was inspected. */
export const VersionSchema = v.pipe(
  v.string('expected text, in quotes'),
  v.regex(FIXED_VERSION, 'expected one fixed version such as 1.4.2, no range and no tag'),
)

const flag = v.optional(v.boolean('expected true or false'), false)

/** A whole listing. The build checks the rules that need the id or the tables. */
export function createListingFactsSchema(rules: UrlRules) {
  return v.strictObject({
    name: NameSchema,
    kind: v.picklist(KINDS, `expected one of ${KINDS.join(', ')}`),
    url: ownUrlSchema(rules),
    summary: SummarySchema,
    categories: v.optional(uniqueList(v.string('expected text'), MAX_CATEGORIES), []),
    tags: v.optional(uniqueList(TagSchema, MAX_TAGS), []),
    /** Ids in `tables/tasks.yaml` that the service does as a whole, if no operation or tool has a task. */
    tasks: v.optional(uniqueList(TaskIdSchema, MAX_TASKS)),
    first_party: flag,
    closed: flag,
    pricing: v.optional(PricingSchema, { model: 'unknown' }),
    payout: v.optional(uniqueList(PayoutSchema, MAX_PAYOUTS, normalizePayout), []),
    /** The page on the seller's own site that names these payouts; without that page the payouts are ignored. */
    payout_source: v.optional(ownUrlSchema(rules)),
    cost: v.optional(v.picklist(COSTS, `expected one of ${COSTS.join(', ')}`)),
    auth: v.optional(createAuthSchema(rules), { type: 'unknown' }),
    http: v.optional(listOf(createOperationSchema(rules), MAX_OPERATIONS), []),
    tools: v.optional(WrittenToolsSchema),
    skills: v.optional(WrittenSkillsSchema),
    invoke: v.optional(listOf(createInvokeSchema(rules), MAX_INVOKE), []),
    registry_name: v.optional(RegistryNameSchema),
    version: v.optional(VersionSchema),
    discovery: v.optional(
      v.strictObject(v.entriesFromList(DISCOVERY_FILES, v.optional(urlSchema(rules)))),
      {},
    ),
    /** False asks our probes to stay away. */
    probe: v.optional(v.boolean('expected true or false'), true),
    sources: sourcesSchema(rules),
    added: CalendarDateSchema,
  })
}

/** A URL, or `{base_url}/docs`. One check, because a union of two schemas would lose the error message. */
function ownUrlSchema(rules: UrlRules) {
  return checkedText('expected a URL', (text) => {
    if (!text.startsWith(BASE_URL_PLACEHOLDER)) return findUrlFault(text, rules)
    const path = text.slice(BASE_URL_PLACEHOLDER.length)
    if (!path.startsWith('/')) return `expected a path after ${BASE_URL_PLACEHOLDER}, such as /docs`
    return findUrlFault(`https://directory.example${path}`, rules)
  })
}

export type ListingFacts = v.InferOutput<ReturnType<typeof createListingFactsSchema>>

/** Required fields; both people and sources may provide them. */
export const REQUIRED_FACTS = ['name', 'kind', 'url', 'summary', 'sources', 'added'] as const

/** The fields that people edit; a source may provide required fields that are missing. */
export function createWrittenFactsSchema(rules: UrlRules) {
  const { entries } = createListingFactsSchema(rules)
  return v.strictObject({ ...entries, ...v.partial(v.object(entries), REQUIRED_FACTS).entries })
}
export type WrittenFacts = v.InferOutput<ReturnType<typeof createWrittenFactsSchema>>

function sourcesSchema(rules: UrlRules) {
  const source = v.strictObject({ source: v.string('expected text'), ref: ownUrlSchema(rules) })
  return v.pipe(
    v.array(source, 'expected a list of { source, ref }'),
    v.minLength(1, 'expected at least one source: every listing says where its facts come from'),
    v.maxLength(MAX_SOURCES, `expected at most ${MAX_SOURCES} entries`),
  )
}

/** Limits for an operation called over HTTP. `findOperationFaults` checks an operation's fields against each other. */
const MAX_PARAMS = 60
const MAX_OFFERS = 20
const MAX_EXAMPLE_LENGTH = 2000
const MAX_MAP_PATH = 400

const CONTENT_TYPE = /^[a-z]+\/[a-z0-9][a-z0-9.+*-]{0,80}$/
/** An id in `tables/tasks.yaml`. */
const TaskIdSchema = textLike(/^[a-z0-9]+(?:_[a-z0-9]+)*$/, 'expected an id from tables/tasks.yaml')

/** A JSON Schema 2020-12 object with local references only. */
const schemaOfValues = v.pipe(
  v.record(v.string(), v.unknown(), 'expected a JSON Schema: an object'),
  faultless<Record<string, unknown>>(findSchemaFault),
)

const bounds = { min_usd: PriceSchema, max_usd: PriceSchema }

export const OfferSchema = v.strictObject({
  rail: v.picklist(RAILS, `expected ${RAILS.join(' or ')}`),
  /** Absent for an offer that is paid by card and on no chain. */
  network: v.optional(NetworkSchema),
  ...bounds,
})

export const OperationPriceSchema = v.strictObject({
  ...bounds,
  per: v.picklist(PRICE_UNITS, `expected one of ${PRICE_UNITS.join(', ')}`),
})

export const ParamSchema = v.strictObject({
  name: textLike(FIELD_NAME, 'expected the name of a parameter or header, without spaces'),
  in: v.picklist(PARAM_PLACES, `expected ${PARAM_PLACES.join(', ')}`),
  /** A path parameter is always required. */
  required: v.optional(v.boolean('expected true or false')),
  description: v.optional(EndpointTextSchema),
  schema: v.optional(schemaOfValues),
  /** Part of the example request, which leaves out optional parameters that have no example. */
  example: v.optional(
    v.union(
      [
        v.pipe(v.string(), v.maxLength(MAX_EXAMPLE_LENGTH)),
        v.pipe(v.number(), v.finite()),
        v.boolean(),
      ],
      'expected text, a number, true or false',
    ),
  ),
})

const contentType = textLike(CONTENT_TYPE, 'expected a media type such as application/json')

export const PayloadSchema = v.strictObject({
  content_type: v.optional(contentType, 'application/json'),
  schema: v.optional(schemaOfValues),
  example: v.optional(v.unknown()),
})

/** A call's effect, written by people; if absent, the seller's hint or the method may show the effect. */
const EffectSchema = v.picklist(EFFECTS, `expected one of ${EFFECTS.join(', ')}`)

export function createOperationSchema(rules: UrlRules) {
  return v.strictObject({
    method: v.picklist(HTTP_METHODS, `expected one of ${HTTP_METHODS.join(', ')}`),
    url: templateSchema(rules),
    description: v.optional(EndpointTextSchema),
    price: v.optional(OperationPriceSchema),
    offers: v.optional(listOf(OfferSchema, MAX_OFFERS)),
    params: v.optional(listOf(ParamSchema, MAX_PARAMS)),
    body: v.optional(PayloadSchema),
    /** A good answer, JSON by default. `ref` is the document that describes the answer. */
    response: v.optional(
      v.strictObject({ ...PayloadSchema.entries, ref: v.optional(urlSchema(rules)) }),
    ),
    effect: v.optional(EffectSchema),
    task: v.optional(TaskIdSchema),
    /** Where each member of the task's input goes in the request, and where each member of its output is in the answer. */
    map: v.optional(v.record(v.string(), v.pipe(v.string(), v.maxLength(MAX_MAP_PATH)))),
    /** Fixed parts of the task's requests; `{member}` in a text is replaced by that member of the input. */
    send: v.optional(v.record(v.string(), v.unknown())),
    /** True if a call changes nothing: then probes may send the example. */
    safe: v.optional(v.boolean('expected true or false')),
    assumed: v.optional(
      listOf(v.picklist(ASSUMABLE, `expected one of ${ASSUMABLE.join(', ')}`), ASSUMABLE.length),
    ),
  })
}

export type Operation = v.InferOutput<ReturnType<typeof createOperationSchema>>
export type Param = v.InferOutput<typeof ParamSchema>

/** RFC 6570 level 1: only `{name}`. */
const PLACEHOLDER = /\{([A-Za-z0-9_.]+)\}/g

/** @example placeholdersOf('https://x.example/users/{id}') → ['id'] */
export function placeholdersOf(url: string): string[] {
  return [...url.matchAll(PLACEHOLDER)].flatMap(([, name]) => (name === undefined ? [] : [name]))
}

/** @param toValue returns a placeholder's value, percent-encoded if necessary */
export function fillPlaceholders(url: string, toValue: (name: string) => string): string {
  return url.replace(PLACEHOLDER, (_, name: string) => toValue(name))
}

/** A URL whose path may have placeholders and which otherwise follows the rules for any URL. */
function templateSchema(rules: UrlRules) {
  return checkedText('expected a URL', (text) => {
    const [, start = '', path = '', rest = ''] =
      /^([a-z]+:\/\/[^/?#]*)([^?#]*)(.*)$/is.exec(text) ?? []
    return findUrlFault(start + fillPlaceholders(path, () => 'x') + rest, rules)
  })
}

export const MAX_TOOLS = 500
export const MAX_SKILLS = 200
const MAX_TEXT_LENGTH = 4000
const MAX_EXAMPLES = 20

export const ToolNameSchema = printableText(200)
const longText = printableText(MAX_TEXT_LENGTH)
const hint = v.optional(v.boolean('expected true or false'))

/** JSON Schema of the arguments, as the seller publishes it. */
const schema = v.record(v.string(), v.unknown(), 'expected a JSON Schema: an object')

export const ToolSchema = v.strictObject({
  name: ToolNameSchema,
  title: v.optional(ToolNameSchema),
  description: longText,
  input_schema: schema,
  read_only: hint,
  destructive: hint,
  /** What one call costs, and the ways to pay for it. */
  price: v.optional(OperationPriceSchema),
  offers: v.optional(listOf(OfferSchema, MAX_OFFERS)),
  /** Set if invisible characters were removed from the tool's texts. */
  hidden: v.optional(v.literal(true)),
})

/** A tool as people write it: its schema may come from a probe. */
const WrittenToolSchema = v.strictObject({
  ...v.omit(ToolSchema, ['title', 'hidden']).entries,
  /** Omitted if a sentence would only repeat the name. */
  description: v.optional(longText),
  input_schema: v.optional(schema),
  effect: v.optional(EffectSchema),
  task: v.optional(TaskIdSchema),
})

/** A tool with its effect, as pages and kits show it. */
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

const WrittenToolsSchema = uniqueList(WrittenToolSchema, MAX_TOOLS, ({ name }) => name, 'name')
const WrittenSkillsSchema = uniqueList(SkillSchema, MAX_SKILLS, ({ id }) => id, 'name')

export type Tool = v.InferOutput<typeof ToolSchema>
export type ShownTool = v.InferOutput<typeof ShownToolSchema>
export type WrittenTool = v.InferOutput<typeof WrittenToolSchema>
export type Skill = v.InferOutput<typeof SkillSchema>

/** Text that may have line breaks and tabs, but no other control character. */
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
