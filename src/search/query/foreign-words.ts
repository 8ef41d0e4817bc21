import COUNTRIES from '../../domain/arguments/countries.json' with { type: 'json' }
import {
  MAX_WORDS_OF_A_PLACE,
  PLACES_BY_NAME,
  type Place,
} from '../../domain/arguments/question-facts.ts'
import type { ForeignWords } from '../../domain/derived/tables.ts'
import type { SearchIndex } from '../index/index-file.ts'
import { splitText, type Word } from '../words/split-text.ts'
import { lookUpWord, rememberWords } from './known-terms.ts'

/** English country names by ISO 3166-1 code; a name is one word, such as `zealand`. */
const COUNTRY_NAMES: ReadonlyMap<string, readonly string[]> = new Map(Object.entries(COUNTRIES))

/** A query in another language, whose everyday words are translated to the English words used in listings. */
export interface ReadQuery {
  words: readonly Word[]
  /** Words that were translated although a listing has them. */
  originals: readonly Word[]
  notes: readonly string[]
  /** The query's language: its words are not taken for typos of English words. Null for English. */
  language: Language | null
}

/** A token in a query: a word or, in a script without spaces, what the platform takes for a word. */
interface Token {
  text: string
  word: Word
}

/** Tokens with one meaning in a language; a single token if the meaning is unknown. */
interface Stretch {
  tokens: readonly Token[]
  meaning: Meaning | null
  /** Whether the stretch names a place with several words: `Buenos Aires` has nothing to do with air. */
  isPlace?: boolean
}

/** A script implies one language, unless several languages share it. */
const SCRIPTS: readonly (readonly [RegExp, readonly Language[]])[] = [
  [/\p{sc=Hangul}/u, ['ko']],
  [/[\p{sc=Hiragana}\p{sc=Katakana}]/u, ['ja']],
  [/\p{sc=Han}/u, ['zh', 'ja']],
  [/\p{sc=Devanagari}/u, ['hi']],
  [/\p{sc=Arabic}/u, ['ar']],
  [/\p{sc=Cyrillic}/u, ['ru', 'uk']],
]
const LATIN: readonly Language[] = ['es', 'pt', 'de', 'fr', 'it', 'nl', 'pl', 'tr', 'id', 'vi']
const MOST_TOKENS = 5
/** A word that this many listings have is certainly used in English listings. */
const KNOWN_ROWS = 3

/** Reads a query in the language to which more of its words belong than to English, if there is one. */
export function readForeign(index: SearchIndex, words: readonly Word[]): ReadQuery {
  const { foreign } = index.words
  const asWritten = { words, originals: [], notes: [], language: null }
  if (foreign.languages.length === 0 || words.length === 0) return asWritten
  const text = words.map(({ whole }) => whole).join(' ')
  const scripted = SCRIPTS.find(([script]) => script.test(text))?.[1]
  if (scripted === undefined && words.every(({ whole }) => isSurelyEnglish(index, whole)))
    return asWritten
  const tried = (scripted ?? LATIN).map((language) => {
    const lexicon = lexiconOf(foreign, language)
    const stretches = readStretches(
      words.flatMap((word) => tokensOf(word, lexicon)),
      lexicon,
    )
    const votes = votesFor(index, stretches)
    return {
      language,
      stretches,
      votes,
      read: UNSPACED.has(language) ? lettersOf(stretches) : votes.own,
    }
  })
  // If two languages match equally well, the one with fewer stretches has the longer matches.
  const [best] = tried.sort((a, b) => b.read - a.read || a.stretches.length - b.stretches.length)
  if (best === undefined || (scripted === undefined && !isMostly(best.votes))) return asWritten
  const stretches = best.stretches.map((stretch) => asWrittenWhereKnown(index, stretch))
  return { ...replace(index, stretches), language: best.language }
}

/** Names of listings and places stay: `Discord` isn't taken for a form of disk, nor `Madrid` for a form of mother. */
function asWrittenWhereKnown(index: SearchIndex, stretch: Stretch): Stretch {
  const [{ text } = { text: '' }] = stretch.tokens
  if (stretch.meaning?.isForm !== true) return stretch
  const isPlace = PLACES_BY_NAME.has(text)
  return isPlace || isWrittenInEnglish(index, text)
    ? { ...stretch, meaning: null, isPlace }
    : stretch
}

function tokensOf(word: Word, { language }: Lexicon): Token[] {
  if (word.style !== 'unspaced' || !UNSPACED.has(language)) return [{ text: word.whole, word }]
  const segments = new Intl.Segmenter(language, { granularity: 'word' }).segment(word.whole)
  return Array.from(segments, ({ segment }) => ({ text: segment, word }))
}

