import { readQuestionFacts } from '../../domain/arguments/question-facts.ts'
import { NOTE_PHRASES } from '../../domain/search/note-phrases.ts'
import { MAX_QUERY_CHARACTERS } from '../../domain/search/search-parameters.ts'
import { TERM_WEIGHTS } from '../../domain/search/search-rank.ts'
import type { IndexNoun, KnownTerm, SearchIndex } from '../index/index-file.ts'
import { taskTerm } from '../index/search-document.ts'
import { findTerm, readPostings, rowsOf } from '../index/terms.ts'
import { splitText, type Word } from '../words/split-text.ts'
import type { NearTask } from '../words/task-words.ts'
import { type FilterPhrase, findPhrases, type WordSets } from '../words/word-sets.ts'
import { countriesOf, type ReadQuery, readForeign } from './foreign-words.ts'
import {
  closestWords,
  lookUpPair,
  lookUpWord,
  type QueryTerm,
  tryWord,
  unitsOf,
} from './known-terms.ts'
import {
  belongingWords,
  excludedNotes,
  findExcluded,
  isLong,
  MAX_SHORT_WORDS,
} from './long-and-excluded.ts'

/** The search plan for a query text: terms, each once, and notes for the caller. */
export interface QueryPlan {
  terms: readonly PlanTerm[]
  notes: readonly string[]
  /** The id of the task that the query names (`tasks.yaml`); null if it names none. */
  task: string | null
  /** The terms of each word, if the query names a task and says more; otherwise none. */
  detailed: () => readonly (readonly number[])[]
  /** Words that sound like a filter. */
  phrases: readonly FilterPhrase[]
  /** Names of excluded sellers. */
  excluded: readonly KnownTerm[]
  /** The notes on words that no listing has. */
  missing: readonly string[]
  /** Close words that listings have, for a note if nothing is found. */
  closest: () => readonly string[]
}

export interface PlanTerm extends KnownTerm {
  /** The query's words that led to the term. */
  requested: string
  /** The term's weight, see `TERM_WEIGHTS`. */
  weight: number
}

/** How many meaningful words are read in a query at most, and how many terms are searched for at most. */
const MAX_QUERY_WORDS = 128
const MAX_TERMS = 96
/** How many typos are corrected: a query with more typos gains nothing from guesses. */
const MAX_REPAIRS = 4
/** The words in a long query that name its task; inputs and outputs come after them. */
const LEADING_WORDS = 3
const NO_WORD = 'The query has no word to search for.'
const MAX_LISTED = 6
/** A task with this score (BM25, see `readNearTasks`) shares about three rare words with the query. */
const SURELY_NEAR = 12
const ABOUT_AS_NEAR = 0.8
const MUCH_NEARER = 2
const MAX_NEAR = 3

/** Chooses terms: words that listings have, corrected typos, and words that belong together. */
export function planQuery(index: SearchIndex, query: string): QueryPlan {
  const written = splitText(writeOutPrices(firstCharacters(query)))
  const read = readForeign(index, written)
  const { words, excluded } = findExcluded(index, joinWords(index, read.words))
  const { kept: named, notes, phrases } = leaveOut(words, index)
  const taken = named.slice(0, MAX_QUERY_WORDS)
  const taskWords = withoutAside(index, taken)
  const kept = belongingWords(index, taskWords, words)
  const isForeign = read.language !== null
  const symbols = symbolsOf(firstCharacters(query))
  const queryTerms = readTaskWords(index, kept, { mayRepair: !isForeign, symbols })
  // A translated word is already a word used in listings.
  const related = queryTerms.map((term) => (isForeign ? [] : relatedTerms(index, term)))
  const originals = readQueryTerms(index, read.originals)
  const story = kept.length < taken.length ? readQueryTerms(index, taken) : []
  const { near, ...tasks } = readTasks(index, { queryTerms, read, written, phrases })
  const noted = { queryTerms, related, values: tasks.task === null ? null : symbols }
  const { missing, notes: found } = queryTermNotes(index.noun, noted)
  const countries = readCountries(index, read, { missing, task: tasks.task })
  const terms = [
    ...termsOf(index, queryTerms, related, isLong(kept)),
    ...originals.flatMap((term) => ownTerms(term, () => TERM_WEIGHTS.part)),
    ...storyTerms(story),
    ...taskTerms(index, tasksSought(near, tasks)),
    ...countries.terms,
  ]
  return {
    terms: withoutRepeats(terms).slice(0, MAX_TERMS),
    notes: [
      ...[...missing, ...excludedNotes(index, excluded), ...read.notes, ...countries.notes],
      ...(kept.length < taskWords.length ? [storyNote(kept, index.noun)] : notes),
      ...unreadNotes(named.length - taken.length),
      ...[...joinNotes(read.words, kept), ...found],
    ],
    ...tasks,
    excluded,
    missing,
    closest: () => closestTo(index, queryTerms),
  }
}

