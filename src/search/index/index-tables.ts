import type { Tables } from '../../domain/derived/tables.ts'
import { weighTaskWords } from '../words/near-tasks.ts'

/** The content tables that an index is made with. */
export function toIndexTables(tables: Tables) {
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
      foreign: tables.foreignWords,
      taskWeights: weighTaskWords(texts),
      tasks: tables.tasks.map(({ id, name, words, like }) => ({
        ...{ id, name, words: [...words, ...(taskWords[id] ?? [])] },
        ...(like !== undefined && { like }),
      })),
    },
  }
}