function readStretches(tokens: readonly Token[], lexicon: Lexicon): Stretch[] {
  const stretches: Stretch[] = []
  for (let at = 0; at < tokens.length; at += stretches.at(-1)?.tokens.length ?? 1)
    stretches.push(readStretch(tokens.slice(at, at + MOST_TOKENS), lexicon))
  return stretches
}

/** The longest known phrase with which the tokens start, or the first token alone. */
function readStretch(tokens: readonly Token[], lexicon: Lexicon): Stretch {
  const { language, meanings, phrases } = lexicon
  const place = wordsOfPlace(tokens)
  if (place > 1) return { tokens: tokens.slice(0, place), meaning: null, isPlace: true }
  const [first = '', ...others] = tokens.map(({ text }) => text)
  const isStart = UNSPACED.has(language) || phrases.has(first)
  for (let more = isStart ? others.length : 0; more >= 0; more -= 1) {
    const meaning = meanings.get([first, ...others.slice(0, more)].join(separatorOf(language)))
    if (meaning?.isForm === false && (more === 0 || meaning.english !== null))
      return { tokens: tokens.slice(0, more + 1), meaning }
  }
  return { tokens: tokens.slice(0, 1), meaning: readPart(tokens[0], lexicon) }
}

/** How many of the first tokens name a place. */
function wordsOfPlace(tokens: readonly Token[]): number {
  return placesFrom(tokens.map(({ text }) => text)).length
}

/** The places named by the first word, by the first two and so on, up to the longest place name. */
function placesFrom(texts: readonly string[]): (Place | undefined)[] {
  const first = texts.slice(0, MAX_WORDS_OF_A_PLACE)
  const places = first.map((_, at) => PLACES_BY_NAME.get(first.slice(0, at + 1).join(' ')))
  return places.slice(0, places.findLastIndex((place) => place !== undefined) + 1)
}

/**
 * The countries of the places that the words name, or else the country where most people speak
 * the query's language, as English words. A listing for a country rarely names its cities, and a question
 * in Hindi is more often about India.
 */
export function countriesOf(words: readonly Word[], language: Language | null): string[] {
  const texts = words.map(({ whole }) => whole)
  const places = texts.flatMap((_, at) => placesFrom(texts.slice(at)).at(-1)?.country ?? [])
  const home = language === null ? [] : [new Intl.Locale(language).maximize().region ?? '']
  const codes = new Set(places.length > 0 ? places : home)
  return [...codes].flatMap((code) => COUNTRY_NAMES.get(code) ?? [])
}

function readPart(token: Token | undefined, lexicon: Lexicon): Meaning | null {
  const { text = '', word } = token ?? {}
  if (UNSPACED.has(lexicon.language)) return readPieces(text, lexicon)
  if (word?.style === 'hyphen') return readHyphenated(word, lexicon)
  const form = word?.style === 'plain' ? readForm(text, lexicon) : null
  return form === null && lexicon.language === 'de' ? readCompound(text, lexicon) : form
}

/** The meaning of a word with a hyphen, one part of which is a known word: `wetter-api`. */
function readHyphenated({ parts }: Word, { meanings }: Lexicon): Meaning | null {
  const known = parts.map((part) => meanings.get(part))
  if (!known.some(isComplete)) return null
  const english = parts.map((part, at) => (isComplete(known[at]) ? known[at].english : part))
  return { english: english.join(' '), isForm: true }
}

/** How many letters were understood in a script without spaces. */
function lettersOf(stretches: readonly Stretch[]): number {
  return stretches.reduce((sum, { tokens, meaning }) => {
    const all = tokens.reduce((length, { text }) => length + text.length, 0)
    return meaning === null ? sum : sum + (meaning.letters ?? all)
  }, 0)
}

/**
 * `own` counts the language's words that are not English, `telling` those of them with a meaning. English words that no
 * listing writes (`wetter`) are also counted for the language, unless all other words are English.
 */
function votesFor(index: SearchIndex, stretches: readonly Stretch[]) {
  const votes = { own: 0, telling: 0, english: 0 }
  let [known, either] = [0, 0]
  const once = new Map(stretches.map((stretch) => [stretch.tokens[0]?.text ?? '', stretch]))
  for (const [text, { tokens, meaning }] of once) {
    const isEnglish = tokens.length === 1 && isEnglishWord(index, text)
    const isTelling = meaning !== null && meaning.english !== null
    if (meaning === null) votes.english += Number(isEnglish && !PLACES_BY_NAME.has(text))
    else if (!isEnglish || !(isTelling || isEnglishStop(index, text))) {
      votes.own += tokens.length
      votes.telling += Number(isTelling && !meaning.isForm)
    } else if (isTelling && mayBeEither(index, text, meaning)) either += 1
    else known += Number(isTelling)
  }
  if (votes.own === 0 && votes.english + known > 0) return votes
  return { ...votes, own: votes.own + either, telling: votes.telling + either }
}