/** Symbols of shares: `AAPL` is no slip of another word. Reading a question's facts costs as much as ranking it. */
function symbolsOf(query: string): ReadonlySet<string> {
  const tickers = /[A-Z]{2}/.test(query) ? readQuestionFacts(query, 0).tickers : []
  return new Set(tickers.map((ticker) => ticker.toLowerCase()))
}

interface Read {
  queryTerms: readonly QueryTerm[]
  read: ReadQuery
  written: readonly Word[]
  phrases: readonly FilterPhrase[]
}

/** The task that the words name once typos are corrected, and the tasks close to the words in meaning. */
function readTasks({ words }: SearchIndex, { queryTerms, read, written, phrases }: Read) {
  const slips = new Map(
    queryTerms.flatMap(({ requested, repaired }) =>
      repaired === undefined ? [] : [[requested, repaired.written] as const],
    ),
  )
  const mended = read.words.flatMap((word) => {
    const right = slips.get(word.whole)
    return right === undefined ? word : splitText(right)
  })
  const near = words.tasksNear(mended)
  const naming = read.language === null ? mended : written
  // Task phrases are in many languages; a question's own word (`document`) may name a task less well than its translation.
  const ways = [words.taskOf(naming), ...(read.language === null ? [] : [words.taskOf(mended)])]
  const nearnessOf = (id: string | null) => near.find(({ task }) => task === id)?.score ?? 0
  const named = ways.reduce((a, b) => (a === null || nearnessOf(b) > nearnessOf(a) ? b : a))
  // Words that name the task are not a filter: `is this domain name still free`.
  const without = (written: string) => naming.filter(({ whole }) => whole !== written)
  const filters = phrases.filter(({ written: phrase }) => {
    const others = without(phrase)
    return others.length === naming.length || words.taskOf(others) === named
  })
  const task = chooseTask(named, near)
  const isBeside = ({ requested, repaired }: QueryTerm) => {
    const others = without(repaired?.written ?? requested)
    // A translated word is none of those that named the task, so nothing is beside it.
    return others.length < naming.length && words.taskOf(others) === task
  }
  const detailed = () =>
    task !== null && queryTerms.some(isBeside) ? termsOfWords(queryTerms) : []
  return { near, phrases: filters, task, detailed }
}

/** The numbers of each known word's terms. */
function termsOfWords(queryTerms: readonly QueryTerm[]): number[][] {
  return queryTerms
    .filter(({ terms }) => terms.some(({ rows }) => rows > 0))
    .map(({ terms }) => terms.map(({ number }) => number))
}

interface SoughtTask {
  task: string
  weight: number
}

/** The nearest tasks, and the one that the question names: a question that says more is less about its task. */
function tasksSought(
  near: readonly NearTask[],
  { task, detailed }: Pick<QueryPlan, 'task' | 'detailed'>,
): SoughtTask[] {
  const { requested, named } = TERM_WEIGHTS
  const best = nearest(near).slice(0, MAX_NEAR)
  return [
    ...best.map((each) => ({ task: each.task, weight: requested })),
    ...(task === null ? [] : [{ task, weight: detailed().length > 0 ? named : requested }]),
  ]
}

/** A term for each of these tasks, so that its listings are found even if they have none of the words. */
function taskTerms(index: SearchIndex, sought: readonly SoughtTask[]): PlanTerm[] {
  return sought.flatMap(({ task, weight }) => {
    const text = taskTerm(task)
    const number = findTerm(index.terms, text)
    const rows = rowsOf(index.terms, number)
    const name = index.words.taskName(task)
    const term = { text, written: name, requested: name, number, rows }
    return rows === 0 ? [] : [{ ...term, weight }]
  })
}

/**
 * Terms for the countries of places that the question names. Without a place, its language implies a country,
 * but only if a service for the task names that country, and every word is known: an unknown one may be a place.
 */
