import type { ForeignWords } from '../../domain/derived/query-words.ts'
import { splitText } from './split-text.ts'

export type Language = ForeignWords['languages'][number]

/** Words of one language by how they are written, and by how forms of them start. */
export interface Lexicon {
  words: Map<string, string>
  stems: Map<string, string>
  stop: Set<string>
}

/** Letters that may differ at the end of a form: of the word that is known, and of the one asked. */
const ENDING_LETTERS = { known: 2, asked: 3 }
const LEAST_STEM = 4
/** What may stand before a word and is written with it. */
const PREFIXES: Partial<Record<Language, RegExp>> = {
  ar: /^(?:[وف]?(?:بال|كال|ال|لل)|[وفبل])(?=..)/u,
  fr: /^(?:[ldjmnstc]|qu)(?=[aeiouyh])/,
}
const NO_PREFIX = /^(?!)/
const LINKS = ['', 's', 'es', 'n', 'en']
/** Languages of which the platform says where a word ends; spaces in them mean nothing. */
export const UNSPACED: ReadonlySet<Language> = new Set<Language>(['zh', 'ja', 'ko'])

/** What stands between the words of a phrase. */
export function separatorOf(language: Language): string {
  return UNSPACED.has(language) ? '' : ' '
}

export type Lexicons = ReadonlyMap<Language, Lexicon>
export const NO_LEXICON: Lexicon = { words: new Map(), stems: new Map(), stop: new Set() }

/** The table, to be looked up. */
export function createLexicons({ languages, stop, words }: ForeignWords): Lexicons {
  const lexicons = new Map(
    languages.map((language) => [
      language,
      {
        words: new Map<string, string>(),
        stems: new Map<string, string>(),
        stop: new Set((stop[language] ?? '').split(/\s+/).map((text) => keyOf(text, language))),
      },
    ]),
  )
  for (const [english, row] of Object.entries(words))
    row.split('|').forEach((forms, at) => {
      const language = languages[at]
      const lexicon = language === undefined ? undefined : lexicons.get(language)
      if (language === undefined || lexicon === undefined) return
      for (const form of forms.split(',')) addForm(lexicon, keyOf(form, language), english)
    })
  return lexicons
}

function addForm({ words, stems }: Lexicon, key: string, english: string): void {
  if (!words.has(key)) words.set(key, english)
  for (let cut = 0; cut <= ENDING_LETTERS.known && key.length - cut >= LEAST_STEM; cut += 1) {
    const stem = key.slice(0, key.length - cut)
    if (!stems.has(stem)) stems.set(stem, english)
  }
}

/** As a query's words are folded. */
function keyOf(text: string, language: Language): string {
  const words = splitText(text.replaceAll('_', ' '))
  return words.map(({ whole }) => whole).join(separatorOf(language))
}

/** A form of a known word: with another ending, or an article before it. */
export function readForm(
  text: string,
  { words, stems, stop }: Lexicon,
  language: Language,
): { english: string; isForm: boolean } | null {
  const bare = text.replace(PREFIXES[language] ?? NO_PREFIX, '')
  if (bare !== text && stop.has(bare)) return null
  for (const form of new Set([bare, text])) {
    const exact = words.get(form)
    if (exact !== undefined) return { english: exact, isForm: false }
    for (let cut = 0; cut <= ENDING_LETTERS.asked && form.length - cut >= LEAST_STEM; cut += 1) {
      const english = stems.get(form.slice(0, form.length - cut))
      if (english !== undefined) return { english, isForm: true }
    }
  }
  return null
}

/** Two words in one: `wettervorhersage`. */
export function readCompound(text: string, { words, stems }: Lexicon): string | null {
  for (let at = text.length - LEAST_STEM; at >= LEAST_STEM; at -= 1) {
    const last = words.get(text.slice(at)) ?? stems.get(text.slice(at))
    if (last === undefined) continue
    for (const link of LINKS) {
      const start = text.slice(0, at - link.length)
      const first = text.slice(0, at).endsWith(link)
        ? (words.get(start) ?? stems.get(start))
        : undefined
      if (first !== undefined) return `${first} ${last}`
    }
  }
  return null
}

/** The known words a stretch without spaces starts with, one behind the other; what is left is an ending. */
export function readPieces(text: string, { words }: Lexicon): string | null {
  const found: string[] = []
  for (let at = 0; at < text.length; ) {
    let end = text.length
    while (end > at + 1 && !words.has(text.slice(at, end))) end -= 1
    const english = words.get(text.slice(at, end))
    if (english === undefined) break
    found.push(english)
    at = end
  }
  return found.length === 0 ? null : found.join(' ')
}
