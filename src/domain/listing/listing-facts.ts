import * as v from 'valibot'
import { listOf, uniqueList } from '../wire/shapes.ts'
import { COSTS, DISCOVERY_FILES, KINDS } from '../wire/vocabulary.ts'
import { createAuthSchema } from './auth.ts'
import { normalizePayout, PayoutSchema } from './caip-account.ts'
import { CalendarDateSchema } from './calendar-date.ts'
import { createInvokeSchema } from './invoke.ts'
import { NameSchema, SummarySchema, TagSchema } from './listing-text.ts'
import { createOperationSchema } from './operation.ts'
import { PricingSchema } from './pricing.ts'
import { ownUrlSchema, type UrlRules, urlSchema } from './target-url.ts'
import { WrittenSkillsSchema, WrittenToolsSchema } from './tools-and-skills.ts'

const MAX_CATEGORIES = 8
const MAX_TAGS = 30
const MAX_PAYOUTS = 20
const MAX_OPERATIONS = 200
const MAX_INVOKE = 20
const MAX_SOURCES = 20

/** The name of a server in the official MCP registry. */
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

/** A whole listing. Rules that need the id or the tables are the build's. */
export function createListingFactsSchema(rules: UrlRules) {
  return v.strictObject({
    name: NameSchema,
    kind: v.picklist(KINDS, `expected one of ${KINDS.join(', ')}`),
    url: ownUrlSchema(rules),
    summary: SummarySchema,
    categories: v.optional(uniqueList(v.string('expected text'), MAX_CATEGORIES), []),
    tags: v.optional(uniqueList(TagSchema, MAX_TAGS), []),
    first_party: flag,
    closed: flag,
    pricing: v.optional(PricingSchema, { model: 'unknown' }),
    payout: v.optional(uniqueList(PayoutSchema, MAX_PAYOUTS, normalizePayout), []),
    /** The page of the seller's own site that names these payouts: without it they count for nothing. */
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

export type ListingFacts = v.InferOutput<ReturnType<typeof createListingFactsSchema>>

/** Fields that people and sources both have. */
export const REQUIRED_FACTS = ['name', 'kind', 'url', 'summary', 'sources', 'added'] as const

/** Fields people edit: a source may provide the other required ones. */
export function createWrittenFactsSchema(rules: UrlRules) {
  const { entries } = createListingFactsSchema(rules)
  return v.strictObject({ ...entries, ...v.partial(v.object(entries), REQUIRED_FACTS).entries })
}
export type WrittenFacts = v.InferOutput<ReturnType<typeof createWrittenFactsSchema>>

/** @returns the listing, or the required facts that nobody provides */
export function toWhole(facts: WrittenFacts) {
  const { name, kind, url, summary, sources, added } = facts
  if (
    name === undefined ||
    kind === undefined ||
    url === undefined ||
    summary === undefined ||
    sources === undefined ||
    sources.length === 0 ||
    added === undefined
  )
    return { lacking: REQUIRED_FACTS.filter((field) => !facts[field]?.length) }
  return { whole: { ...facts, name, kind, url, summary, sources, added } satisfies ListingFacts }
}

function sourcesSchema(rules: UrlRules) {
  const source = v.strictObject({ source: v.string('expected text'), ref: ownUrlSchema(rules) })
  return v.pipe(
    v.array(source, 'expected a list of { source, ref }'),
    v.minLength(1, 'expected at least one source: every listing says where its facts come from'),
    v.maxLength(MAX_SOURCES, `expected at most ${MAX_SOURCES} entries`),
  )
}
