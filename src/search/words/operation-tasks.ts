import type { TaskRow } from '../../domain/tasks/task.ts'
import { smallestOf } from '../../domain/wire/json.ts'
import { splitText, stemWord } from './split-text.ts'

/** The words of an operation or tool that say what it does. */
interface NamedOperation {
  /** A tool's name and title, or the path of an address. */
  name: string
  description?: string | undefined
  kind: 'operation' | 'tool'
}

/** The listing it belongs to. */
interface NamedListing {
  id: string
  name?: string | undefined
  tags?: readonly string[] | undefined
  categories?: readonly string[] | undefined
}

interface Phrase {
  task: string
  /** Of each word one of these. */
  parts: readonly (readonly string[])[]
  /** The same of the listing's words. */
  within: readonly (readonly string[])[]
  without: readonly string[]
}

/** Words of a sentence that are read: what it does stands first. */
const READ_WORDS = 9
const IGNORED = new Set(['api', 'mpp', 'x402', 'v0', 'v1', 'v2', 'v3', 'tool', 'tools', 'mcp'])
/** What a word of the listing counts, beside 1 for a word of the operation. */
const OF_LISTING = 0.75
const IN_NAME = 0.5
const DIRECTION = ' to '
/** A server has tools of all kinds: one word of a name is not enough, unless the server has it too. */
const LEAST = { operation: 1, tool: 2.4 }

/**
 * Which task an operation does, by `does` of `content/tables/tasks.yaml`: the phrase with most words
 * that its name has all of, or else its sentence; null where none has. Of two equal ones the first
 * counts. Importers write it as `task`, and people correct it there.
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

/** The path of an address, as words; what isn't percent-encoding stays as it is written. */
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

/** In any order; `to` says a direction, and then the order is the phrase's. */
function hasAll(text: string, parts: Phrase['parts']): boolean {
  if (!parts.some(([word]) => word === DIRECTION))
    return parts.every((words) => hasOne(text, words))
  let rest = text
  for (const words of parts) {
    const places = words.map((word) => rest.indexOf(word)).filter((place) => place >= 0)
    if (places.length === 0) return false
    // The space behind a word is the one before the next.
    rest = rest.slice(smallestOf(places) + 1)
  }
  return true
}

function hasOne(text: string, words: readonly string[]): boolean {
  return words.some((word) => text.includes(word))
}

/** Stems with a space around each, so that words side by side are a part of the text. */
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
