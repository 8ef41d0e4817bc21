import { smallestOf } from '../../domain/wire/json.ts'
import { hasSingleLetter, splitText, stemWord, type Word } from './split-text.ts'

/** What people say for each task: `words` of `content/tables/tasks.yaml`. */
interface TaskWords {
  id: string
  words: readonly string[]
}

/** A phrase of the table: for each of its words in their order, the stems that say the same. */
interface Phrase {
  task: string
  parts: readonly ReadonlySet<string>[]
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
  'a an the my our your this that these those some any me us it is are http https www'.split(' '),
)
/** Words of one line stand for each other. */
const ALIKE = `
image picture photo photograph pic
email mail
find search look lookup get fetch show locate
make create generate produce
website site
company firm corporation enterprise startup
person somebody someone human people
buy purchase
movie film
hotel accommodation
car vehicle automobile
phone telephone
shop store
house home apartment flat property
job vacancy
delete remove
database db
parcel package shipment
price cost
stock share
euro eur
dollar usd
pound gbp
yen jpy
bitcoin btc
ethereum eth
crypto cryptocurrency
video clip
bicycle bike
llm gpt chatgpt
convert change transform turn
flight fly
pr pull_request
internet web online
`
const CANONICAL: ReadonlyMap<string, string> = new Map(
  ALIKE.trim()
    .split('\n')
    .flatMap((line) => {
      const [first = '', ...others] = line.split(' ').map(stemWord)
      return others.map((other) => [other, first] as const)
    }),
)
const PLAIN = /^\p{ASCII}*$/u
/** Other words that may stand between two of a phrase: `take a full page screenshot`. */
const MAX_BETWEEN = 3
/** What each of them takes off: less than a word counts. */
const OTHER_WORD = 0.1
/** What the verb counts more, where a phrase begins with it as the question does. */
const AT_THE_START = 1

/**
 * Reads which task a text names: the longest phrase of the table whose words it has in that order,
 * at most a few others between them. One that begins where the text does counts for more, as the
 * verb stands there: `translate a weather report` wants a translation.
 */
export function createTaskReader(tasks: readonly TaskWords[]) {
  const read = tasks.flatMap(({ id, words }) => words.map((text) => toPhrase(id, text)))
  const unspaced = read.filter((phrase) => 'pieces' in phrase)
  const phrases = read.filter((phrase) => 'parts' in phrase)
  const using = new Map<string, Set<string>>()
  for (const { task, parts } of phrases)
    for (const stem of parts.flatMap((part) => [...part]))
      using.set(stem, (using.get(stem) ?? new Set()).add(task))
  const usersOf = (stem: string) => using.get(stem)?.size ?? 1
  /** A word of one task alone counts 1, one that all have in common 0. */
  const weightOf = (stem: string) => 1 - Math.log(usersOf(stem)) / Math.log(tasks.length + 1)
  // Phrases lie under the word that fewest have.
  const rareIn = ({ parts }: Phrase) => {
    const users = parts.map((part) => [...part].reduce((sum, stem) => sum + usersOf(stem), 0))
    return parts[users.indexOf(smallestOf(users))] ?? []
  }
  const byWord = new Map<string, Phrase[]>()
  for (const phrase of phrases)
    for (const stem of rareIn(phrase)) {
      const own = byWord.get(stem) ?? []
      if (own.length === 0) byWord.set(stem, own)
      own.push(phrase)
    }
  /** @param opens whether a word may stand before the verb: `please find me …` */
  return (words: readonly Word[], opens: (word: string) => boolean): string | null => {
    const stems = words.flatMap(toStems)
    const first = stems.findIndex(({ text }) => !opens(text))
    const named: NamedTask[] = []
    for (const phrase of new Set(stems.flatMap(({ stem }) => byWord.get(stem) ?? [])))
      for (const at of stems.keys()) {
        const score = matchPhrase(phrase, stems, { start: at, weightOf })
        const start = Number(at <= first) * AT_THE_START
        if (score !== null) named.push({ task: phrase.task, score: score + start, at })
      }
    const run = words.flatMap(({ style, whole }) => (style === 'unspaced' ? whole : [])).join(' ')
    if (run !== '') for (const phrase of unspaced) addUnspaced(named, phrase, run)
    const [best] = named.sort((a, b) => b.score - a.score || a.at - b.at)
    return best?.task ?? null
  }
}

function toPhrase(task: string, text: string): Phrase | UnspacedPhrase {
  const words = PLAIN.test(text) ? [] : splitText(text.replaceAll('|', '_'))
  const isUnspaced = words.some(({ style }) => style === 'unspaced')
  if (isUnspaced) return { task, pieces: words.map(({ whole }) => whole) }
  const parts = text.split(/\s+/).flatMap((part) => {
    if (!part.includes('|')) return stemsOf(part).map((stem) => new Set([stem]))
    const stems = part.split('|').flatMap((word) => stemsOf(word).slice(0, 1))
    return stems.length === 0 ? [] : [new Set(stems)]
  })
  return { task, parts }
}

function stemsOf(text: string): string[] {
  return splitText(text)
    .flatMap(toStems)
    .map(({ stem }) => stem)
}

function canonical(stem: string): string {
  return CANONICAL.get(stem) ?? stem
}

/** A joined word by its parts: `text-to-speech` is three, `e-mail` one. */
function toStems(word: Word): { text: string; stem: string }[] {
  const { whole, parts, style } = word
  // A domain is an argument: `news.example` names no news.
  const isOne =
    style === 'unspaced' || style === 'dotted' || parts.length === 0 || hasSingleLetter(word)
  const texts = isOne ? [whole] : parts
  return texts.flatMap((text) => {
    if (SKIPPED.has(text)) return []
    return { text, stem: canonical(DIRECTIONS[text] ?? stemWord(text)) }
  })
}

/** What the words of a phrase count that begins at a place, others between them taken off; null where it does not. */
function matchPhrase(
  { parts }: Phrase,
  stems: readonly { stem: string }[],
  { start, weightOf }: { start: number; weightOf: (stem: string) => number },
): number | null {
  let next = start
  let score = 0
  for (const [place, part] of parts.entries()) {
    const end = place === 0 ? start + 1 : next + 1 + MAX_BETWEEN
    const from = next
    while (next < end && !part.has(stems[next]?.stem ?? '')) next += 1
    if (next === end) return null
    score += weightOf(stems[next]?.stem ?? '') - (next - from) * OTHER_WORD
    next += 1
  }
  return score
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
