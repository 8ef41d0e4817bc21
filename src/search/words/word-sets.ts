import type { SearchWords } from '../../domain/derived/query-words.ts'
import { EFFECTS, type Effect } from '../../domain/wire/vocabulary.ts'
import { createPhraseTable } from './filter-phrases.ts'
import { type Lexicons, shareLexicons } from './foreign-lexicon.ts'
import { stemWord } from './stem-word.ts'

export type WordSets = ReturnType<typeof createWordSets>

const NONE: readonly Related[] = []

/** A row of the table under one of its words. */
interface Related {
  asked: string
  /**
   * Letters a form must have: `translating` is one of `translate`, `account` not of `accounting`.
   */
  least: number
  meant: readonly string[]
}

/** The table of words (`content/tables/search-words.yaml`) as analysis and queries look things up. */
export function createWordSets(words: SearchWords) {
  // Made when the first query asks: a start needn't wait for them.
  let related: ReadonlyMap<string, readonly Related[]> | undefined
  let everyday: ReadonlySet<string> | undefined
  let lexicons: Lexicons | undefined
  let effects: ReadonlyMap<string, Effect> | undefined
  return {
    foreign: () => {
      lexicons ??= shareLexicons(words.foreign)
      return lexicons
    },
    stop: new Set(words.stop),
    generic: new Set(words.generic),
    filler: new Set(words.filler),
    aside: new Set(words.aside),
    /** Whether a word is not a typo, whether or not a listing has it. */
    isEveryday: (word: string): boolean => {
      everyday ??= everydayWords(words)
      return everyday.has(word)
    },
    phrases: createPhraseTable(words.filters),
    excluding: {
      sure: new Set(words.excluding.sure),
      pattern: excludingPattern(words.excluding),
    },
    /** The effect of a call that a query names by this word. */
    effectOf: (word: string): Effect | null => {
      effects ??= new Map(
        EFFECTS.flatMap((effect) => words.effects[effect].map((verb) => [verb, effect] as const)),
      )
      return effects.get(word) ?? null
    },
    isWeakVerb: (word: string): boolean => words.effects.weak.includes(word),
    /** Words listings may use where a query has this one. */
    relatedTo: (word: string): readonly string[] => {
      related ??= relatedWords(words)
      const rows = related.get(stemWord(word))?.filter(({ least }) => word.length >= least) ?? NONE
      return rows.length > 1
        ? [...new Set(rows.flatMap(({ meant }) => meant))]
        : (rows[0]?.meant ?? [])
    },
  }
}

/** A phrase of the table and the small words after it: `but not with the`. */
function excludingPattern({ sure, maybe }: SearchWords['excluding']): RegExp {
  const phrases = [...sure, ...maybe].sort((a, b) => b.length - a.length)
  if (phrases.length === 0) return /(?!)/g
  const small = '(?: (?:a|an|the|with|from|by|via|on|in|using|use|any))*'
  return new RegExp(` (?<written>(?<marker>${phrases.join('|')})${small})(?= )`, 'g')
}

/** The table's rows by the stem of a query's word. */
function relatedWords(words: SearchWords): Map<string, Related[]> {
  const rows = words.related.flatMap(({ asked, meant }) =>
    asked.map((word) => ({ asked: word, least: word.replace(/s$/, '').length, meant })),
  )
  return Map.groupBy(rows, ({ asked }) => stemWord(asked))
}

function everydayWords(words: SearchWords): Set<string> {
  const { everyday, filler, aside, related } = words
  return new Set([
    ...everyday,
    ...filler,
    ...aside,
    ...related.flatMap(({ asked, meant }) => [...asked, ...meant]),
  ])
}
