import type { SearchWords } from '../../domain/derived/tables.ts'
import { NETWORK_NAMES, toNetworkId } from '../../domain/listing/networks.ts'
import { EFFECTS, type Effect } from '../../domain/wire/vocabulary.ts'
import { foldText, stemWord, type Word } from './split-text.ts'
import { createTaskReader, readNearTasks } from './task-words.ts'

export type WordSets = ReturnType<typeof createWordSets>

const NONE: readonly Related[] = []
/** Lists whose words may come before a task's verb. */
const OPENING = ['stop', 'generic', 'filler'] as const

/** A row in the table, filed under one of its words. */
interface Related {
  requested: string
  meant: readonly string[]
}

let latest: { text: string; sets: WordSets } | undefined

/**
 * @param text the table that is stored in an index. Both indexes of a release have the same table,
 *   and so does nearly every later release
 */
export function readWordSets(text: string): WordSets {
  if (latest?.text !== text) latest = { text, sets: createWordSets(JSON.parse(text)) }
  return latest.sets
}

/** The word table (`content/tables/search-words.yaml`), prepared for analysis and queries. */
export function createWordSets(words: SearchWords) {
  // Made by the first query that needs it, so that no start waits for it.
  let related: ReadonlyMap<string, readonly Related[]> | undefined
  let everyday: ReadonlySet<string> | undefined
  let effects: ReadonlyMap<string, Effect> | undefined
  const isOpening = (word: string) => OPENING.some((name) => words[name].includes(word))
  return {
    ...createTaskSets(words, isOpening),
    foreign: words.foreign,
    stop: new Set(words.stop),
    generic: new Set(words.generic),
    filler: new Set(words.filler),
    aside: new Set(words.aside),
    /** Whether a word is known not to be a typo, even if no listing has it. */
    isEveryday: (word: string): boolean => {
      everyday ??= everydayWords(words)
      return everyday.has(word)
    },
    phrases: createPhraseTable(words.filters),
    excluding: {
      sure: new Set(words.excluding.sure),
      pattern: excludingPattern(words.excluding),
    },
    /** A call's effect, if this word in a query names one. */
    effectOf: (word: string): Effect | null => {
      effects ??= new Map(
        EFFECTS.flatMap((effect) => words.effects[effect].map((verb) => [verb, effect] as const)),
      )
      return effects.get(word) ?? null
    },
    isWeakVerb: (word: string): boolean => words.effects.weak.includes(word),
    /** Whether a word only leads up to a task: `please`, `I need an`. */
    isOpening,
    /** Words that listings may use instead of a query's word. */
    relatedTo: (word: string): readonly string[] => {
      related ??= relatedWords(words)
      const rows = related.get(stemWord(word)) ?? NONE
      return rows.length > 1
        ? [...new Set(rows.flatMap(({ meant }) => meant))]
        : (rows[0]?.meant ?? [])
    },
  }
}

/** The table's tasks: those that a query names or comes close to, and the services known for each. */
function createTaskSets(words: SearchWords, isOpening: (word: string) => boolean) {
  let readTask: TaskReader | undefined
  let names: ReadonlyMap<string, string> | undefined
  let likes: ReadonlyMap<string, readonly string[]> | undefined
  return {
    /** The id of the task that the words name, see `createTaskReader`; null if they name none. */
    taskOf: (stated: readonly Word[]): string | null => {
      readTask ??= createTaskReader(words.tasks)
      return readTask(stated, isOpening)
    },
    /** The tasks whose texts share words with the query, the nearest first, see `readNearTasks`. */
    tasksNear: (stated: readonly Word[]) => readNearTasks(words, stated),
    /** A task's name, by which its listings are found too; its id in words if the table lacks the task. */
    taskName: (id: string): string => {
      names ??= new Map(words.tasks.map((task) => [task.id, task.name]))
      return names.get(id) ?? id.replaceAll('_', ' ')
    },
    /** The tasks for which a name is known, by `like` in the table. */
    tasksLike: (name: string): readonly string[] => {
      likes ??= tasksByName(words)
      return likes.get(toName(name)) ?? []
    },
    /** The names known for a task, by `like` in the table. */
    knownFor: (id: string): readonly string[] =>
      words.tasks.find((task) => task.id === id)?.like ?? [],
  }
}

function tasksByName({ tasks }: SearchWords): Map<string, string[]> {
  const rows = tasks.flatMap(({ id, like = [] }) =>
    like.map((name) => ({ name: toName(name), id })),
  )
  const byName = Map.groupBy(rows, ({ name }) => name)
  return new Map([...byName].map(([name, own]) => [name, own.map(({ id }) => id)]))
}

