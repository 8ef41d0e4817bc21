import COINS from './coins.json' with { type: 'json' }
import COUNTRIES from './countries.json' with { type: 'json' }
import CURRENCIES from './currencies.json' with { type: 'json' }
import LANGUAGES from './languages.json' with { type: 'json' }
import PLACES from './places.json' with { type: 'json' }

/** Each with the words people say for it: by ISO 4217 and 639-1, by symbol, by ISO 3166-1 alpha-2. */
export const CURRENCY_BY_WORD = byWord(CURRENCIES)
export const LANGUAGE_BY_WORD = byWord(LANGUAGES)
export const COIN_BY_WORD = byWord(COINS)
export const COUNTRY_BY_WORD = byWord(COUNTRIES)

/** The name of a coin as price services write it: its first word. @example COIN_IDS.get('ETH') → 'ethereum' */
export const COIN_IDS: ReadonlyMap<string, string> = new Map(
  Object.entries(COINS).flatMap(([symbol, [id]]) => (id === undefined ? [] : [[symbol, id]])),
)

export interface Place {
  name: string
  /** ISO 3166-1 alpha-2. */
  country: string
  /** Degrees north, to a hundredth. */
  latitude: number
  /** Degrees east, to a hundredth. */
  longitude: number
}

/** `Ho Chi Minh`, `Rio de Janeiro`. */
export const MAX_WORDS_OF_A_PLACE = 3

/**
 * Main places of the world, by the name without case and accents. The cities that name time zones are
 * from `zone.tab` of the IANA time zone database, which is in the public domain
 * (https://www.iana.org/time-zones); large cities that name none were added by hand.
 */
export const PLACES_BY_NAME: ReadonlyMap<string, Place> = new Map(
  Object.entries(PLACES).map(([name, place]) => [toPlainName(name), { name, ...place }]),
)

/** @example toPlainName('Zürich') → 'zurich' */
export function toPlainName(text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '').replaceAll('ø', 'o').toLowerCase()
}

/** Each code by itself and by its words, in lower case. */
function byWord(table: Readonly<Record<string, readonly string[]>>): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(table).flatMap(([code, words]) =>
      [code, ...words].map((word) => [word.toLowerCase(), code] as const),
    ),
  )
}