function readCountries(
  index: SearchIndex,
  { words, originals, language }: ReadQuery,
  { missing, task }: { missing: readonly string[]; task: string | null },
) {
  const texts = [...words, ...originals]
  const toTerms = (spoken: ReadQuery['language']) =>
    countriesOf(texts, spoken).flatMap((country) => asRelated(index, country, [country]))
  const named = toTerms(null)
  const done = task === null ? -1 : findTerm(index.terms, taskTerm(task))
  const doing = new Set(readPostings(index.terms, done).rows)
  const isServed = ({ number }: PlanTerm) =>
    task === null || readPostings(index.terms, number).rows.some((row) => doing.has(row))
  const isRead = named.length > 0 || missing.length > 0
  const terms = isRead ? named : toTerms(language).filter(isServed)
  const why =
    named.length > 0 ? 'the question names a place there' : 'the question is in its language'
  const countries = listOf(terms.map(({ written }) => written))
  return { terms, notes: terms.length === 0 ? [] : [`Also looked for ${countries}: ${why}.`] }
}

/** Terms with lower weights for the words around the task, in a query that tells a story. */
function storyTerms(story: readonly QueryTerm[]): PlanTerm[] {
  return story.flatMap((term) => ownTerms(term, (weight) => weight * TERM_WEIGHTS.story))
}

function closestTo(index: SearchIndex, queryTerms: readonly QueryTerm[]): string[] {
  return queryTerms.flatMap(({ requested, unknown }) =>
    unknown ? closestWords(index, requested) : [],
  )
}

/**
 * The task whose phrase is in the query, unless another task is much nearer to all its words: in a story the
 * phrase may be a side remark. Without a phrase, the nearest task, if no other is about as near.
 */
function chooseTask(named: string | null, near: readonly NearTask[]): string | null {
  const best = nearest(near)
  const [first] = best
  if (first === undefined) return named
  const own = near.find(({ task }) => task === named)?.score ?? 0
  if (named !== null && first.score < MUCH_NEARER * own) return named
  return best.length === 1 ? first.task : null
}

/** The nearest task, if the words are clearly close to it, and every task about as close. */
function nearest(near: readonly NearTask[]): readonly NearTask[] {
  const [first] = near
  if (first === undefined || first.score < SURELY_NEAR) return []
  return near.filter(({ score }) => score > ABOUT_AS_NEAR * first.score)
}

/** The words, except those for time, degree and manner: these say little about a task but are in names too. */
function withoutAside({ words: { aside } }: SearchIndex, words: readonly Word[]) {
  const taskWords = words.filter(({ whole }) => !aside.has(whole))
  return taskWords.length > 0 ? taskWords : words
}

/** In a long query only the first words name the task; later words are its details. */
function readTaskWords(index: SearchIndex, kept: readonly Word[], repair: Repair): QueryTerm[] {
  const queryTerms = readQueryTerms(index, kept, repair)
  if (!isLong(kept)) return queryTerms
  const details = queryTerms.slice(LEADING_WORDS).map((queryTerm) => ({
    ...queryTerm,
    terms: queryTerm.terms.map((term) => ({ ...term, weight: term.weight * TERM_WEIGHTS.detail })),
  }))
  return [...queryTerms.slice(0, LEADING_WORDS), ...details]
}

function unreadNotes(count: number): string[] {
  if (count === 0) return []
  return [`Read only the first ${MAX_QUERY_WORDS} words of the query; left out ${count} more.`]
}

function ownTerms({ requested, terms }: QueryTerm, weigh = (weight: number) => weight): PlanTerm[] {
  return terms.map((term) => ({ ...term, requested, weight: weigh(term.weight) }))
}

/** All search terms for the analysed words. */
function termsOf(
  index: SearchIndex,
  queryTerms: readonly QueryTerm[],
  related: readonly PlanTerm[][],
  isStory = false,
): PlanTerm[] {
  // Among many words some are adjacent by chance.
  const weight = TERM_WEIGHTS.pair * (isStory ? TERM_WEIGHTS.story : 1)
  const pairs = pairTerms(index, queryTerms, weight)
  return [...queryTerms.flatMap((queryTerm) => ownTerms(queryTerm)), ...pairs, ...related.flat()]
}

/** Notes on words that were typed apart but treated as one. */
function joinNotes(words: readonly Word[], kept: readonly Word[]): string[] {
  return kept
    .filter((word) => !words.includes(word))
    .map(({ whole, parts }) => `Read “${parts.join(' ')}” as “${whole}” too.`)
}

