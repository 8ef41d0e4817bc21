import type { ForeignWords } from '../../domain/derived/foreign-words.ts'
import { splitText } from './split-text.ts'

export type Language = ForeignWords['languages'][number]

/** Words of one language by how they are written, and by how forms of them start. */
export interface Lexicon {
  words: Map<string, string>
  stems: Map<string, string>
  stop: Set<string>
}

/** Letters that may differ at the end of a form: of the word that is known, and of the one asked. */
export const ENDING_LETTERS = { known: 2, asked: 3 }
export const LEAST_STEM = 4
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
