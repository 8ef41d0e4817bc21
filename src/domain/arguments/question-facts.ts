import { DAY_MS } from '../wire/shapes.ts'
import COINS from './coins.json' with { type: 'json' }
import COUNTRIES from './countries.json' with { type: 'json' }
import CURRENCIES from './currencies.json' with { type: 'json' }
import LANGUAGES from './languages.json' with { type: 'json' }
import PLACES from './places.json' with { type: 'json' }

const URL_TEXT = /\bhttps?:\/\/[^\s"'<>]+[^\s"'<>.,;:!?)]/gi
const EMAIL = /\b[\w.+-]+@[a-z0-9-]+(?:\.[a-z0-9-]+)+\b/gi
const DOMAIN = /(?<![@\w.])(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+(?:[a-z]{2,24})\b(?![@\w])/gi
const IP = /\b(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)\b/g
const QUOTED = /(?:^|[\s(])(?:'([^']+(?:'[^\s'][^']*)*)'|"([^"]+)"|“([^”]+)”|‘([^’]+)’|«([^»]+)»)/

/** The facts in a query, by kind, in order. */
export type QuestionFacts = ReturnType<typeof readQuestionFacts>

/**
 * Reads the facts in a query and guesses none: a kind without facts is empty. Codes are those of
 * ISO 4217, 639-1 and 3166-1.
 * @param now milliseconds since the epoch, which decides what "tomorrow" means
 */
export function readQuestionFacts(question: string, now: number) {
  const urls = question.match(URL_TEXT) ?? []
  const emails = question.match(EMAIL) ?? []
  const rest = [...urls, ...emails].reduce((text, found) => text.replace(found, ' '), question)
  const quoted =
    QUOTED.exec(rest)
      ?.slice(1)
      .find((text) => text !== undefined) ?? null
  const outside = quoted === null ? rest : rest.replace(quoted, ' ')
  const words = toWords(outside)
  const dated = readDates(outside, now)
  return {
    ...{ urls, emails, quoted, dates: dated.dates },
    ips: rest.match(IP) ?? [],
    domains: [...(rest.match(DOMAIN) ?? [])].filter((text) => !/^\d/.test(text)),
    evmAddresses: rest.match(/\b0x[0-9a-f]{40}\b/gi) ?? [],
    transactions: rest.match(/\b0x[0-9a-f]{64}\b/gi) ?? [],
    places: readPlaces(words),
    currencies: known(words, CURRENCY_BY_WORD, isCode),
    languages: readLanguages(words),
    coins: known(words, COIN_BY_WORD, isCode),
    /** Tickers of shares: capitals that are neither a currency nor a coin. */
    tickers: words.filter((word) => isTicker(word)),
    // Two-letter codes are not recognised: they are as often ordinary words.
    countries: known(words, COUNTRY_BY_WORD, () => false),
    years: (dated.rest.match(/\b(?:19|20)\d\d\b/g) ?? []).map(Number),
    numbers: (dated.rest.match(/(?<![\w.])\d+(?:\.\d+)?(?![\w.])/g) ?? []).map(Number),
    /** What the query is about, if it says so: `papers on …`, `search the web for …`. */
    subject: readSubject(question),
  }
}

function toWords(text: string): string[] {
  return text.match(/[\p{L}\p{N}€£¥₩₹$-]+/gu) ?? []
}

/** Whether a short word is a code; some codes are as often ordinary words: `all`, `try`, `op`, `near`. */
function isCode(word: string): boolean {
  return word.length <= 4 && !AMBIGUOUS.has(word)
}
const AMBIGUOUS = new Set([
  'all',
  'try',
  'op',
  'near',
  'link',
  'dot',
  'ada',
  'uni',
  'ton',
  'php',
  'cad',
  'sol',
])

function known(
  words: readonly string[],
  table: ReadonlyMap<string, string>,
  isShortForm: (word: string) => boolean,
): string[] {
  const found = words.flatMap((word) => {
    const code = table.get(word.toLowerCase())
    if (code === undefined) return []
    const isStatedAsCode = word.toLowerCase() === code.toLowerCase()
    return !isStatedAsCode || word === code || isShortForm(word) ? [code] : []
  })
  return [...new Set(found)]
}

function isTicker(word: string): boolean {
  const plain = word.toLowerCase()
  return (
    /^[A-Z]{2,5}$/.test(word) &&
    !NOT_TICKERS.has(word) &&
    !CURRENCY_BY_WORD.has(plain) &&
    !COIN_BY_WORD.has(plain)
  )
}
const NOT_TICKERS = new Set([
  'IP',
  'URL',
  'API',
  'DNS',
  'MX',
  'TXT',
  'PDF',
  'LLM',
  'AI',
  'SMS',
  'US',
  'UK',
  'EU',
  'ID',
  'SQL',
  'NFT',
  'CVE',
  'HTML',
  'JSON',
  'CSV',
  'OCR',
  'QR',
])

/** Places by names of up to three words; a longer name hides shorter ones in it. Only capitalised words are names. */
function readPlaces(words: readonly string[]): Place[] {
  const places: Place[] = []
  const isAllLower = words.every((word) => word === word.toLowerCase())
  for (let at = 0; at < words.length; ) {
    const length = [3, 2, 1].slice(3 - MAX_WORDS_OF_A_PLACE).find((count) => {
      const name = words.slice(at, at + count)
      const isName = isAllLower || /^\p{Lu}/u.test(name[0] ?? '')
      return isName && name.length === count && PLACES_BY_NAME.has(toPlainName(name.join(' ')))
    })
    const place = length && PLACES_BY_NAME.get(toPlainName(words.slice(at, at + length).join(' ')))
    if (place) places.push(place)
    at += length ?? 1
  }
  return places
}

/** The source language, if given, and the target. */
function readLanguages(words: readonly string[]): { from?: string; to?: string } {
  const plain = words.map((word) => word.toLowerCase())
  const after = (...marks: string[]) =>
    plain.flatMap((word, at) => {
      const next = LANGUAGE_BY_WORD.get(plain[at + 1] ?? '')
      const isNamed = (plain[at + 1] ?? '').length > 2
      return marks.includes(word) && next !== undefined && isNamed ? [next] : []
    })[0]
  const [from, to] = [after('from'), after('to', 'into', 'in')]
  return { ...(from !== undefined && { from }), ...(to !== undefined && { to }) }
}

/** Leading words that only say what to do, and with what. */
const COMMAND =
  /^(?:please |can you |could you |i (?:want|need) to |help me )?(?:(?:search|find|look ?up|look for|get|show|fetch|give|list|read|generate|create|make|draw|paint|write|ask|tell|summari[sz]e|define|what is|what are|who is|where is|turn|embed|run|prompt|query)(?: me| us| up)? )?/i
const OBJECT =
  /^(?:(?:the|an?|some|any|all|latest|recent|new|scientific|research|academic)\s+)*(?:web|internet|google|news|headlines|papers?|articles?|images?|pictures?|photos?|videos?|books?|tweets?|posts?|results?|information|info|pages?|definition|meaning|tokens?|places?|word|text|podcasts?|recipes?|repositories|packages?)\s+(?:(?:on|about|for|of|by|with|from|that|showing|called|named|regarding)\s+)/i

/**
 * The part after words that name a form, such as `papers on`. The words before it name the task and are never an
 * argument.
 * @example readSubject('papers on solar cells') → 'solar cells'; readSubject('search the web') → null
 */
function readSubject(question: string): string | null {
  const plain = question.trim().replace(/[?!.]+$/, '')
  const withoutCommand = plain.replace(COMMAND, '')
  // The subject of `posts on reddit about rust` is rust.
  const about = withoutCommand.replace(OBJECT, '').replace(/^\S+ about (?=\S)/i, '')
  const subject = about.replace(/^(?:for|about|of|on|by)\s+/i, '')
  return about === withoutCommand || subject === '' ? null : subject
}

const MONTHS = [
  ...['january', 'february', 'march', 'april', 'may', 'june', 'july', 'august'],
  ...['september', 'october', 'november', 'december'],
]

/**
 * Days that a text names, as ISO dates, and the text without them.
 * @param now milliseconds since the epoch
 * @example readDates('rain tomorrow', Date.UTC(2026, 0, 1)) → { dates: ['2026-01-02'], rest: 'rain  ' }
 */
function readDates(text: string, now: number): { dates: string[]; rest: string } {
  const dates: string[] = []
  const today = Math.floor(now / DAY_MS) * DAY_MS
  const take = (ms: number) => {
    if (Number.isFinite(ms)) dates.push(new Date(ms).toISOString().slice(0, 10))
    return ' '
  }
  const rest = text
    .replace(/\b(\d{4})-(\d\d)-(\d\d)\b/g, (whole) => take(Date.parse(whole)))
    .replace(
      /\b(\d{1,2})(?:st|nd|rd|th)?\.? (?:of )?([a-z]{3,9}),? (\d{4})\b/gi,
      (whole, day, month, year) => {
        const at = monthOf(month)
        return at < 0 ? whole : take(Date.UTC(Number(year), at, Number(day)))
      },
    )
    .replace(
      /\b([a-z]{3,9}) (\d{1,2})(?:st|nd|rd|th)?,? (\d{4})\b/gi,
      (whole, month, day, year) => {
        const at = monthOf(month)
        return at < 0 ? whole : take(Date.UTC(Number(year), at, Number(day)))
      },
    )
    .replace(/\b(today|tonight|tomorrow|yesterday)\b/gi, (word: string) =>
      take(today + (OFFSETS[word.toLowerCase()] ?? 0) * DAY_MS),
    )
  return { dates, rest }
}

const OFFSETS: Readonly<Record<string, number>> = {
  today: 0,
  tonight: 0,
  tomorrow: 1,
  yesterday: -1,
}

function monthOf(text: string): number {
  return MONTHS.findIndex(
    (month) => month === text.toLowerCase() || month.slice(0, 3) === text.toLowerCase(),
  )
}

/** Codes by the words that people use for them: ISO 4217, ISO 639-1, coin symbols, and ISO 3166-1 alpha-2. */
const CURRENCY_BY_WORD = byWord(CURRENCIES)
const LANGUAGE_BY_WORD = byWord(LANGUAGES)
const COIN_BY_WORD = byWord(COINS)
const COUNTRY_BY_WORD = byWord(COUNTRIES)

export interface Place {
  name: string
  /** ISO 3166-1 alpha-2. */
  country: string
  /** Degrees north, to a hundredth. */
  latitude: number
  /** Degrees east, to a hundredth. */
  longitude: number
}

/** `Ho Chi Minh` and `Rio de Janeiro` have three words. */
export const MAX_WORDS_OF_A_PLACE = 3

/**
 * Major places in the world, by name without case and accents. Cities that name a time zone are
 * from `zone.tab` in the IANA time zone database, which is in the public domain
 * (https://www.iana.org/time-zones); other large cities were added by hand.
 */
export const PLACES_BY_NAME: ReadonlyMap<string, Place> = new Map(
  Object.entries(PLACES).map(([name, place]) => [toPlainName(name), { name, ...place }]),
)

/** @example toPlainName('Zürich') → 'zurich' */
function toPlainName(text: string): string {
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
