import type { SearchWords } from '../../domain/derived/tables.ts'
import { BM25_K1, inverseDocumentFrequency } from '../../domain/search/search-rank.ts'
import { hasSingleLetter, isUnspaced, splitText, stemWord, type Word } from './split-text.ts'

/** The words that people use for each task, from both tables, `tasks.yaml` and `task-words.yaml`. */
interface TaskWords {
  id: string
  words: readonly string[]
}

/** For each word in a phrase, in order, the stems of all words that mean the same. */
type Parts = readonly ReadonlySet<string>[]

/** A phrase in the table. Only its first word is read until a text has that word; most texts don't. */
interface Phrase {
  task: string
  text: string
  parts?: Parts
}

/** A phrase in a script without spaces: pieces of text in order. */
interface UnspacedPhrase {
  task: string
  pieces: readonly string[]
}

/** A task named in a text, with its score (the number of words) and the position of the first word. */
interface NamedTask {
  task: string
  score: number
  at: number
}

/** Maps different words for one direction to a single word. */
const DIRECTIONS: Readonly<Record<string, string>> = {
  into: 'to',
  as: 'to',
  for: 'of',
  from: 'of',
}
const SKIPPED = new Set(
  'a an the my our your this that these those some any me us it is are'.split(' '),
)
/** How many other words may be between two words of a phrase: `take a full page screenshot`. */
const MAX_BETWEEN = 3
/** How much each word in between lowers the score, in words. */
const OTHER_WORD = 0.1

/**
 * Finds the task that a text names: the task with the longest phrase whose words the text has in
 * the phrase's order, with at most a few others between them. A phrase at the start of the text
 * scores more, because the verb is there: `translate a weather report` wants a translation.
 */
export function createTaskReader(tasks: readonly TaskWords[]) {
  const phrases = new Map<string, Phrase[]>()
  const unspaced: UnspacedPhrase[] = []
  // Many phrases have the same parts.
  const known = new Map<string, Parts>()
  const read = (part: string): Parts => {
    const parts = known.get(part) ?? readPart(part)
    known.set(part, parts)
    return parts
  }
  const add = (phrase: Phrase) => {
    const parts = phrase.text.split(/\s+/)
    const first = parts.find((part) => read(part).length > 0) ?? ''
    for (const stem of read(first)[0] ?? []) {
      const own = phrases.get(stem)
      if (own === undefined) phrases.set(stem, [phrase])
      else own.push(phrase)
    }
  }
  for (const { id, words } of tasks)
    for (const text of words)
      if (isUnspaced(text)) unspaced.push(toUnspaced(id, text))
      else add({ task: id, text })
  /** @param opens whether a word may come before the verb: `please find me …` */
  return (words: readonly Word[], opens: (word: string) => boolean): string | null => {
    const stems = words.flatMap(toStems)
    const first = stems.findIndex(({ text }) => !opens(text))
    const named = stems.flatMap(({ stem }, at) =>
      (phrases.get(stem) ?? []).flatMap((phrase): NamedTask[] => {
        phrase.parts ??= phrase.text.split(/\s+/).flatMap(read)
        const score = matchPhrase(phrase.parts, stems, at)
        return score === 0 ? [] : [{ task: phrase.task, score: score + Number(at <= first), at }]
      }),
    )
    // Names and formats may come between the pieces: `网页转pdf`.
    const run = words.map(({ whole }) => whole).join(' ')
    if (words.some(({ style }) => style === 'unspaced'))
      for (const phrase of unspaced) addUnspaced(named, phrase, run)
    const [best] = named.sort((a, b) => b.score - a.score || a.at - b.at)
    return best?.task ?? null
  }
}

function toUnspaced(task: string, text: string): UnspacedPhrase {
  return { task, pieces: splitText(text.replaceAll('|', '_')).map(({ whole }) => whole) }
}

