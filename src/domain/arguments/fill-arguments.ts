import { toPlaceholder } from '../listing/json-schema.ts'
import { encodeValue, toText, withQuery } from '../listing/operation.ts'
import { isJsonObject, memberOf, present } from '../wire/json.ts'
import { decodePercents } from '../wire/text.ts'
import COINS from './coins.json' with { type: 'json' }
import type { QuestionFacts } from './question-facts.ts'

/** A slot in an example request that a query may fill. */
export interface ArgumentSlot {
  /** The slot's place: the root (`query`, `path`, `body` or `arguments`), then the names of members below it. */
  at: (string | number)[]
  /** What the value means, according to its name, format and example. */
  kind: ArgumentKind
  required: boolean
}

type ArgumentKind = keyof typeof VALUES

interface Named {
  name: string
  schema?: unknown
  description?: string | undefined
  example: unknown
  required: boolean
}

/** Kinds by a parameter's name; the first match decides. */
const BY_NAME: readonly (readonly [RegExp, ArgumentKind])[] = [
  [/^(?:lat|latitude|from_lat|origin_lat)$/i, 'latitude'],
  [/^(?:lon|lng|long|longitude)$/i, 'longitude'],
  [/^(?:coordinates|latlng|latlon|point|ll)$/i, 'coordinates'],
  [/^(?:city|city_?name|place|location|locality|near|town|base_location)$/i, 'place'],
  [/^(?:country|country_?code)$/i, 'country'],
  [
    /^(?:to_currency|target_currency|quote_currency|vs_currenc(?:y|ies)|symbols|target|to_symbol|convert)$/i,
    'currency_to',
  ],
  [/^(?:currency|base_currency|from_currency|base|from_symbol|source_currency)$/i, 'currency'],
  [/^(?:amount|base_amount)$/i, 'amount'],
  [/^(?:langpair)$/i, 'language_pair'],
  [/^(?:target_lang(?:uage)?|to_lang(?:uage)?|target_language_code)$/i, 'language_to'],
  [/^(?:source_lang(?:uage)?|from_lang(?:uage)?)$/i, 'language_from'],
  [
    /^(?:address|wallet|wallet_?address|account|owner|contract|contract_address|token_address)$/i,
    'evm_address',
  ],
  [/^(?:tx|tx_?hash|hash|txid|transaction_hash)$/i, 'transaction'],
  [/^(?:ticker|stock|symbol|tickers)$/i, 'ticker'],
  [/^(?:coin|coins|token|asset|slug|slugs|ids|pair|fsym|crypto)$/i, 'coin'],
  [/^(?:date|day|start_?date|outbound_date|departure_date|check_?in_date|begin_date)$/i, 'date'],
  [/^(?:year)$/i, 'year'],
  [/^(?:urls?|uri|link|website_url|page_?url|file_url|image_url|audio_url|webpage)$/i, 'url'],
  [/^(?:domain|domains|host|hostname|website|lookup|site|target_domain)$/i, 'domain'],
  [/^(?:emails?|email_address|recipient)$/i, 'email'],
  [/^(?:ip|ip_address|ips)$/i, 'ip'],
  [
    /^(?:q|query|search|search_query|search_term|keywords?|question|prompt|textquery|i|term)$/i,
    'query',
  ],
  [/^(?:text|input|content|title|word|message|task|description|name)$/i, 'text'],
]

/** Names of settings: no query says what their values should be. */
const SETTING =
  /^(?:format|output|outputtype|units|unit|limit|count|n|num|numresults|max_.*|min_.*|per[-_]?page|page_?size|pagesize|size|rows|page|offset|model|engine|type|types|mode|sort|order|order_by|version|jsonrpc|depth|search_depth|profile|overview|interval|granularity|fields|include.*|return.*|encoding.*|stream|temperature|voice|quality|aspect_?ratio|network|chain|chains|chainid|module|action|tag|current|hourly|daily|lang|hl|gl|method|params|from_index|accept|content-type|user-agent|role|response_format|processor|datatype|formats|width|height|timeout|outputsize)$/i

/** The slot for an example's parameter, if a query may fill it. @param root the place: `query`, `path` or `body` */
export function slotOf(root: string, named: Named): ArgumentSlot | null {
  const kind = kindOf(named)
  return kind === null ? null : { at: [root, named.name], kind, required: named.required }
}

