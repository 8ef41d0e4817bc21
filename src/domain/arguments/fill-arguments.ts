import { toPlaceholder } from '../json-schema/example-of.ts'
import { encodeValue, toText, withQuery } from '../operation/example-request.ts'
import { isJsonObject } from '../wire/parse-json.ts'
import type { ArgumentKind, ArgumentSlot } from './argument-slots.ts'
import { COIN_IDS } from './argument-tables.ts'
import type { QuestionFacts } from './question-facts.ts'

/** A request as an example shows it. */
export interface ShownExample {
  url?: string | undefined
  headers?: Record<string, string> | undefined
  body?: unknown
  arguments?: unknown
}

/**
 * An example request with what the question says in place of the example's own values. Where the question
 * says nothing of a value that is needed, its `<PLACEHOLDER>` stands; one that is not needed goes.
 *
 * @param template address of the operation, with its `{placeholders}`
 */
export function fillArguments(
  template: string,
  example: ShownExample,
  slots: readonly ArgumentSlot[],
  facts: QuestionFacts,
): ShownExample {
  const taken = new Map<ArgumentKind, number>()
  const values = keepPlace(
    slots.map((slot) => ({
      slot,
      value: toValue(slot, facts, taken, shownAt(example, template, slot)),
    })),
  )
  const url = fillUrl(template, example, values)
  let { body, arguments: given } = example
  for (const { slot, value } of values) {
    const [root, ...path] = slot.at
    if (root === 'body') body = replaceAt(body, path, value)
    if (root === 'arguments') given = replaceAt(given, path, value)
  }
  return {
    ...example,
    ...(url !== undefined && { url }),
    ...(body !== undefined && { body }),
    ...(given !== undefined && { arguments: given }),
  }
}

type Filled = { slot: ArgumentSlot; value: unknown }

/**
 * A name or coordinates: where either will do, authors call each of them optional. An answer about no
 * place at all is not what the example asks for, so what it names the place with stays.
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

function fillUrl(template: string, { url }: ShownExample, values: readonly Filled[]) {
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
  const pairs = [...new URLSearchParams(url.split('?')[1] ?? '')].flatMap(
    ([name, shown]): [string, string][] => {
      if (!query.has(name)) return [[name, shown]]
      const value = query.get(name)
      return value === undefined ? [] : [[name, toText(value)]]
    },
  )
  return withQuery(address ?? url, pairs)
}

/** What the example has in place of each placeholder of the path. */
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
  if (root === 'path')
    return decode(readPath(template, example.url ?? '').get(String(path[0])) ?? '')
  let value: unknown = root === 'body' ? example.body : example.arguments
  for (const step of path) value = Object(value)[step]
  return value
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
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

/** What the question says; the placeholder of what is needed and not said; undefined for the rest. */
function toValue(
  slot: ArgumentSlot,
  facts: QuestionFacts,
  taken: Map<ArgumentKind, number>,
  shown: unknown,
): unknown {
  const { kind, required } = slot
  const place = taken.get(kind) ?? 0
  taken.set(kind, place + 1)
  const said = VALUES[kind](facts, place, typeof shown === 'string' ? shown : '')
  if (said !== undefined)
    return typeof shown === 'number' || typeof said !== 'number' ? said : String(said)
  if (typeof shown === 'string' && PLACEHOLDER.test(shown)) return shown
  return required ? placeholderOf(slot) : undefined
}

function placeholderOf({ at }: ArgumentSlot): string {
  const names = at.filter((step) => typeof step === 'string')
  return toPlaceholder(names.at(-1) ?? 'value')
}

/** Its author's own word for what only the caller knows. */
const PLACEHOLDER = /^<[A-Z0-9_]+>$/

type ReadValue = (facts: QuestionFacts, place: number, shown: string) => string | number | undefined

/** Of the n-th slot of a kind, the n-th fact of it. */
const VALUES: Readonly<Record<ArgumentKind, ReadValue>> = {
  latitude: ({ places }, place) => places[place]?.latitude,
  longitude: ({ places }, place) => places[place]?.longitude,
  coordinates: ({ places }, place, shown) => {
    // Several points in a row are written as routing services and GeoJSON have them: the longitude first.
    const points = shown.split(';').length
    const asked = points > 1 ? places.slice(0, points) : places.slice(place, place + 1)
    if (asked.length < points) return undefined
    return asked
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
  query: ({ quoted, topic, places, question }, _, shown) =>
    (isPlaceName(shown) ? places[0]?.name : undefined) ?? quoted ?? topic ?? question,
  text: ({ quoted, topic, places }, _, shown) =>
    quoted ?? topic ?? (isPlaceName(shown) ? places[0]?.name : undefined),
  from: ({ languages, currencies, places }) =>
    languages.from ??
    (currencies.length > 1 ? currencies[0] : places.length > 1 ? places[0]?.name : undefined),
  to: ({ emails, languages, currencies, places }) =>
    emails[0] ?? languages.to ?? (currencies.length > 1 ? currencies[1] : places[1]?.name),
  asked: () => undefined,
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
