import type { ForeignWords } from '../../domain/derived/query-words.ts'
import { splitText } from './split-text.ts'

export type Language = ForeignWords['languages'][number]

/**
 * What a text means: English words, or null for a stop word; `isForm` where only its start is known.
 * `letters` where not all of the text was read.
 */
export interface Meaning {
  english: string | null
  isForm: boolean
  letters?: number
}

/** The table in one language: texts as they are written, and as forms of them start. */
export interface Lexicon {
  language: Language
  meanings: Map<string, Meaning>
  /** What phrases of several words start with. */
  phrases: Set<string>
}

/** The table, to be looked up. A language is made when a query first needs it: most need four of ten. */
export interface Lexicons {
  /** Languages of the table. */
  size: number
  get(language: Language): Lexicon | undefined
}

/** Letters that may differ at the end of a form: of the word that is known, and of the one asked. */
const ENDING_LETTERS = { known: 2, asked: 3 }
const LEAST_STEM = 4
/** Prefixes that are written together with a word. */
const PREFIXES: Partial<Record<Language, RegExp>> = {
  ar: /^(?:[وف]?(?:بال|كال|ال|لل)|[وفبل])(?=..)/u,
}
/** Languages in which the platform finds word boundaries; spaces in them mean nothing. */
export const UNSPACED: ReadonlySet<Language> = new Set<Language>(['zh', 'ja', 'ko'])

/** Separators between the words of a phrase. */
export function separatorOf(language: Language): string {
  return UNSPACED.has(language) ? '' : ' '
}

export function emptyLexicon(language: Language): Lexicon {
  return { language, meanings: new Map(), phrases: new Set() }
}

let latest: { table: string; lexicons: Lexicons } | undefined

/** Both indexes of a release have one table, and so has nearly every release after it. */
export function shareLexicons(words: ForeignWords): Lexicons {
  const table = JSON.stringify(words)
  if (latest?.table !== table) latest = { table, lexicons: createLexicons(words) }
  return latest.lexicons
}

function createLexicons(table: ForeignWords): Lexicons {
  const made = new Map<Language, Lexicon>()
  return {
    size: table.languages.length,
    get(language) {
      if (!table.languages.includes(language)) return undefined
      const lexicon = made.get(language) ?? createLexicon(table, language)
      made.set(language, lexicon)
      return lexicon
    },
  }
}

function createLexicon({ languages, stop, words }: ForeignWords, language: Language): Lexicon {
  const lexicon = emptyLexicon(language)
  for (const text of (stop[language] ?? '').split(/\s+/))
    lexicon.meanings.set(keyOf(text, lexicon), { english: null, isForm: false })
  for (const [english, row] of Object.entries(words))
    row.split('|').forEach((texts, at) => {
      if ((languages[at] ?? 'zh') !== language) return
      for (const text of texts.split(',')) addMeaning(lexicon, keyOf(text, lexicon), english)
    })
  return lexicon
}

function addMeaning({ meanings, phrases }: Lexicon, key: string, english: string): void {
  // A language of which the row has no word.
  if (key === '') return
  const known = meanings.get(key)
  if (known === undefined || known.isForm || known.english === null)
    meanings.set(key, { english, isForm: false })
  for (const start of startsOf(key, ENDING_LETTERS.known))
    if (!meanings.has(start)) meanings.set(start, { english, isForm: true })
  const [first = '', ...others] = key.split(' ')
  if (others.length === 0) return
  // The noun comes first where `de` joins two, and takes the plural: `tremblements de terre`.
  const plural = ['de', 'd'].includes(others[0] ?? '') ? [`${first}s`] : []
  for (const start of [first, ...plural]) {
    phrases.add(start)
    meanings.set([start, ...others].join(' '), meanings.get(key) ?? { english, isForm: false })
  }
}

/** A text, and what is left of it without its last letters. */
function startsOf(text: string, letters = ENDING_LETTERS.asked): string[] {
  const most = Math.min(letters, text.length - LEAST_STEM)
  return [text, ...Array.from({ length: Math.max(0, most) }, (_, at) => text.slice(0, -at - 1))]
}

/** As a query's words are folded. */
function keyOf(text: string, { language }: Lexicon): string {
  const words = splitText(text.replaceAll('_', ' '))
  return words.map(({ whole }) => whole).join(separatorOf(language))
}

function withoutPrefix(text: string, language: Language): string {
  const prefix = PREFIXES[language]
  return prefix === undefined ? text : text.replace(prefix, '')
}

/** A known word, or a form of one: with another ending, or an article before it. */
export function readForm(text: string, { meanings, language }: Lexicon): Meaning | null {
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

/** Two words in one: `wettervorhersage`. */
export function readCompound(text: string, { meanings }: Lexicon): Meaning | null {
  for (let at = text.length - LEAST_STEM; at >= LEAST_STEM; at -= 1) {
    const first = meanings.get(text.slice(0, at))?.english
    const last = meanings.get(text.slice(at))?.english
    if (typeof first === 'string' && typeof last === 'string')
      return { english: `${first} ${last}`, isForm: false }
  }
  return null
}

/** The known words a run without spaces starts with, in sequence; the rest is an ending. */
export function readPieces(text: string, { meanings }: Lexicon): Meaning | null {
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
