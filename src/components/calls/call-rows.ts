import { chooseOperation, railsSoldOn } from '../../domain/kit/kit-entries.ts'
import { type KitView, toOperationSnippets } from '../../domain/kit/kit-view.ts'
import {
  encodeBody,
  isJsonPayload,
  toOutputFields,
  toOutputNames,
  toSample,
} from '../../domain/listing/operation.ts'
import { toCountText, toUnitPriceText } from '../../domain/listing/pricing.ts'
import type { Drift } from '../../domain/trust/evidence.ts'
import { isJsonObject } from '../../domain/wire/json.ts'
import { toCallId } from '../../domain/wire/links.ts'
import { cutText, joinNames } from '../../domain/wire/text.ts'
import type { Effect } from '../../domain/wire/vocabulary.ts'
import { type CallTag, toSeenTags } from '../evidence/evidence-words.ts'
import type { DecisionFact } from '../rows/decision-facts.ts'

/** One operation, tool or skill of a listing. */
type CallRow = ReturnType<typeof toOperationRow> & {
  /** A command that sends the call's example. */
  call: string | null
}

/** A call's output, as far as documented. */
export type CallReturns = NonNullable<ReturnType<typeof toReturns>>

/** Rows in the listing's main list, and the list's name. */
export type CallRows = ReturnType<typeof firstOf>

/** How many rows a page shows; kit.json and the Markdown page have all. */
const MOST_ROWS = 30
/** How many of the first rows show inputs and answers too. */
const MOST_DETAILS = 6
const MOST_PARAMS = 6
const MAX_FIELDS = 8
/** The most characters in a description, or in a sample answer. */
const MAX_TEXT = 90
const MAX_EXAMPLE = 320

type Kit = Pick<KitView, 'kind' | 'url' | 'auth' | 'operations' | 'tools' | 'skills'>

/** Known limit: only the outer fields of a nested schema are listed; kit.json has the whole schema. */
export function toCallRows(kit: Kit, drift?: readonly Drift[]): CallRows | null {
  if (kit.tools.length > 0) return firstOf('Tools', kit.tools.map(toToolRow))
  if (kit.skills.length > 0) return firstOf('Skills', kit.skills.map(toSkillRow))
  if (kit.kind !== 'http_api' || kit.operations.length === 0) return null
  const rails = kit.operations.flatMap((one) => railsSoldOn(one).join(', ') || [])
  const toRailTags = new Set(rails).size > 1 ? railsSoldOn : () => []
  return firstOf(
    'Operations',
    inOrder(kit.operations).map((one, place) => {
      const { tags, ...row } = toOperationRow(one, kit, drift)
      const sold = toRailTags(one).map((text): CallTag => ({ text, tone: 'plain' }))
      // The page's own code calls the first; long lists are too heavy for commands.
      const isShown = place > 0 && kit.operations.length <= MOST_DETAILS
      return { ...row, tags: [...tags, ...sold], call: isShown ? toCommand(one) : null }
    }),
  )
}

/** The operation that the page's code calls comes first. */
function inOrder(operations: Kit['operations']): Kit['operations'] {
  const first = chooseOperation(operations)
  return operations.toSorted((a, b) => Number(b === first) - Number(a === first))
}

function firstOf(title: 'Operations' | 'Tools' | 'Skills', all: readonly CallRow[]) {
  const ids = all.map(({ id }) => id)
  const rows = all.slice(0, MOST_ROWS).map(
    (row, place): CallRow => ({
      ...row,
      // Two calls at one path share an address: it leads to the first.
      id: ids.indexOf(row.id) === place ? row.id : undefined,
      ...(place >= MOST_DETAILS && { returns: null, withoutParams: toInputWords(row) }),
      text: cutText(row.text, MAX_TEXT),
      params: row.params
        .toSorted((a, b) => Number(b.isRequired) - Number(a.isRequired))
        .slice(0, place < MOST_DETAILS ? MOST_PARAMS : 0)
        .map((param) => ({ ...param, text: cutText(param.text, MAX_TEXT) })),
    }),
  )
  /** `total` counts all rows; `rows` are the first. */
  return { title, rows, total: all.length }
}

function toInputWords({ params, withoutParams }: CallRow): string {
  if (params.length === 0) return withoutParams
  const names = joinNames(
    params.map(({ name, isRequired }) => (isRequired ? `${name} (required)` : name)),
    MAX_NAME,
  )
  return `Takes ${names}.`
}

function toSkillRow({ name, description, examples = [] }: Kit['skills'][number]): CallRow {
  return {
    ...PLAIN,
    name,
    text: description,
    withoutParams: 'Its card gives no example.',
    params: examples.map((text) => ({ name: 'Example', type: '', text, isRequired: false })),
  }
}

const PLAIN = {
  verb: '',
  id: undefined,
  price: null,
  tags: [],
  assumed: '',
  returns: null,
  call: null,
  trial: null,
}

