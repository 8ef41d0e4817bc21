import {
  COIN_BY_WORD,
  COUNTRY_BY_WORD,
  CURRENCY_BY_WORD,
  LANGUAGE_BY_WORD,
  MAX_WORDS_OF_A_PLACE,
  PLACES_BY_NAME,
  type Place,
  toPlainName,
} from './argument-words.ts'
import { readDates } from './question-dates.ts'

/** The facts in a query, by kind, in order. Nothing is guessed: a kind without any is empty. */
export interface QuestionFacts {
  urls: string[]
  emails: string[]
  domains: string[]
  ips: string[]
  evmAddresses: string[]
  transactions: string[]
  places: Place[]
  /** ISO 4217. */
  currencies: string[]
  /** ISO 639-1: the source language, where given, and the target. */
  languages: { from?: string; to?: string }
  coins: string[]
  /** Tickers of shares: capitals that are neither a currency nor a coin. */
  tickers: string[]
  /** ISO 3166-1 alpha-2. */
  countries: string[]
  /** ISO 8601. */
  dates: string[]
  years: number[]
  numbers: number[]
  /** The words in quotation marks. */
  quoted: string | null
  /** What it is about, where the query marks it: `papers on …`, `search the web for …`. */
  subject: string | null
}

const URL_TEXT = /\bhttps?:\/\/[^\s"'<>]+[^\s"'<>.,;:!?)]/gi
const EMAIL = /\b[\w.+-]+@[a-z0-9-]+(?:\.[a-z0-9-]+)+\b/gi
const DOMAIN = /(?<![@\w.])(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+(?:[a-z]{2,24})\b(?![@\w])/gi
const IP = /\b(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)\b/g
const QUOTED = /(?:^|[\s(])(?:'([^']+(?:'[^\s'][^']*)*)'|"([^"]+)"|“([^”]+)”|‘([^’]+)’|«([^»]+)»)/

/** @param now milliseconds since the epoch: what "tomorrow" means */
export function readQuestionFacts(question: string, now: number): QuestionFacts {
  const urls = question.match(URL_TEXT) ?? []
  const emails = question.match(EMAIL) ?? []
  const rest = [...urls, ...emails].reduce((text, found) => text.replace(found, ' '), question)
  const ips = rest.match(IP) ?? []
  const quoted =
    QUOTED.exec(rest)
      ?.slice(1)
      .find((text) => text !== undefined) ?? null
  const outside = quoted === null ? rest : rest.replace(quoted, ' ')
  const words = toWords(outside)
  const dated = readDates(outside, now)
  return {
    ...{ urls, emails, ips, quoted },
    domains: [...(rest.match(DOMAIN) ?? [])].filter((text) => !/^\d/.test(text)),
    evmAddresses: rest.match(/\b0x[0-9a-f]{40}\b/gi) ?? [],
    transactions: rest.match(/\b0x[0-9a-f]{64}\b/gi) ?? [],
    places: readPlaces(words),
    currencies: known(words, CURRENCY_BY_WORD, isCode),
    languages: readLanguages(words),
    coins: known(words, COIN_BY_WORD, isCode),
    tickers: words.filter((word) => isTicker(word)),
    // A code of two letters is as often a word.
    countries: known(words, COUNTRY_BY_WORD, () => false),
    dates: dated.dates,
    years: (dated.rest.match(/\b(?:19|20)\d\d\b/g) ?? []).map(Number),
    numbers: (dated.rest.match(/(?<![\w.])\d+(?:\.\d+)?(?![\w.])/g) ?? []).map(Number),
    subject: readSubject(question),
  }
}

function toWords(text: string): string[] {
  return text.match(/[\p{L}\p{N}€£¥₩₹$-]+/gu) ?? []
}

/** A code in lower case is as often an ordinary word: `all`, `try`, `op`, `near`. */
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

/** Names of up to three words; a longer one hides shorter ones in it. Only capitals mark names. */
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

function readLanguages(words: readonly string[]): QuestionFacts['languages'] {
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

/** Whether a query gives arguments for a call, in addition to saying which call. */
export function saysArguments(facts: QuestionFacts): boolean {
  const { urls, emails, domains, ips, evmAddresses, transactions, places, coins } = facts
  const { currencies, tickers, countries, languages, quoted, subject } = facts
  const lists = [urls, emails, domains, ips, evmAddresses, transactions, places, coins]
  return (
    [...lists, currencies, tickers, countries].some((list) => list.length > 0) ||
    [languages.to, quoted, subject].some((stated) => stated != null)
  )
}

/** Leading words that only say what to do, and with what. */
const COMMAND =
  /^(?:please |can you |could you |i (?:want|need) to |help me )?(?:(?:search|find|look ?up|look for|get|show|fetch|give|list|read|generate|create|make|draw|paint|write|ask|tell|summari[sz]e|define|what is|what are|who is|where is|turn|embed|run|prompt|query)(?: me| us| up)? )?/i
const OBJECT =
  /^(?:(?:the|an?|some|any|all|latest|recent|new|scientific|research|academic)\s+)*(?:web|internet|google|news|headlines|papers?|articles?|images?|pictures?|photos?|videos?|books?|tweets?|posts?|results?|information|info|pages?|definition|meaning|tokens?|places?|word|text|podcasts?|recipes?|repositories|packages?)\s+(?:(?:on|about|for|of|by|with|from|that|showing|called|named|regarding)\s+)/i

/**
 * What follows the words that name its form. The words before them name the task: they are never
 * an argument.
 *
 * @example readSubject('papers on solar cells') → 'solar cells'; readSubject('search the web') → null
 */
export function readSubject(question: string): string | null {
  const plain = question.trim().replace(/[?!.]+$/, '')
  const withoutCommand = plain.replace(COMMAND, '')
  // `posts on reddit about rust` are about rust.
  const about = withoutCommand.replace(OBJECT, '').replace(/^\S+ about (?=\S)/i, '')
  const subject = about.replace(/^(?:for|about|of|on|by)\s+/i, '')
  return about === withoutCommand || subject === '' ? null : subject
}