/** The stems of one word, of each part of a joined word, or of alternatives joined by `|`. */
export function readPart(part: string): Parts {
  if (!part.includes('|')) return stemsOf(part).map((stem) => new Set([stem]))
  return [new Set(part.split('|').flatMap((word) => stemsOf(word).slice(0, 1)))]
}

function stemsOf(text: string): string[] {
  return splitText(text)
    .flatMap(toStems)
    .map(({ stem }) => stem)
}

/** The parts of a joined word: `text-to-speech` has three, `e-mail` one. */
export function toStems(word: Word): { text: string; stem: string }[] {
  const { whole, parts, style } = word
  // A domain is an argument: `news.example` does not mean news.
  const isOne =
    style === 'unspaced' || style === 'dotted' || parts.length === 0 || hasSingleLetter(word)
  const texts = isOne ? [whole] : parts
  return texts.flatMap((text) => {
    if (SKIPPED.has(text)) return []
    return { text, stem: DIRECTIONS[text] ?? stemWord(text) }
  })
}

/**
 * How many words of a phrase the text has from a position on, minus a little for each other word
 * between them; 0 if one is missing.
 */
function matchPhrase(parts: Parts, stems: readonly { stem: string }[], start: number): number {
  let at = start
  for (let place = 1; place < parts.length; place += 1) {
    const last = at + 1 + MAX_BETWEEN
    do at += 1
    while (at <= last && !parts[place]?.has(stems[at]?.stem ?? ''))
    if (at > last) return 0
  }
  const others = at - start + 1 - parts.length
  return parts.length - others * OTHER_WORD
}

/** Scores the pieces as words of two letters each. */
function addUnspaced(named: NamedTask[], { task, pieces }: UnspacedPhrase, run: string): void {
  let end = 0
  let letters = 0
  for (const piece of pieces) {
    const found = run.indexOf(piece, end)
    if (found < 0) return
    end = found + piece.length
    letters += piece.length
  }
  named.push({ task, score: letters / 2, at: run.indexOf(pieces[0] ?? '') })
}

/** Texts in which people ask for a task: phrases and whole questions. */
interface TaskTexts {
  id: string
  texts: readonly string[]
}

/** A task close in meaning to a query's words. */
export interface NearTask {
  task: string
  /** The words' BM25 score over all texts for the task. */
  score: number
}

/** Shares are written in hundredths. */
const STEPS = 100

/**
 * For each stem, the tasks whose texts have it, each with the stem's score before idf, as
 * `place:share place:share` in hundredths. All texts for a task make one document, and documents
 * are of similar length. Alternatives joined by `|` each score less.
 */
export function weighTaskWords(tasks: readonly TaskTexts[]): Record<string, string> {
  const count = createStemCounter()
  const counts = tasks.map(({ texts }) => count(texts))
  const holders = new Map<string, string[]>()
  for (const [place, counted] of counts.entries())
    for (const [stem, times] of counted) {
      const share = Math.round(((times * (BM25_K1 + 1)) / (times + BM25_K1)) * STEPS)
      const own = holders.get(stem) ?? []
      holders.set(stem, own)
      own.push(`${place}:${share}`)
    }
  return Object.fromEntries([...holders].map(([stem, own]) => [stem, own.join(' ')]))
}

function createStemCounter() {
  // Many texts have the same parts.
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

/** The tasks whose texts share words with the query, the nearest first. */
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
/** The parsed weights of stems in past queries, by table: parsing takes longer than adding them up. */
const read = new WeakMap<object, Map<string, Uint16Array>>()

/** A stem's places and shares, alternating. */
function holdersOf(weights: SearchWords['taskWeights'], stem: string): Uint16Array {
  if (!Object.hasOwn(weights, stem)) return NOBODY
  const known = read.get(weights) ?? new Map<string, Uint16Array>()
  read.set(weights, known)
  const holders = known.get(stem) ?? Uint16Array.from((weights[stem] ?? '').split(/[ :]/), Number)
  known.set(stem, holders)
  return holders
}