function storyNote(kept: readonly Word[], noun: IndexNoun): string {
  const words = listOf(
    kept.map(({ whole }) => whole),
    kept.length,
  )
  return `The query is long: searched for ${words}, the words in it that ${noun}s use together; its other words count less.`
}

/** Whether typos are corrected, and the words that are none. */
interface Repair {
  mayRepair: boolean
  symbols: ReadonlySet<string>
}

function readQueryTerms(
  index: SearchIndex,
  words: readonly Word[],
  { mayRepair, symbols }: Repair = { mayRepair: false, symbols: new Set() },
): QueryTerm[] {
  const queryTerms: QueryTerm[] = []
  words.forEach((word, at) => {
    const slips = queryTerms.filter((queryTerm) => queryTerm.repaired !== undefined).length
    const isLast = mayRepair && at === words.length - 1
    const maySlip = mayRepair && slips < MAX_REPAIRS && !symbols.has(word.whole)
    const rules = { isLast, maySlip }
    for (const queryTerm of unitsOf(index, word, rules)) queryTerms.push(queryTerm)
  })
  return queryTerms
}

function firstCharacters(text: string): string {
  if (text.length <= MAX_QUERY_CHARACTERS) return text
  return [...text.slice(0, 2 * MAX_QUERY_CHARACTERS)].slice(0, MAX_QUERY_CHARACTERS).join('')
}

/** Pairs of words that are neighbours both in the query and in listings. */
function pairTerms(
  index: SearchIndex,
  queryTerms: readonly QueryTerm[],
  weight: number,
): PlanTerm[] {
  const named = queryTerms.flatMap(({ requested, term }) =>
    term === undefined ? [] : [{ requested, term }],
  )
  return named.slice(1).flatMap(({ requested, term }, at) => {
    const before = named[at]
    if (before === undefined) return []
    const pair = lookUpPair(index, before.term, term)
    return pair.rows === 0
      ? []
      : [{ ...pair, requested: `${before.requested} ${requested}`, weight }]
  })
}

/** Words that listings may use instead of this part of the query. */
function relatedTerms(index: SearchIndex, { requested, term, repaired }: QueryTerm): PlanTerm[] {
  if (term === undefined) return []
  return asRelated(index, requested, index.words.relatedTo(repaired?.written ?? requested))
}

function asRelated(index: SearchIndex, requested: string, words: readonly string[]): PlanTerm[] {
  return words
    .map((word) => ({ ...lookUpWord(index, word), requested, weight: TERM_WEIGHTS.related }))
    .filter(({ rows }) => rows > 0)
}

/** Each term once, with the highest of its weights. */
function withoutRepeats(terms: readonly PlanTerm[]): PlanTerm[] {
  const heaviest = new Map<string, PlanTerm>()
  for (const term of terms) {
    const other = heaviest.get(term.text)
    if (other === undefined || other.weight < term.weight) heaviest.set(term.text, term)
  }
  return [...heaviest.values()]
}

interface Noted {
  queryTerms: readonly QueryTerm[]
  related: readonly PlanTerm[][]
  /** Symbols in the question, if it names a task; null if it names none. */
  values: ReadonlySet<string> | null
}

/** Whether a word is a value for the task's call, such as a place or a language, which no listing needs to name. */
function isValue(word: string, symbols: Noted['values']): boolean {
  if (symbols === null) return false
  const { places, languages, currencies, coins, countries, numbers } = readQuestionFacts(
    `to ${word}`,
    0,
  )
  const values = [places, Object.values(languages), currencies, coins, countries, numbers]
  return symbols.has(word) || values.some(({ length }) => length > 0)
}

/** Notes on the words that were searched for instead of a word that no listing has. */
function queryTermNotes(
  noun: IndexNoun,
  { queryTerms, related, values }: Noted,
): { missing: string[]; notes: string[] } {
  if (queryTerms.length === 0) return { missing: [], notes: [NO_WORD] }
  const repairs = new Set(queryTerms.flatMap(({ repaired }) => repaired?.written ?? []))
  const shown = repairs.size > 0 ? [`Showing results for ${listOf([...repairs])}.`] : []
  const notes = queryTerms.flatMap(({ requested, unknown }, at) => {
    const used = related[at] ?? []
    if (unknown === undefined || used.length === 0) return []
    return [
      `No ${noun} matches “${requested}”; searched for ${listOf(used.map(({ written }) => written))}.`,
    ]
  })
  const missing = queryTerms.flatMap(({ requested, unknown }, at) =>
    unknown && related[at]?.length === 0 && !isValue(requested, values) ? requested : [],
  )
  return {
    missing: missing.length > 0 ? [`No ${noun} matches ${listOf([...new Set(missing)])}.`] : [],
    notes: [...shown, ...new Set(notes)],
  }
}

