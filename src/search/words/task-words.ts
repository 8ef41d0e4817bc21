import { hasSingleLetter, isUnspaced, splitText, stemWord, type Word } from './split-text.ts'

/** What people say for each task, by both tables, `tasks.yaml` and `task-words.yaml`. */
interface TaskWords {
  id: string
  words: readonly string[]
}

/** For each word of a phrase in their order, the stems that say the same. */
type Parts = readonly ReadonlySet<string>[]

/** A phrase of the table. Of most no text has the first word: only that is read before one does. */
interface Phrase {
  task: string
  text: string
  parts?: Parts
}

/** In scripts without spaces, pieces of text in their order. */
interface UnspacedPhrase {
  task: string
  pieces: readonly string[]
}

/** A task that words name: how many of them, and the place of the first. */
interface NamedTask {
  task: string
  score: number
  at: number
}

/** Of two words that say the same direction, one stands for both. */
const DIRECTIONS: Readonly<Record<string, string>> = {
  into: 'to',
  as: 'to',
  for: 'of',
  from: 'of',
}
const SKIPPED = new Set(
  'a an the my our your this that these those some any me us it is are'.split(' '),
)
/** Other words that may stand between two of a phrase: `take a full page screenshot`. */
const MAX_BETWEEN = 3
/** What each of them takes off: less than a word counts. */
const OTHER_WORD = 0.1

export type TaskReader = ReturnType<typeof createTaskReader>

/**
 * Reads which task a text names: the longest phrase of the table whose words it has in that order,
 * at most a few others between them. One that begins where the text does counts for more, as the
 * verb stands there: `translate a weather report` wants a translation.
 */
export function createTaskReader(tasks: readonly TaskWords[]) {
  const phrases = new Map<string, Phrase[]>()
  const unspaced: UnspacedPhrase[] = []
  // The same parts stand in phrase after phrase.
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
  /** @param opens whether a word may stand before the verb: `please find me …` */
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
    // Names and formats stand between: `网页转pdf`.
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

/** Stems of one word, of each part of a joined one, or of words of which one is enough (`|`). */
export function readPart(part: string): Parts {
  if (!part.includes('|')) return stemsOf(part).map((stem) => new Set([stem]))
  return [new Set(part.split('|').flatMap((word) => stemsOf(word).slice(0, 1)))]
}

function stemsOf(text: string): string[] {
  return splitText(text)
    .flatMap(toStems)
    .map(({ stem }) => stem)
}

/** A joined word by its parts: `text-to-speech` is three, `e-mail` one. */
export function toStems(word: Word): { text: string; stem: string }[] {
  const { whole, parts, style } = word
  // A domain is an argument: `news.example` names no news.
  const isOne =
    style === 'unspaced' || style === 'dotted' || parts.length === 0 || hasSingleLetter(word)
  const texts = isOne ? [whole] : parts
  return texts.flatMap((text) => {
    if (SKIPPED.has(text)) return []
    return { text, stem: DIRECTIONS[text] ?? stemWord(text) }
  })
}

/** How many words of the text a phrase takes from a place on, others between them counted off; 0 where it is not there. */
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

/** As many words as pieces of two letters each. */
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
