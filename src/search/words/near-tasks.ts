import type { SearchWords } from '../../domain/derived/tables.ts'
import { BM25_K1, inverseDocumentFrequency } from '../../domain/search/search-rank.ts'
import type { Word } from './split-text.ts'
import { readPart, toStems } from './task-words.ts'

/** What people say for a task, in phrases and in whole questions. */
interface TaskTexts {
  id: string
  texts: readonly string[]
}

/** A task that words are near, the nearest first. */
export interface NearTask {
  task: string
  /** BM25 of the words over all texts of the task. */
  score: number
}

/** Tasks have texts of like length: they count for less than those of listings. */
const LENGTH = 0.4
/** Shares are written in hundredths. */
const STEPS = 100

/**
 * Which words are whose: for each stem the tasks whose texts have it, and what it scores there before
 * idf, as `place:share place:share` in hundredths. A task is a document of all its texts; of words
 * between `|` each counts for less.
 */
export function weighTaskWords(tasks: readonly TaskTexts[]): Record<string, string> {
  const count = createStemCounter()
  const counts = tasks.map(({ texts }) => count(texts))
  const lengths = counts.map((count) => [...count.values()].reduce((sum, times) => sum + times, 0))
  const average = lengths.reduce((sum, length) => sum + length, 0) / Math.max(1, tasks.length)
  const holders = new Map<string, string[]>()
  for (const [place, counted] of counts.entries()) {
    const norm = BM25_K1 * (1 - LENGTH + (LENGTH * (lengths[place] ?? 0)) / average)
    for (const [stem, times] of counted) {
      const share = Math.round(((times * (BM25_K1 + 1)) / (times + norm)) * STEPS)
      const own = holders.get(stem) ?? []
      holders.set(stem, own)
      own.push(`${place}:${share}`)
    }
  }
  return Object.fromEntries([...holders].map(([stem, own]) => [stem, own.join(' ')]))
}

function createStemCounter() {
  // The same parts stand in text after text.
  const known = new Map<string, ReturnType<typeof readPart>>()
  return (texts: readonly string[]): Map<string, number> => {
    const count = new Map<string, number>()
    for (const part of texts.flatMap((text) => text.split(/\s+/))) {
      const parts = known.get(part) ?? readPart(part)
      known.set(part, parts)
      for (const stems of parts)
        for (const stem of stems) count.set(stem, (count.get(stem) ?? 0) + stems.size ** -0.5)
    }
    return count
  }
}

/** The tasks whose texts share words with these, the nearest first. */
export function readNearTasks(
  { tasks, taskWeights }: Pick<SearchWords, 'tasks' | 'taskWeights'>,
  words: readonly Word[],
): NearTask[] {
  const scores = new Float64Array(tasks.length)
  for (const stem of new Set(words.flatMap(toStems).map(({ stem }) => stem))) {
    const holders = holdersOf(taskWeights, stem)
    const idf = inverseDocumentFrequency(tasks.length, holders.length / 2) / STEPS
    for (let at = 0; at < holders.length; at += 2) {
      const place = holders[at] ?? 0
      scores[place] = (scores[place] ?? 0) + idf * (holders[at + 1] ?? 0)
    }
  }
  return tasks
    .map(({ id }, place) => ({ task: id, score: scores[place] ?? 0 }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || (a.task < b.task ? -1 : 1))
}

const NOBODY = new Uint16Array(0)
/** By table, the stems that questions had: reading them takes longer than adding them up. */
const read = new WeakMap<object, Map<string, Uint16Array>>()

/** Places and shares by turns. */
function holdersOf(weights: SearchWords['taskWeights'], stem: string): Uint16Array {
  if (!Object.hasOwn(weights, stem)) return NOBODY
  const known = read.get(weights) ?? new Map<string, Uint16Array>()
  read.set(weights, known)
  const holders = known.get(stem) ?? Uint16Array.from((weights[stem] ?? '').split(/[ :]/), Number)
  known.set(stem, holders)
  return holders
}