/** The slots among a JSON value's members, by the value's schema if there is one. */
export function slotsIn(
  at: readonly (string | number)[],
  value: unknown,
  schema: unknown,
  isNeeded: boolean,
): ArgumentSlot[] {
  if (Array.isArray(value))
    return value
      .slice(0, 1)
      .flatMap((each, place) =>
        typeof each === 'object' && each !== null
          ? slotsIn([...at, place], each, memberOf(schema, 'items'), isNeeded)
          : [],
      )
  if (!isJsonObject(value)) return []
  const required = memberOf(schema, 'required')
  return Object.entries(value).flatMap(([name, example]) => {
    const inner = memberOf(memberOf(schema, 'properties'), name)
    const isRequired =
      isNeeded && (schema === undefined || (Array.isArray(required) && required.includes(name)))
    const place = [...at, name]
    const isListOfText = Array.isArray(example) && typeof example[0] === 'string'
    if (typeof example === 'object' && example !== null && !isListOfText)
      return slotsIn(place, example, inner, isRequired)
    const shown = isListOfText ? example[0] : example
    const kind = kindOf({
      name,
      schema: inner,
      example: shown,
      required: isRequired,
      description: textOf(inner),
    })
    if (kind === null) return []
    // A sender's address may lie inside an object: every step of its path is tested.
    const isSender = at.some((step) => SENDER.test(String(step)))
    if (kind === 'email' && isSender)
      return [{ at: place, kind: 'requested', required: isRequired }]
    return [{ at: isListOfText ? [...place, 0] : place, kind, required: isRequired }]
  })
}

function textOf(schema: unknown): string | undefined {
  const description = memberOf(schema, 'description')
  return typeof description === 'string' ? description : undefined
}

/** A parameter's kind; null if no query decides its value: settings, choices from a closed list, switches. */
function kindOf({ name, schema, example, description = '' }: Named): ArgumentKind | null {
  if (Array.isArray(memberOf(schema, 'enum')) || typeof example === 'boolean') return null
  const shown = typeof example === 'string' ? example : ''
  const byForm = FORMATS[String(memberOf(schema, 'format'))] ?? kindOfExample(name, shown)
  if (byForm !== undefined) return byForm
  if (name === 'from' || name === 'to') return kindOfPair(name, shown)
  const byName = BY_NAME.find(([pattern]) => pattern.test(name))?.[1]
  if (byName === 'ticker' || byName === 'coin') return kindOfSymbol(byName, shown)
  if ((byName === 'text' || byName === 'query') && /^(?:[a-z0-9-]+\.)+[a-z]{2,}$/.test(shown))
    return 'domain'
  if (byName !== undefined) return byName
  const byText = BY_DESCRIPTION.find(([pattern]) => pattern.test(description))?.[1]
  if (byText !== undefined) return byText
  const isKept = SETTING.test(name) || typeof example === 'number'
  return isKept || typeof example !== 'string' ? null : 'requested'
}

const SENDER = /^(?:from|sender|reply_?to)/i
const FORMATS: Readonly<Record<string, ArgumentKind>> = {
  uri: 'url',
  url: 'url',
  email: 'email',
  date: 'date',
  ipv4: 'ip',
}

function kindOfExample(name: string, shown: string): ArgumentKind | undefined {
  const kind = BY_EXAMPLE.find(([pattern]) => pattern.test(shown))?.[1]
  // An address in a query is the recipient's: the sender is the caller.
  return kind === 'email' && SENDER.test(name) ? 'requested' : kind
}

/** Kinds by a parameter's description, if its name does not show the kind. */
const BY_DESCRIPTION: readonly (readonly [RegExp, ArgumentKind])[] = [
  [/\b(?:ISO 4217|currency code)\b/i, 'currency'],
  [/\bticker\b/i, 'ticker'],
  [/\b(?:city name|name of (?:a|the) (?:city|place))\b/i, 'place'],
  [/\bwallet address\b/i, 'evm_address'],
  [/\b(?:URL of|URL to)\b/i, 'url'],
]

const BY_EXAMPLE: readonly (readonly [RegExp, ArgumentKind])[] = [
  [/^https?:\/\/\S+$/, 'url'],
  [/^0x[0-9a-f]{40}$/i, 'evm_address'],
  [/^-?\d+\.\d+,-?\d+\.\d+$/, 'coordinates'],
  [/^[\w.+-]+@[\w-]+\.[\w.]+$/, 'email'],
]

/** The examples of `from` and `to` show what kind of values they connect. */
function kindOfPair(name: 'from' | 'to', example: string): ArgumentKind {
  if (/^[A-Z]{3}$/.test(example)) return name === 'from' ? 'currency' : 'currency_to'
  if (/^[a-z]{2}$/.test(example)) return name === 'from' ? 'language_from' : 'language_to'
  return name
}