const EFFECT_TAGS: Record<Effect, CallTag> = {
  read: { text: 'reads', tone: 'plain' },
  write: { text: 'writes', tone: 'strong' },
  delete: { text: 'deletes', tone: 'bad' },
  pay: { text: 'spends money', tone: 'bad' },
}

/** The effect, or nothing if it is unknown. A hint is the seller's statement, never our finding. */
function toEffectTags({
  effect,
  destructive,
}: Partial<Pick<Kit['tools'][number], 'effect' | 'destructive'>>): CallTag[] {
  if (effect === undefined) return []
  const isHint = effect === 'write' && destructive === true
  return [isHint ? { text: 'says it may delete', tone: 'strong' } : EFFECT_TAGS[effect]]
}

function toToolRow(tool: Kit['tools'][number]): CallRow {
  return {
    ...PLAIN,
    id: toCallId(tool.name),
    name: tool.name,
    // Evidence without descriptions repeats the name.
    text: tool.description === tool.name ? '' : tool.description,
    tags: toEffectTags(tool),
    price: tool.price === undefined ? null : toUnitPriceText(tool.price),
    params: toSchemaParams(tool.input_schema),
    withoutParams: isJsonObject(tool.input_schema.properties)
      ? 'Takes no input.'
      : 'We do not know its inputs.',
  }
}

/** Words for fields that may be a guess; a field that is not here is shown by its name. */
const WORDS: Partial<Record<string, string>> = { params: 'inputs', url: 'address', safe: 'effect' }

/** If a listing has a price and no note on access, these access types need no key. */
const NO_KEY = new Set<Kit['auth']['type']>(['payment', 'none', 'unknown'])

/** A command that sends the operation's example; a paid call answers it with its terms. */
function toCommand(operation: Kit['operations'][number]): string | null {
  const { curl } = toOperationSnippets({ model: 'unknown' }, { ...operation, offers: [] })
  return curl?.trim() ?? null
}

function toOperationRow(
  operation: Kit['operations'][number],
  { url, auth }: Kit,
  drift?: readonly Drift[],
) {
  const { method, price, params = [], body } = operation
  return {
    /** Empty for tools and skills. */
    verb: String(method),
    /** The anchor to which links to the call lead. */
    id: toCallId(`${method} ${operation.url}`) as string | undefined,
    name: toShortUrl(operation.url, url),
    text: operation.description ?? '',
    price: price === undefined ? null : toUnitPriceText(price),
    /** What a call changes, and the result of our probe's own call. */
    tags: [...toEffectTags(operation), ...toSeenTags(operation, drift)],
    /** The first parameters, and only in the first rows; kit.json has all. */
    params: [
      ...params.map((param) => ({
        name: param.name,
        type: [typeOf(param.schema ?? {}), param.in === 'query' ? '' : param.in]
          .filter((text) => text !== '')
          .join(', '),
        text: withExample(param.description ?? '', param.example),
        isRequired: param.required === true || param.in === 'path',
      })),
      ...(body?.schema === undefined ? [] : toSchemaParams(body.schema)),
    ],
    /** Shown if `params` is empty. */
    withoutParams: 'No input is described.',
    returns: toReturns(operation),
    /** The fields that are guesses. */
    assumed: (operation.assumed ?? [])
      // The link to the document that it was inferred from says so.
      .filter((field) => field !== 'response' || operation.response?.ref === undefined)
      .map((field) => WORDS[field] ?? field)
      .join(', '),
    /** Set if neither the listing nor our probe required a key, and the relay can call the operation. */
    trial:
      operation.relay_url !== undefined &&
      NO_KEY.has(auth.type) &&
      operation.seen?.outcome !== 'gated'
        ? `${method} ${operation.url}`
        : null,
  }
}

function toReturns(operation: Kit['operations'][number]) {
  const { response } = operation
  if (response === undefined) return null
  const all = toOutputFields(operation)
  const fields = all.slice(0, MAX_FIELDS).map(({ name, type }) => `${name}: ${type}`)
  const more = all.length > MAX_FIELDS ? ', …' : ''
  return {
    /** `application/json` is not shown. */
    type: isJsonPayload(response) ? null : response.content_type,
    fields: fields.length === 0 ? '' : fields.join(', ') + more,
    example:
      response.example === undefined
        ? null
        : isJsonPayload(response)
          ? toSample(response.example, MAX_EXAMPLE)
          : cutText(encodeBody(response.content_type, response.example), MAX_EXAMPLE),
    /** The document that describes the answer. */
    ref: response.ref ?? null,
    source: operation.assumed?.includes('response')
      ? 'inferred from this document'
      : 'documented here',
  }
}

/** The path in an address on the listing's own host; on another host, the address without its scheme. */
function toShortUrl(text: string, listing: string): string {
  const origin = new URL(listing).origin
  return text.startsWith(`${origin}/`) ? text.slice(origin.length) : text.replace('https://', '')
}

