import type { SearchIndex } from '../index/index-shape.ts'
import {
  type Language,
  type Lexicon,
  type Lexicons,
  NO_LEXICON,
  readCompound,
  readForm,
  readPieces,
  separatorOf,
  UNSPACED,
} from '../words/foreign-lexicon.ts'
import { splitText, type Word } from '../words/split-text.ts'
import { lookUpWord } from './known-term.ts'

/** A query with the everyday words of its language read as the English ones listings write. */
export interface ReadQuery {
  words: readonly Word[]
  /** What was read otherwise and some listing has nevertheless. */
  originals: readonly Word[]
  notes: readonly string[]
  /** Words of another language are no slips of English ones. */
  isForeign: boolean
}

/** What is looked up of a query: a word, or what the platform takes for one in an unspaced script. */
interface Token {
  text: string
  word: Word
}

/** A stretch of tokens that means something in a language; nothing where it is a stop word. */
interface Reading {
  length: number
  english: string | null
  /** A form of a word in the table, not the word itself. */
  isForm?: boolean
}

/** One script leaves one language, but for those that share it. */
const SCRIPTS: readonly (readonly [RegExp, readonly Language[]])[] = [
  [/\p{sc=Hangul}/u, ['ko']],
  [/[\p{sc=Hiragana}\p{sc=Katakana}]/u, ['ja']],
  [/\p{sc=Han}/u, ['zh', 'ja']],
  [/\p{sc=Devanagari}/u, ['hi']],
  [/\p{sc=Arabic}/u, ['ar']],
  [/\p{sc=Cyrillic}/u, ['ru']],
]
const LATIN: readonly Language[] = ['es', 'pt', 'de', 'fr']
const MOST_TOKENS = 5
/** A word in this many listings is surely one that English listings write. */
const KNOWN_ROWS = 3

/**
 * Reads a query in one of the languages of the table. A query is in a language when more of its words
 * are that language's than are English. In any other, a word stays as it is unless no listing has it.
 */
export function readForeign(index: SearchIndex, words: readonly Word[]): ReadQuery {
  const lexicons = index.words.foreign()
  const asWritten = { words, originals: [], notes: [], isForeign: false }
  if (lexicons.size === 0 || words.length === 0) return asWritten
  const text = words.map(({ whole }) => whole).join(' ')
  const scripted = SCRIPTS.find(([script]) => script.test(text))?.[1]
  if (scripted === undefined && words.every((word) => isSurelyEnglish(index, word, lexicons)))
    return asWritten
  const languages = scripted ?? LATIN
  const tried = languages.map((language) => {
    const lexicon = lexicons.get(language) ?? NO_LEXICON
    const tokens = words.flatMap((word) => tokensOf(word, language))
    const readings = readTokens(tokens, lexicon, language)
    return { tokens, readings, votes: votesFor(index, tokens, readings), language }
  })
  tried.sort((a, b) => b.votes.own - a.votes.own)
  const [best] = tried
  if (best === undefined) return asWritten
  const isForeign = scripted !== undefined || isMostly(best.votes)
  const readings = isForeign ? best.readings : exactOnly(index, best.tokens, lexicons)
  if (!isForeign && readings.every((reading) => reading === null)) return asWritten
  return { ...replace(index, best.tokens, readings), isForeign }
}

function tokensOf(word: Word, language: Language): Token[] {
  if (word.style !== 'unspaced' || !UNSPACED.has(language)) return [{ text: word.whole, word }]
  const segments = new Intl.Segmenter(language, { granularity: 'word' }).segment(word.whole)
  return Array.from(segments, ({ segment }) => ({ text: segment, word }))
}

/** For each token the reading that starts there; null inside one, and for what nobody knows. */
function readTokens(tokens: readonly Token[], lexicon: Lexicon, language: Language) {
  const readings: (Reading | null)[] = tokens.map(() => null)
  for (let at = 0; at < tokens.length; ) {
    const found = readFrom(tokens, at, lexicon, language)
    readings[at] = found
    at += found?.length ?? 1
  }
  return readings
}

function readFrom(
  tokens: readonly Token[],
  at: number,
  lexicon: Lexicon,
  language: Language,
): Reading | null {
  for (let length = Math.min(MOST_TOKENS, tokens.length - at); length > 0; length -= 1) {
    const texts = tokens.slice(at, at + length).map(({ text }) => text)
    const english = lexicon.words.get(texts.join(separatorOf(language)))
    if (english !== undefined) return { length, english }
  }
  const { text = '', word } = tokens[at] ?? {}
  if (lexicon.stop.has(text)) return { length: 1, english: null }
  if (UNSPACED.has(language)) return toReading(readPieces(text, lexicon))
  const form = word?.style === 'plain' ? readForm(text, lexicon, language) : null
  if (form === null) return toReading(language === 'de' ? readCompound(text, lexicon) : null)
  return { length: 1, ...form }
}