function kindOfSymbol(kind: 'ticker' | 'coin', example: string): ArgumentKind {
  if (/^[A-Z]{3,5}[-/]?(?:USDT?|EUR)$/.test(example)) return 'coin_pair'
  if (/^[a-z][a-z-]{3,}(?:,[a-z-]+)*$/.test(example)) return 'coin_id'
  if (kind === 'coin' || /^(?:BTC|ETH|SOL|XBT)$/.test(example)) return 'coin'
  return 'ticker'
}

/** A slot's value, and whether the query states it; a required slot may contain a placeholder instead. */
type Filled = { slot: ArgumentSlot; value: unknown; isStated: boolean }

/** The query's value for each slot, in order. @param shownAt the example's value in a slot */
function readValues(
  slots: readonly ArgumentSlot[],
  facts: QuestionFacts,
  shownAt: (slot: ArgumentSlot) => unknown,
): Filled[] {
  const taken = new Map<ArgumentKind, number>()
  return slots.map((slot) => ({ slot, ...toValue(slot, facts, taken, shownAt(slot)) }))
}

/** The meaning of a value, whatever its parameter is called. */
function meaningsOf({ slot: { kind }, value }: Filled, { places, currencies }: QuestionFacts) {
  if (places.some(({ name }) => name === value)) return ['place']
  const meaning = MEANINGS[kind] ?? kind
  return kind === 'coin_pair' && currencies.length > 0 ? [meaning, 'currency'] : [meaning]
}

/** Kinds that express the same meaning in different ways. */
const MEANINGS: Readonly<Partial<Record<ArgumentKind, string>>> = {
  ...{ latitude: 'place', longitude: 'place', coordinates: 'place', country: 'place' },
  ...{ coin_id: 'coin', coin_pair: 'coin', ticker: 'coin' },
  ...{ domain: 'url', year: 'date', query: 'text', language_pair: 'language_to' },
}

/** The query's value; if it has none, a placeholder for a required slot, undefined for an optional one. */
function toValue(
  slot: ArgumentSlot,
  facts: QuestionFacts,
  taken: Map<ArgumentKind, number>,
  shown: unknown,
): Pick<Filled, 'value' | 'isStated'> {
  const { kind, required } = slot
  const place = taken.get(kind) ?? 0
  taken.set(kind, place + 1)
  const stated = VALUES[kind](facts, place, typeof shown === 'string' ? shown : '')
  if (stated !== undefined) {
    const isText = typeof shown !== 'number' && typeof stated === 'number'
    return { value: isText ? String(stated) : stated, isStated: true }
  }
  if (typeof shown === 'string' && PLACEHOLDER.test(shown)) return { value: shown, isStated: false }
  return { value: required ? placeholderOf(slot) : undefined, isStated: false }
}

function placeholderOf({ at }: ArgumentSlot): string {
  const names = at.filter((step) => typeof step === 'string')
  return toPlaceholder(names.at(-1) ?? 'value')
}

/** A placeholder that the listing's author wrote for a value only the caller knows. */
const PLACEHOLDER = /^<[A-Z0-9_]+>$/

type ReadValue = (facts: QuestionFacts, place: number, shown: string) => string | number | undefined

/** A coin's name as price services write it. @example COIN_IDS.get('ETH') → 'ethereum' */
const COIN_IDS: ReadonlyMap<string, string> = new Map(
  Object.entries(COINS).flatMap(([symbol, [id]]) => (id === undefined ? [] : [[symbol, id]])),
)

