import { toPlaceholder } from '../listing/json-schema.ts'
import type { ArgumentKind, ArgumentSlot } from './argument-slots.ts'
import { COIN_IDS } from './argument-words.ts'
import type { QuestionFacts } from './question-facts.ts'

/** Where a value goes, and whether the query has it, or only that it is required. */
export type Filled = { slot: ArgumentSlot; value: unknown; isStated: boolean }

/** The query's value for each slot, in their order. @param shownAt the example's value there */
export function readValues(
  slots: readonly ArgumentSlot[],
  facts: QuestionFacts,
  shownAt: (slot: ArgumentSlot) => unknown,
): Filled[] {
  const taken = new Map<ArgumentKind, number>()
  return slots.map((slot) => ({ slot, ...toValue(slot, facts, taken, shownAt(slot)) }))
}

/** The meaning of a value, whatever its parameter is called. */
export function meaningsOf(
  { slot: { kind }, value }: Filled,
  { places, currencies }: QuestionFacts,
) {
  if (places.some(({ name }) => name === value)) return ['place']
  const meaning = MEANINGS[kind] ?? kind
  return kind === 'coin_pair' && currencies.length > 0 ? [meaning, 'currency'] : [meaning]
}

/** Kinds that express the same thing in several ways. */
const MEANINGS: Readonly<Partial<Record<ArgumentKind, string>>> = {
  ...{ latitude: 'place', longitude: 'place', coordinates: 'place', country: 'place' },
  ...{ coin_id: 'coin', coin_pair: 'coin', ticker: 'coin' },
  ...{ domain: 'url', year: 'date', query: 'text', language_pair: 'language_to' },
}

/** The query's value; the placeholder of a required one that is missing; undefined for the rest. */
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

export function placeholderOf({ at }: ArgumentSlot): string {
  const names = at.filter((step) => typeof step === 'string')
  return toPlaceholder(names.at(-1) ?? 'value')
}

/** The author's own name for a value that only the caller knows. */
const PLACEHOLDER = /^<[A-Z0-9_]+>$/

type ReadValue = (facts: QuestionFacts, place: number, shown: string) => string | number | undefined

/** The n-th slot of a kind gets its n-th fact. */
const VALUES: Readonly<Record<ArgumentKind, ReadValue>> = {
  latitude: ({ places }, place) => places[place]?.latitude,
  longitude: ({ places }, place) => places[place]?.longitude,
  coordinates: ({ places }, place, shown) => {
    // Several points in a row are written as in routing services and GeoJSON: longitude first.
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
}

/** A question's other words name its task, and a search for them finds nothing. */
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
