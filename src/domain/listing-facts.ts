import * as v from 'valibot'
import { createInvokeSchema, ownUrlSchema, urlSchema } from './invoke.ts'
import { EndpointTextSchema, NameSchema, SummarySchema, TagSchema } from './listing-text.ts'
import { PayoutSchema } from './payout.ts'
import { PricingSchema } from './pricing.ts'
import type { UrlRules } from './target-url.ts'
import { type DISCOVERY_FILES, HTTP_METHODS, KINDS } from './vocabulary.ts'

const MAX_CATEGORIES = 8
const MAX_TAGS = 30
const MAX_ENDPOINTS = 200
const MAX_INVOKE = 20
const MAX_SOURCES = 20

const ISO_DATE = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])$/

/**
 * The front matter of a listing (contract §11): what people edit. Rules that need the id or the
 * tables (known categories, known sources, prefix) are the build's.
 */
export function createListingFactsSchema(rules: UrlRules) {
  const url = urlSchema(rules)
  const ownUrl = ownUrlSchema(rules)
  return v.strictObject({
    name: NameSchema,
    kind: v.picklist(KINDS, `expected one of ${KINDS.join(', ')}`),
    url: ownUrl,
    summary: SummarySchema,
    categories: v.optional(uniqueList(v.string(), MAX_CATEGORIES), []),
    tags: v.optional(uniqueList(TagSchema, MAX_TAGS), []),
    first_party: v.optional(v.boolean('expected true or false'), false),
    closed: v.optional(v.boolean('expected true or false'), false),
    pricing: v.optional(PricingSchema, { model: 'unknown' }),
    payout: v.optional(uniqueList(PayoutSchema, MAX_SOURCES), []),
    http: v.optional(
      v.pipe(
        v.array(
          v.strictObject({
            method: v.picklist(HTTP_METHODS, `expected one of ${HTTP_METHODS.join(', ')}`),
            url,
            description: v.optional(EndpointTextSchema),
          }),
        ),
        v.maxLength(MAX_ENDPOINTS, `expected at most ${MAX_ENDPOINTS} endpoints`),
      ),
      [],
    ),
    invoke: v.optional(
      v.pipe(
        v.array(createInvokeSchema(rules)),
        v.maxLength(MAX_INVOKE, `expected at most ${MAX_INVOKE} entries`),
      ),
      [],
    ),
    discovery: v.optional(
      v.strictObject({
        openapi: v.optional(url),
        llms_txt: v.optional(url),
        x402_manifest: v.optional(url),
        agent_card: v.optional(url),
      } satisfies Record<(typeof DISCOVERY_FILES)[number], unknown>),
      {},
    ),
    sources: v.pipe(
      v.array(
        v.strictObject({ source: v.string(), ref: ownUrl }),
        'expected a list of { source, ref }',
      ),
      v.minLength(1, 'expected at least one source: every listing says where its facts come from'),
      v.maxLength(MAX_SOURCES, `expected at most ${MAX_SOURCES} sources`),
    ),
    added: v.pipe(
      v.string('expected a date such as 2026-11-20'),
      v.regex(ISO_DATE, 'expected a date such as 2026-11-20'),
    ),
  })
}

export type ListingFacts = v.InferOutput<ReturnType<typeof createListingFactsSchema>>

function uniqueList<Item extends v.GenericSchema<string, string>>(item: Item, max: number) {
  return v.pipe(
    v.array(item, 'expected a list'),
    v.maxLength(max, `expected at most ${max} entries`),
    v.check((list) => new Set(list).size === list.length, 'expected each entry once'),
  )
}