/** The name as people write it: `Booking.com` is also known as `booking`. */
function toName(text: string): string {
  return foldText(text)
    .replace(/\.(?:com|io|ai|dev|org)$/, '')
    .replace(/[\s.-]+/g, '')
}

/** Matches a phrase in the table and the small words after it: `but not with the`. */
function excludingPattern({ sure, maybe }: SearchWords['excluding']): RegExp {
  const phrases = [...sure, ...maybe].sort((a, b) => b.length - a.length)
  if (phrases.length === 0) return /(?!)/g
  const small = '(?: (?:a|an|the|with|from|by|via|on|in|using|use|any))*'
  return new RegExp(` (?<written>(?<marker>${phrases.join('|')})${small})(?= )`, 'g')
}

/** The table's rows by the stem of a query's word. */
function relatedWords(words: SearchWords): Map<string, Related[]> {
  const rows = words.related.flatMap(({ requested, meant }) =>
    requested.map((word) => ({ requested: word, meant })),
  )
  return Map.groupBy(rows, ({ requested }) => stemWord(requested))
}

function everydayWords(words: SearchWords): Set<string> {
  const { everyday, filler, aside, related } = words
  return new Set([
    ...everyday.flatMap((words) => words.split(' ')),
    ...filler,
    ...aside,
    ...related.flatMap(({ requested, meant }) => [...requested, ...meant]),
  ])
}

/** Words in a query that sound like a filter, and the parameter that they mean. */
export interface FilterPhrase {
  written: string
  parameter: string
  value: string
}

const NUMBERS = 'a an one two three four five six seven eight nine ten'.split(' ')
/** `under one cent`, `at most 0.10 dollars a call`. */
const PRICE = [
  '(?:for )?(?:under|below|within|max|maximum|(?:no more|not more|less|cheaper) than|at most|up to)',
  `(?<amount>\\d{1,4}(?:\\.\\d{1,6})?|${NUMBERS.join('|')})`,
  '(?<unit>cent|dollar|usdc?|buck)s?(?: (?:a|per|each|calls?|requests?|image|message|use)\\b){0,2}',
].join(' ')
/** `on solana`. */
const NETWORK = `(?:on|via|over) (?<network>${longestFirst(NETWORK_NAMES).join('|')})`
/** Puts `base sepolia` before `base`. */
function longestFirst(texts: readonly string[]): string[] {
  return texts.toSorted((a, b) => b.length - a.length)
}

/** First words of prices and networks. */
const STARTS = 'for under below within max maximum no not less cheaper at up on via over'.split(' ')
const STEPS = 1e6

type PhraseTable = ReturnType<typeof createPhraseTable>

/** The meaning of each phrase in the table (`runs=local`), and a pattern for phrases, prices and networks. */
function createPhraseTable(rows: SearchWords['filters']) {
  const uses = new Map(rows.flatMap(({ words, use }) => words.map((phrase) => [phrase, use])))
  const kinds = [PRICE, NETWORK, ...longestFirst([...uses.keys()])].join('|')
  // Most queries contain none of these.
  const starts = new Set([...uses.keys()].map((phrase) => phrase.replace(/ .*/, '')))
  for (const start of STARTS) starts.add(start)
  return { uses, starts, pattern: new RegExp(` (?<written>${kinds})(?= |$)`, 'g') }
}

/** The phrases in a query that sound like a filter, found by their words. */
export function findPhrases(
  words: readonly Word[],
  { uses, starts, pattern }: PhraseTable,
): Map<Word, FilterPhrase> {
  const found = new Map<Word, FilterPhrase>()
  const texts = words.map(({ whole, parts, style }) =>
    style === 'dotted' ? parts.join('.') : whole,
  )
  if (!texts.some((text) => starts.has(text))) return found
  // Each word gets a space before it: the pattern starts with a space, and so is found quickly.
  const text = ['', ...texts].join(' ')
  for (const { index, groups = {} } of text.matchAll(pattern)) {
    const { written = '' } = groups
    const [parameter = '', value = ''] = uses.get(written)?.split('=') ?? toUse(groups)
    const first = text.slice(0, index).split(' ').length - 1
    const phrase = { written, parameter, value }
    for (const word of words.slice(first, first + written.split(' ').length))
      found.set(word, phrase)
  }
  return found
}

function toUse({ amount = '', unit, network }: Record<string, string>): string[] {
  if (network !== undefined) return ['network', toNetworkId(network) ?? '']
  const named = NUMBERS.indexOf(amount)
  const number = named < 0 ? Number(amount) : Math.max(1, named - 1)
  const usd = Math.round(number * (unit === 'cent' ? 0.01 : 1) * STEPS) / STEPS
  return ['max_price_usd', String(usd)]
}

type TaskReader = ReturnType<typeof createTaskReader>
