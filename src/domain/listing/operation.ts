import * as v from 'valibot'
import { findSchemaFault } from '../json-schema/schema-fault.ts'
import { checkedText, faultless, listOf, textLike } from '../wire/shapes.ts'
import {
  ASSUMABLE,
  EFFECTS,
  HTTP_METHODS,
  PARAM_PLACES,
  PRICE_UNITS,
  RAILS,
} from '../wire/vocabulary.ts'
import { FIELD_NAME } from './auth.ts'
import { EndpointTextSchema } from './listing-text.ts'
import { NetworkSchema, PriceSchema } from './pricing.ts'
import { findUrlFault, type UrlRules, urlSchema } from './target-url.ts'

/** An operation called over HTTP. `findOperationFaults` has the rules between the fields. */
const MAX_PARAMS = 60
const MAX_OFFERS = 20
const MAX_EXAMPLE_LENGTH = 2000
const MAX_MAP_PATH = 400

const CONTENT_TYPE = /^[a-z]+\/[a-z0-9][a-z0-9.+*-]{0,80}$/
/** Id of `tables/tasks.yaml`. */
export const TaskIdSchema = textLike(
  /^[a-z0-9]+(?:_[a-z0-9]+)*$/,
  'expected an id of tables/tasks.yaml',
)

/** A JSON Schema 2020-12 object with local references only. */
const schemaOfValues = v.pipe(
  v.record(v.string(), v.unknown(), 'expected a JSON Schema: an object'),
  faultless<Record<string, unknown>>(findSchemaFault),
)

const bounds = { min_usd: PriceSchema, max_usd: PriceSchema }

export const OfferSchema = v.strictObject({
  rail: v.picklist(RAILS, `expected ${RAILS.join(' or ')}`),
  /** Absent where the rail takes cards and no chain. */
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
  /** A path parameter is required whatever this says. */
  required: v.optional(v.boolean('expected true or false')),
  description: v.optional(EndpointTextSchema),
  schema: v.optional(schemaOfValues),
  /** Part of the example request: optional parameters without one are left out of it. */
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

/** Written by people; without it the method or the seller's hint says it, or nothing does. */
export const EffectSchema = v.picklist(EFFECTS, `expected one of ${EFFECTS.join(', ')}`)

export function createOperationSchema(rules: UrlRules) {
  return v.strictObject({
    method: v.picklist(HTTP_METHODS, `expected one of ${HTTP_METHODS.join(', ')}`),
    url: templateSchema(rules),
    description: v.optional(EndpointTextSchema),
    price: v.optional(OperationPriceSchema),
    offers: v.optional(listOf(OfferSchema, MAX_OFFERS)),
    params: v.optional(listOf(ParamSchema, MAX_PARAMS)),
    body: v.optional(PayloadSchema),
    /** A good answer: JSON by default. `ref` is the document that describes it. */
    response: v.optional(
      v.strictObject({ ...PayloadSchema.entries, ref: v.optional(urlSchema(rules)) }),
    ),
    effect: v.optional(EffectSchema),
    /** What it does. */
    task: v.optional(TaskIdSchema),
    /** For the task: where members of the input go, and where those of the output are found. */
    map: v.optional(v.record(v.string(), v.pipe(v.string(), v.maxLength(MAX_MAP_PATH)))),
    /** Fixed parts of the task's requests; `{member}` in a text is that member of the input. */
    send: v.optional(v.record(v.string(), v.unknown())),
    /** Calling it changes nothing: probes may, with the example. */
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

/** @param toValue replaces a placeholder, percent-encoded where necessary. */
export function fillPlaceholders(url: string, toValue: (name: string) => string): string {
  return url.replace(PLACEHOLDER, (_, name: string) => toValue(name))
}

/** A URL whose path may have placeholders; otherwise the rules of any URL apply. */
function templateSchema(rules: UrlRules) {
  return checkedText('expected a URL', (text) => {
    const [, start = '', path = '', rest = ''] =
      /^([a-z]+:\/\/[^/?#]*)([^?#]*)(.*)$/is.exec(text) ?? []
    return findUrlFault(start + fillPlaceholders(path, () => 'x') + rest, rules)
  })
}
