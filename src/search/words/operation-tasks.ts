import type { TaskRow } from '../../domain/tasks/task.ts'
import { smallestOf } from '../../domain/wire/json.ts'
import { splitText, stemWord } from './split-text.ts'

/** The words in an operation or tool that show what it does. */
interface NamedOperation {
  /** A tool's name and title, or the path in an operation's address. */
  name: string
  description?: string | undefined
  kind: 'operation' | 'tool'
}

/** The listing to which the operation or tool belongs. */
interface NamedListing {
  id: string
  name?: string | undefined
  tags?: readonly string[] | undefined
  categories?: readonly string[] | undefined
}

interface Phrase {
  task: string
  /** The alternatives for each word in the phrase. */
  parts: readonly (readonly string[])[]
  /** The alternatives for each word that the listing must have. */
  within: readonly (readonly string[])[]
  without: readonly string[]
}

/** How many words of a description are read: the verb is among the first. */
const READ_WORDS = 9
const IGNORED = new Set(['api', 'mpp', 'x402', 'v0', 'v1', 'v2', 'v3', 'tool', 'tools', 'mcp'])
/** The score for a word that only the listing has; a word in the operation scores 1. */
const OF_LISTING = 0.75
const IN_NAME = 0.5
const DIRECTION = ' to '
/**
 * The least score. A server has tools of all kinds, so one word in a tool's name is enough only if
 * the server's name has it too.
 */
const LEAST = { operation: 1, tool: 2.4 }

/**
 * The task that an operation does, by the phrases under `does` in `content/tables/tasks.yaml`. The phrase with the most
 * words decides, if all of them are in the name or, failing that, in the description; the first of equally long phrases.
 * Null if no phrase fits. Importers write the result as `task`, where people can correct it.
 */
export function createTaskFinder(tasks: readonly Pick<TaskRow, 'id' | 'does'>[]) {
  const phrases = tasks.flatMap(({ id, does = [] }) => does.map((text) => toPhrase(id, text)))
  return (operation: NamedOperation, listing: NamedListing): string | null => {
    const { id, name = '', tags = [], categories = [] } = listing
    const texts = {
      named: toText(operation.name),
      stated: toText(operation.description ?? '', READ_WORDS),
      around: toText([id.replace(/^\w+\./, ''), name, ...tags, ...categories].join(' ')),
    }
    let found: { phrase: Phrase; score: number } | null = null
    for (const phrase of phrases) {
      const score = scoreOf(phrase, texts)
      if (score > (found?.score ?? 0)) found = { phrase, score }
    }
    if (found === null) return null
    const { phrase, score } = found
    const isSure = score + Number(hasAll(texts.around, phrase.parts)) >= LEAST[operation.kind]
    return isSure ? phrase.task : null
  }
}

/** An address's path as words; parts that aren't valid percent-encoding stay as written. */
export function toPathName(url: string): string {
  const path = url.replace(/^https?:\/\/[^/]*/, '').replace(/[?#].*/, '')
  return path.replace(/(?:%[\da-f]{2})+/gi, decodeOrKeep).replaceAll('/', ' ')
}

function decodeOrKeep(encoded: string): string {
  try {
    return decodeURIComponent(encoded)
  } catch {
    return encoded
  }
}

interface Texts {
  named: string
  stated: string
  around: string
}

function scoreOf({ parts, within, without }: Phrase, { named, stated, around }: Texts): number {
  if (!within.every((words) => hasOne(around, words))) return 0
  if (hasOne(named, without) || hasOne(stated, without)) return 0
  const score = parts.length + within.length * OF_LISTING
  if (hasAll(named, parts)) return score + IN_NAME
  return parts.length > 1 && hasAll(stated, parts) ? score : 0
}

/** Whether a text has all words, in any order; with `to`, which shows a direction, in the phrase's order. */
function hasAll(text: string, parts: Phrase['parts']): boolean {
  if (!parts.some(([word]) => word === DIRECTION))
    return parts.every((words) => hasOne(text, words))
  let rest = text
  for (const words of parts) {
    const places = words.map((word) => rest.indexOf(word)).filter((place) => place >= 0)
    if (places.length === 0) return false
    // The space after a word is also the space before the next.
    rest = rest.slice(smallestOf(places) + 1)
  }
  return true
}

function hasOne(text: string, words: readonly string[]): boolean {
  return words.some((word) => text.includes(word))
}

/** Stems with spaces around them, so that consecutive words are a substring. */
function toText(text: string, most = Number.POSITIVE_INFINITY): string {
  const words = splitText(text.replaceAll('_', ' '))
    .flatMap(({ whole, parts }) => (parts.length === 0 ? [whole] : parts))
    .filter((word) => !IGNORED.has(word))
  return ` ${words.slice(0, most).map(stemWord).join(' ')} `
}

function toPhrase(task: string, text: string): Phrase {
  const words = text.split(/\s+/)
  const oneOf = (word: string) => word.split('|').map((each) => toText(each))
  return {
    task,
    parts: words.filter((word) => !/^[@-]/.test(word)).map(oneOf),
    within: words.flatMap((word) => (word.startsWith('@') ? [oneOf(word.slice(1))] : [])),
    without: words.flatMap((word) => (word.startsWith('-') ? oneOf(word.slice(1)) : [])),
  }
}