function toReading(english: string | null): Reading | null {
  return english === null ? null : { length: 1, english }
}

interface Votes {
  /** Words that are the language's and no English ones, and how many of those mean something. */
  own: number
  telling: number
  english: number
}

function votesFor(
  index: SearchIndex,
  tokens: readonly Token[],
  readings: readonly (Reading | null)[],
): Votes {
  const votes = { own: 0, telling: 0, english: 0 }
  const seen = new Set<string>()
  let covered = 0
  tokens.forEach(({ text }, at) => {
    const reading = readings[at] ?? null
    const isInside = covered > 0
    covered = Math.max(covered - 1, (reading?.length ?? 1) - 1)
    if (isInside || seen.has(text)) return
    seen.add(text)
    const isEnglish = isEnglishWord(index, text) && (reading?.length ?? 1) === 1
    if (reading === null) votes.english += Number(isEnglish)
    else if (!isEnglish || (reading.english === null && !isEnglishStop(index, text))) {
      votes.own += reading.length
      if (reading.english !== null && reading.isForm !== true) votes.telling += 1
    }
  })
  return votes
}

function isMostly({ own, telling, english }: Votes): boolean {
  return (telling > 0 || own > 1) && own >= english
}

function isEnglishWord(index: SearchIndex, text: string): boolean {
  return (
    isEnglishStop(index, text) ||
    index.words.isEveryday(text) ||
    lookUpWord(index, text).rows >= KNOWN_ROWS
  )
}

/** Nearly every query is made of such words alone, and needs no reading. */
function isSurelyEnglish(index: SearchIndex, { whole }: Word, lexicons: Lexicons): boolean {
  if (isEnglishStop(index, whole)) return true
  const isStop = LATIN.some((language) => lexicons.get(language)?.stop.has(whole) === true)
  return !isStop && lookUpWord(index, whole).rows >= KNOWN_ROWS
}

function isEnglishStop({ words: { stop, generic, filler } }: SearchIndex, text: string): boolean {
  return stop.has(text) || generic.has(text) || filler.has(text)
}

/** In an English query only a word that no listing has is read, as it stands. */
function exactOnly(index: SearchIndex, tokens: readonly Token[], lexicons: Lexicons) {
  return tokens.map(({ text, word }): Reading | null => {
    if (word.style !== 'plain' || isEnglishWord(index, text)) return null
    if (lookUpWord(index, text).rows > 0) return null
    const found = LATIN.map((language) => lexicons.get(language)?.words.get(text))
    const english = found.find((meant) => meant !== undefined)
    return english === undefined ? null : { length: 1, english }
  })
}

function replace(
  index: SearchIndex,
  tokens: readonly Token[],
  readings: readonly (Reading | null)[],
): Omit<ReadQuery, 'isForeign'> {
  const read: Word[] = []
  const originals = new Set<Word>()
  const told = new Map<string, string>()
  // What is left of an unspaced stretch of which something was read is an ending.
  const touched = new Set(tokens.flatMap(({ word }, at) => (readings[at] ? [word] : [])))
  for (let at = 0; at < tokens.length; ) {
    const { english, length } = readings[at] ?? { length: 1 }
    const stretch = tokens.slice(at, at + length).map(({ word }) => word)
    const texts = tokens.slice(at, at + length).map(({ text }) => text)
    at += length
    const added = typeof english === 'string' ? splitText(english) : stretch
    if (english === undefined)
      addOnce(
        read,
        added.filter((word) => !touched.has(word)),
      )
    if (typeof english !== 'string') continue
    addOnce(read, added)
    const written = texts.join(stretch[0]?.style === 'unspaced' ? '' : ' ')
    if (written !== english) told.set(written, english)
    for (const word of stretch) if (isWritten(index, word)) originals.add(word)
  }
  const pairs = [...told].map(([from, to]) => `“${from}” as “${to}”`)
  const notes = pairs.length === 0 ? [] : [`Read ${pairs.join(', ')}.`]
  return { words: read, originals: [...originals], notes }
}

function addOnce(words: Word[], added: readonly Word[]): void {
  for (const word of added) if (!words.includes(word)) words.push(word)
}

/** Whether listings have a word as it stands: one without spaces in all of its parts. */
function isWritten(index: SearchIndex, { whole, parts, style }: Word): boolean {
  const texts = style === 'unspaced' ? parts : [whole]
  return texts.every((text) => !index.words.stop.has(text) && lookUpWord(index, text).rows > 0)
}