function toSchemaParams(schema: Readonly<Record<string, unknown>>) {
  const { properties, required } = schema
  if (!isJsonObject(properties)) return []
  const needed = Array.isArray(required) ? required : []
  return Object.entries(properties).map(([name, field]) => ({
    name,
    type: isJsonObject(field) ? typeOf(field) : '',
    text: isJsonObject(field) && typeof field.description === 'string' ? field.description : '',
    isRequired: needed.includes(name),
  }))
}

function typeOf(schema: Readonly<Record<string, unknown>>): string {
  const { type, format, items, minimum, maximum } = schema
  if (Array.isArray(schema.enum)) return schema.enum.slice(0, 8).map(String).join(', ')
  if (type === 'array' && isJsonObject(items)) return `array of ${typeOf(items) || 'anything'}`
  if (typeof minimum === 'number' && typeof maximum === 'number') return `${minimum} to ${maximum}`
  if (typeof format === 'string') return format
  if (Array.isArray(type)) return type.map(String).join(' or ')
  return typeof type === 'string' ? type : ''
}

function withExample(text: string, example: unknown): string {
  if (example === undefined) return text
  return `${text === '' ? '' : `${text.replace(/\.$/, '')}. `}Example: ${String(example)}`
}

/** Most characters in the name of a seller's field or tool, and how many such names fit. */
const MAX_NAME = 40
const MAX_NAMES = 3

/**
 * The output of a listing's call, in one cell that links to its calls; none if unknown.
 * @param isElsewhere whether the tools are a package's, while the page's code connects to its hosted server
 * @example → [{ label: 'You get', value: 'results, requestId', note: 'from POST /search at $0.007, 1
 *   of 2 below', … }]
 */
export function toWhatYouGet(kit: Kit, isElsewhere = false): DecisionFact[] {
  if (kit.tools.length > 0) return [toCounted('tool', kit.tools, isElsewhere)]
  if (kit.skills.length > 0) return [toCounted('skill', kit.skills)]
  const first = kit.kind === 'http_api' ? chooseOperation(kit.operations) : undefined
  if (first === undefined) return []
  const { description = '' } = first
  const answered = toAnswerWords(first)
  const value = answered === '' ? cutText(description, MAX_NAME * MAX_NAMES) : answered
  if (value === '') return []
  const { pathname } = new URL(first.url)
  const others = kit.operations.length > 1 ? `, 1 of ${kit.operations.length} below` : ''
  // `{city}` reads better than its escapes.
  const path = pathname.replaceAll('%7B', '{').replaceAll('%7D', '}')
  const prices = new Set(kit.operations.map(({ price }) => price && toUnitPriceText(price)))
  const ownCost = first.price ? ` at ${toUnitPriceText(first.price)}` : ', no price listed'
  const cost = prices.size > 1 ? ownCost : ''
  const from = first.assumed?.includes('response') && answered !== '' ? 'as we infer, from' : 'from'
  const note = `${from} ${first.method} ${cutText(path, MAX_NAME)}${cost}${others}`
  const href = `#${toCallId(`${first.method} ${path}`)}`
  return [{ ...CELL, href, ...(answered === '' && { label: 'It does' }), value, note }]
}

const CELL = { label: 'You get', tone: 'plain', href: '#calls' } as const

function toCounted(
  noun: 'tool' | 'skill',
  all: readonly { name: string }[],
  isElsewhere = false,
): DecisionFact {
  const names = toNames(all.map(({ name }) => name))
  const note = isElsewhere ? `${names} in its package; the hosted server’s were not read` : names
  return { ...CELL, value: toCountText(all.length, noun), note }
}

/** The outer fields of the operation's answer, with what each contains; if they are unknown, its task's output. */
function toAnswerWords(operation: Kit['operations'][number]): string {
  const { result = {} } = operation
  const fields = toOutputNames(operation)
  if (fields.length === 0) return toNames(Object.entries(result).map(toMemberWords))
  const isList = fields.every((name) => name.startsWith('[].'))
  const names = toNames(fields.map((name) => name.replace(/^\[\]\./, ''))).replace(/…, …$/, '…')
  return isList ? `a list of ${names}` : names
}

/** @example toMemberWords(['results', 'data[].{url: link, title: name}']) → 'results: url, title' */
function toMemberWords([name, path]: [string, string]): string {
  const inner = [...path.matchAll(/(\w+):/g)].map(([, member]) => member)
  const word = name.replace(/_(?:c|m|s|percent|usd)$/, '').replaceAll('_', ' ')
  return inner.length === 0 ? word : `${word}: ${inner.join(', ')}`
}

/** As many names as fit on a line, at least one. */
function toNames(names: readonly string[]): string {
  const few = names.slice(0, MAX_NAMES).map((name) => cutText(name, MAX_NAME))
  const text = joinNames(few, MAX_NAME)
  return names.length > few.length && !text.endsWith(', …') ? `${text}, …` : text
}