/** Whether an English word may belong to the language: no listing writes it, and it is a whole word in the language. */
function mayBeEither(index: SearchIndex, text: string, { isForm }: Meaning): boolean {
  return !isForm && !isEnglishStop(index, text) && !isWrittenInEnglish(index, text)
}

function isMostly({ own, telling, english }: ReturnType<typeof votesFor>): boolean {
  return (telling > 0 || own > 1) && own >= english
}

function isEnglishWord(index: SearchIndex, text: string): boolean {
  return (
    isEnglishStop(index, text) || index.words.isEveryday(text) || isWrittenInEnglish(index, text)
  )
}

function isWrittenInEnglish(index: SearchIndex, text: string): boolean {
  return lookUpWord(index, text).rows >= KNOWN_ROWS
}

/** Whether a word is certainly English, as in nearly every query: then it needs no translation. */
const isSurelyEnglish = rememberWords((index, word): boolean => {
  if (isEnglishStop(index, word)) return true
  const known = LATIN.map((language) => lexiconOf(index.words.foreign, language))
  const mayStart = ({ meanings, phrases }: Lexicon) =>
    meanings.get(word)?.english === null || phrases.has(word)
  if (known.some(mayStart)) return false
  if (isWrittenInEnglish(index, word)) return true
  const tokens: Token[] = [{ text: word, word: { whole: word, parts: [], style: 'plain' } }]
  return known.every((lexicon) => readStretch(tokens, lexicon).meaning === null)
})

function isEnglishStop({ words: { stop, generic, filler } }: SearchIndex, text: string): boolean {
  return stop.has(text) || generic.has(text) || filler.has(text)
}

function replace(index: SearchIndex, stretches: readonly Stretch[]): Omit<ReadQuery, 'language'> {
  const reported = stretches.filter(({ meaning }) => meaning !== null && meaning.english !== null)
  // If a run without spaces was partly translated, its rest is an ending.
  const touched = new Set(reported.flatMap(({ tokens }) => wordsOf(tokens)))
  const pairs = reported.map(({ tokens, meaning }) => {
    const gap = tokens[0]?.word.style === 'unspaced' ? '' : ' '
    return [tokens.map(({ text }) => text).join(gap), meaning?.english] as const
  })
  const stated = pairs.flatMap(([from, to]) => (from === to ? [] : `“${from}” as “${to}”`))
  const places = reported.length > 0 ? stretches.filter(({ isPlace }) => isPlace) : []
  const read = stretches
    .filter((stretch) => !places.includes(stretch))
    .flatMap(({ tokens, meaning }) =>
      meaning === null
        ? wordsOf(tokens).filter((word) => !touched.has(word))
        : splitText(meaning.english ?? ''),
    )
  const originals = [...reported, ...places].flatMap(({ tokens }) => wordsOf(tokens))
  return {
    words: [...new Set(read)],
    originals: [...new Set(originals)].filter((word) => isWritten(index, word)),
    notes: stated.length === 0 ? [] : [`Read ${[...new Set(stated)].join(', ')}.`],
  }
}

function wordsOf(tokens: readonly Token[]): Word[] {
  return tokens.map(({ word }) => word)
}

/** Whether listings have a word unchanged; for a word in a script without spaces, all of its parts. */
function isWritten(index: SearchIndex, { whole, parts, style }: Word): boolean {
  const texts = style === 'unspaced' ? parts : [whole]
  return texts.every((text) => !index.words.stop.has(text) && lookUpWord(index, text).rows > 0)
}

type Language = ForeignWords['languages'][number]

/**
 * What a text means: English words, or null for a stop word. `isForm` if only its start is known;
 * `letters` if not all of the text was understood.
 */
interface Meaning {
  english: string | null
  isForm: boolean
  letters?: number
}

/** The table in one language: texts as written, and the starts of their other forms. */
interface Lexicon {
  language: Language
  meanings: Map<string, Meaning>
  /** The first words of phrases of several words. */
  phrases: Set<string>
}

/** How many letters at the end of a form may differ: in the known word, and in the requested word. */
const ENDING_LETTERS = { known: 2, requested: 3 }
const LEAST_STEM = 4
/** Prefixes that are written together with a word. */
const PREFIXES: Partial<Record<Language, RegExp>> = {
  ar: /^(?:[وف]?(?:بال|كال|ال|لل)|[وفبل])(?=..)/u,
}
/** Languages in which the platform finds the words, because spaces mean nothing there. */
const UNSPACED: ReadonlySet<Language> = new Set<Language>(['zh', 'ja', 'ko'])

/** The separator between the words of a phrase. */
function separatorOf(language: Language): string {
  return UNSPACED.has(language) ? '' : ' '
}