/** Quotes the first words for a note, and says how many more there are. */
export function listOf(words: readonly string[], most = MAX_LISTED): string {
  const shown = words.slice(0, most).map((word) => `“${word}”`)
  const more = words.length - shown.length
  return more > 0 ? `${shown.join(', ')} and ${more} more` : shown.join(', ')
}

type LeftOutIndex = Pick<SearchIndex, 'words' | 'noun'>

/** Leaves out meaningless words in steps, and stops before a step that would leave none. */
export function leaveOut(words: readonly Word[], { words: sets, noun }: LeftOutIndex) {
  const phrases = findPhrases(words, sets.phrases)
  const steps: ((word: Word) => boolean)[] = [
    (word) => phrases.has(word) || sets.stop.has(word.whole),
    ({ whole }) => sets.generic.has(whole),
    ({ whole }) => sets.filler.has(whole),
  ]
  let kept = words
  for (const isLeftOut of steps) {
    const rest = kept.filter((word) => !isLeftOut(word))
    if (rest.length > 0) kept = rest
  }
  const out = words.filter((word) => !kept.includes(word))
  return {
    kept,
    // The notes leave out stop words, and joined words that nobody typed.
    notes: notesOf(out, { sets, noun, phrases }),
    phrases: [...new Set(out.flatMap((word) => phrases.get(word) ?? []))],
  }
}

function notesOf(
  out: readonly Word[],
  {
    sets,
    noun,
    phrases,
  }: { sets: WordSets; noun: string; phrases: ReadonlyMap<Word, FilterPhrase> },
): string[] {
  const plain = out.filter(
    (word) => !phrases.has(word) && !sets.stop.has(word.whole) && word.parts.length === 0,
  )
  const stated = [...new Set(plain.map(({ whole }) => `“${whole}”`))]
  return stated.length > 0
    ? [`Left out ${stated.join(', ')}: ${NOTE_PHRASES.tooCommon} ${noun}s apart.`]
    : []
}

/**
 * Joins words that listings write more often as one word than side by side. `speech to text` is joined
 * because listings hyphenate it. Words in nearly every listing are not joined, nor are two small
 * words; in a long text, in which words are adjacent by chance, not even one may be small.
 */
function joinWords(index: SearchIndex, words: readonly Word[]): Word[] {
  const joined: Word[] = []
  const mostSmall = mostSmallOf(words.length)
  for (let at = 0; at < words.length; ) {
    const found =
      joinNext(index, words.slice(at, at + 3), mostSmall) ??
      joinNext(index, words.slice(at, at + 2), mostSmall)
    const next = found ?? words[at]
    if (next !== undefined) joined.push(next)
    at += found?.parts.length ?? 1
  }
  return joined
}

/** How many of the joined words may be small. */
function mostSmallOf(words: number): number {
  if (words > MAX_SHORT_WORDS) return 0
  return words > 2 ? 1 : 2
}

function joinNext(index: SearchIndex, words: readonly Word[], mostSmall: number): Word | null {
  const { stop, generic } = index.words
  const parts = words.map(({ whole }) => whole)
  const [left, middle, right] = parts
  if (left === undefined || middle === undefined) return null
  if (!words.every(({ style, whole }) => style === 'plain' && !generic.has(whole))) return null
  if (right !== undefined && !stop.has(middle)) return null
  const small = parts.filter((part) => stop.has(part)).length
  if (right === undefined && small > mostSmall) return null
  const whole = parts.join('')
  const { rows } = tryWord(index, whole)
  if (rows === 0) return null
  const apart = lookUpPair(index, lookUpWord(index, left), lookUpWord(index, middle)).rows
  return right !== undefined || rows >= apart ? { whole, parts, style: 'hyphen' } : null
}

/** A currency sign next to a number becomes a word after it: `$0.10` is `0.10 dollars`. */
function writeOutPrices(text: string): string {
  return text.replace(/\$\s?(\d+(?:[.,]\d+)?)|(\d+(?:[.,]\d+)?)\s?[¢$]/g, (sign, before, after) => {
    const amount = String(before ?? after).replace(',', '.')
    return `${amount} ${sign.endsWith('¢') ? 'cents' : 'dollars'}`
  })
}