/** The n-th slot of a kind gets the query's n-th fact of that kind. */
const VALUES = {
  latitude: ({ places }, place) => places[place]?.latitude,
  longitude: ({ places }, place) => places[place]?.longitude,
  coordinates: ({ places }, place, shown) => {
    // Several points in a row are written as routing services and GeoJSON write them: longitude first.
    const points = shown.split(';').length
    const requested = points > 1 ? places.slice(0, points) : places.slice(place, place + 1)
    if (requested.length < points) return undefined
    return requested
      .map(({ latitude, longitude }) =>
        points > 1 ? `${longitude},${latitude}` : `${latitude},${longitude}`,
      )
      .join(';')
  },
  place: ({ places }, place) => places[place]?.name,
  country: ({ countries, places }) => countries[0] ?? places[0]?.country,
  currency: ({ currencies, coins }) => currencies[0] ?? coins[0],
  currency_to: ({ currencies, coins, tickers }, _, shown) => {
    if (currencies.length === 0 && tickers.length > 0) return tickers[0]
    const code = currencies.length > 1 || coins.length > 0 ? currencies.at(-1) : undefined
    return code !== undefined && shown === shown.toLowerCase() && shown !== ''
      ? code.toLowerCase()
      : code
  },
  amount: ({ numbers }) => numbers[0],
  language_from: ({ languages: { from } }, _, shown) => inCase(from, shown),
  language_to: ({ languages: { to } }, _, shown) => inCase(to, shown),
  language_pair: ({ languages: { from = 'en', to } }) =>
    to === undefined ? undefined : `${from}|${to}`,
  coin: ({ coins }, place) => coins[place],
  coin_id: ({ coins }, place) => COIN_IDS.get(coins[place] ?? ''),
  coin_pair: ({ coins, currencies }, _, shown) => toPair(coins[0], currencies[0], shown),
  ticker: ({ tickers, coins }, place) => tickers[place] ?? coins[place],
  evm_address: ({ evmAddresses }, place) => evmAddresses[place],
  transaction: ({ transactions }) => transactions[0],
  date: ({ dates }, place) => dates[place],
  year: ({ years, dates }) =>
    years[0] ?? (dates[0] === undefined ? undefined : Number(dates[0].slice(0, 4))),
  url: ({ urls, domains }) =>
    urls[0] ?? (domains[0] === undefined ? undefined : `https://${domains[0]}/`),
  domain: ({ domains, urls }) =>
    domains[0] ?? (urls[0] === undefined ? undefined : new URL(urls[0]).hostname),
  email: ({ emails }) => emails[0],
  ip: ({ ips }) => ips[0],
  query: (facts, _, shown) =>
    (isPlaceName(shown) ? facts.places[0]?.name : undefined) ?? aboutOf(facts),
  text: (facts, _, shown) =>
    aboutOf(facts) ?? (isPlaceName(shown) ? facts.places[0]?.name : undefined),
  from: ({ languages, currencies, places }) =>
    languages.from ??
    (currencies.length > 1 ? currencies[0] : places.length > 1 ? places[0]?.name : undefined),
  to: ({ emails, languages, currencies, places }) =>
    emails[0] ?? languages.to ?? (currencies.length > 1 ? currencies[1] : places[1]?.name),
  requested: () => undefined,
} satisfies Record<string, ReadValue>

/** What a query is about. Its other words name the task: as a search text they would find nothing. */
function aboutOf({ quoted, subject }: QuestionFacts): string | undefined {
  return quoted ?? subject ?? undefined
}

function inCase(code: string | undefined, shown: string): string | undefined {
  return code !== undefined && /^[A-Z]/.test(shown) ? code.toUpperCase() : code
}

/** @example toPair('ETH', 'EUR', 'BTC-USD') → 'ETH-EUR' */
function toPair(coin: string | undefined, currency: string | undefined, shown: string) {
  if (coin === undefined) return undefined
  const [, joint = '', quote = 'USD'] = /^[A-Z]{3,5}?([-/]?)(USDT?|EUR)$/.exec(shown) ?? []
  return `${coin}${joint}${currency ?? quote}`
}

function isPlaceName(shown: string): boolean {
  return /^\p{Lu}[\p{L} .-]+(?:,[A-Z]{2})?$/u.test(shown)
}

/** A request as an example shows it. */
export interface ShownExample {
  url?: string | undefined
  headers?: Record<string, string> | undefined
  body?: unknown
  arguments?: unknown
}

/**
 * An example request with the query's values in place of its own. A required value that the query
 * lacks becomes its `<PLACEHOLDER>`; an optional one is removed.
 * @param template the operation's address, with its `{placeholders}`
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

/** An object without members is left out of a shown call. */
function orNothing(value: unknown): unknown {
  return isJsonObject(value) && Object.keys(value).length === 0 ? undefined : value
}

/**
 * If all members of an inner object would be removed, they stay as placeholders: an empty object
 * tells a caller nothing, and the object itself may be required.
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

/** The path to the slot's member; for an element of a list, the path to the list. */
function memberPathOf({ at }: ArgumentSlot): readonly (string | number)[] {
  return typeof at.at(-1) === 'number' ? at.slice(0, -1) : at
}

function readAt(example: ShownExample, [root, ...path]: readonly (string | number)[]): unknown {
  let value: unknown = root === 'body' ? example.body : example.arguments
  for (const step of path) value = Object(value)[step]
  return value
}

/** How many of a query's facts a request can take: places, addresses, quoted text. */
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
 * Keeps the example's way of naming a place if the query names none. If a service takes either a
 * name or coordinates, its author makes both optional; but a call with neither makes no sense.
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
 * Adds optional parameters for facts in the query that the example leaves out. One parameter per
 * meaning: services that take a coin by symbol or by name refuse a call with both.
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

/** The example's value for each placeholder in the path. */
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
  if (root === 'path') {
    const part = readPath(template, example.url ?? '').get(String(path[0])) ?? ''
    return decodePercents(part) ?? part
  }
  return readAt(example, at)
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