/** The lexicons that queries needed so far, by table; mostly for languages in Latin letters. */
const lexicons = new WeakMap<ForeignWords, Map<Language, Lexicon>>()

function lexiconOf(table: ForeignWords, language: Language): Lexicon {
  const known = lexicons.get(table) ?? new Map<Language, Lexicon>()
  lexicons.set(table, known)
  const lexicon = known.get(language) ?? createLexicon(table, language)
  known.set(language, lexicon)
  return lexicon
}

function createLexicon({ languages, stop, words }: ForeignWords, language: Language): Lexicon {
  const lexicon: Lexicon = { language, meanings: new Map(), phrases: new Set() }
  for (const text of (stop[language] ?? '').split(/\s+/))
    lexicon.meanings.set(keyOf(text, lexicon), { english: null, isForm: false })
  for (const [english, row] of Object.entries(words))
    row.split('|').forEach((texts, at) => {
      if ((languages[at] ?? 'zh') !== language) return
      for (const text of texts.split(',')) addMeaning(lexicon, keyOf(text, lexicon), english)
    })
  addCountries(lexicon)
  return lexicon
}

/** Adds the country names in the language, which the platform knows. */
function addCountries(lexicon: Lexicon): void {
  const names = new Intl.DisplayNames(lexicon.language, { type: 'region' })
  for (const [code, [english = '']] of COUNTRY_NAMES) {
    const key = keyOf(names.of(code) ?? '', lexicon)
    if (key !== english && !lexicon.meanings.has(key)) addMeaning(lexicon, key, english)
  }
}

function addMeaning({ meanings, phrases }: Lexicon, key: string, english: string): void {
  // The row has no word in this language.
  if (key === '') return
  const known = meanings.get(key)
  if (known === undefined || known.isForm) meanings.set(key, { english, isForm: false })
  for (const start of startsOf(key, ENDING_LETTERS.known))
    if (!meanings.has(start)) meanings.set(start, { english, isForm: true })
  const [first = '', ...others] = key.split(' ')
  if (others.length === 0) return
  // If `de` joins two words, the noun comes first, and takes the plural: `tremblements de terre`.
  const plural = ['de', 'd'].includes(others[0] ?? '') ? [`${first}s`] : []
  for (const start of [first, ...plural]) {
    phrases.add(start)
    meanings.set([start, ...others].join(' '), meanings.get(key) ?? { english, isForm: false })
  }
}

/** A text, and its beginnings without the last letters. */
function startsOf(text: string, letters = ENDING_LETTERS.requested): string[] {
  const most = Math.min(letters, text.length - LEAST_STEM)
  return [text, ...Array.from({ length: most }, (_, at) => text.slice(0, -at - 1))]
}

/** A text folded like a query's words. */
function keyOf(text: string, { language }: Lexicon): string {
  const words = splitText(text.replaceAll('_', ' '))
  return words.map(({ whole }) => whole).join(separatorOf(language))
}

function withoutPrefix(text: string, language: Language): string {
  const prefix = PREFIXES[language]
  return prefix === undefined ? text : text.replace(prefix, '')
}

/** The meaning of a known word or a form of it: with another ending, or after an article. */
function readForm(text: string, { meanings, language }: Lexicon): Meaning | null {
  const bare = withoutPrefix(text, language)
  if (bare !== text && meanings.get(bare)?.english === null) return null
  for (const form of new Set([bare, text]))
    for (const start of startsOf(form)) {
      const found = meanings.get(start)
      if (typeof found?.english !== 'string') continue
      return { english: found.english, isForm: found.isForm || start !== form }
    }
  return null
}

/** The meaning of two known words written as one: `wettervorhersage`. */
function readCompound(text: string, { meanings }: Lexicon): Meaning | null {
  for (let at = text.length - LEAST_STEM; at >= LEAST_STEM; at -= 1) {
    const first = meanings.get(text.slice(0, at))?.english
    const last = meanings.get(text.slice(at))?.english
    if (typeof first === 'string' && typeof last === 'string')
      return { english: `${first} ${last}`, isForm: false }
  }
  return null
}

/** The meaning of the known words with which a run without spaces starts; the rest is an ending. */
function readPieces(text: string, { meanings }: Lexicon): Meaning | null {
  const found: string[] = []
  let at = 0
  while (at < text.length) {
    let end = text.length
    while (end > at + 1 && !isComplete(meanings.get(text.slice(at, end)))) end -= 1
    const meaning = meanings.get(text.slice(at, end))
    if (!isComplete(meaning)) break
    found.push(meaning.english)
    at = end
  }
  return found.length === 0 ? null : { english: found.join(' '), isForm: false, letters: at }
}

function isComplete(meaning: Meaning | undefined): meaning is Meaning & { english: string } {
  return typeof meaning?.english === 'string' && !meaning.isForm
}
