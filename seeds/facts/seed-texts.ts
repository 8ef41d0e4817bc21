import type { Operation } from '../../src/domain/listing/listing-facts.ts'
import {
  findTextFault,
  MAX_NAME_LENGTH,
  MAX_SUMMARY_LENGTH,
  MAX_TAG_LENGTH,
} from '../../src/domain/listing/listing-text.ts'
import { isJsonObject } from '../../src/domain/wire/json.ts'
import { cutText } from '../../src/domain/wire/text.ts'
import { findInstruction, toPlainText } from '../text/plain-text.ts'
import { type Fault, faultOf } from './refusal.ts'

const MAX_TAGS = 10

export interface SeedTexts {
  name: string
  summary: string
  /** The whole description as plain text, to guess categories by. */
  description: string
  /** Words that give orders to an agent: for a reviewer to see first. */
  suspicious?: string
}

/**
 * A name and a summary from foreign words.
 *
 * @param names a seller's names, best first; the first with words in it is used
 * @param stated a seller's own descriptions, likewise
 */
export function toSeedTexts(
  names: readonly (string | null | undefined)[],
  stated: readonly (string | null | undefined)[],
): SeedTexts | Fault {
  const name = cutText(firstReadable(names) ?? '', MAX_NAME_LENGTH)
  if (name === '') return faultOf('no_name', 'expected a readable title')
  const description = firstReadable(stated)
  if (description === null) return faultOf('no_description', 'expected a sentence in description')
  const summary = cutText(description, MAX_SUMMARY_LENGTH)
  for (const [field, text] of Object.entries({ title: name, description: summary })) {
    const fault = findTextFault(text)
    if (fault !== null) return faultOf('misleading_text', `${field}: ${fault}`)
  }
  const suspicious = findInstruction([...names, ...stated].filter((text) => text).join(' '))
  return { name, summary, description, ...(suspicious !== null && { suspicious }) }
}

/** Foreign words as tags: readable, short, each once. */
export function toSeedTags(words: readonly unknown[]): string[] {
  const tags = words
    .filter((word) => typeof word === 'string')
    .slice(0, 100)
    .map((word) => toPlainText(word).toLowerCase())
    .filter((tag) => tag !== '' && tag.length <= MAX_TAG_LENGTH && findTextFault(tag) === null)
    .filter((tag) => findInstruction(tag) === null)
  return [...new Set(tags)].slice(0, MAX_TAGS)
}

/** A short text such as an operation's description; null where nothing readable is left. */
export function toSeedLine(text: unknown, maxLength: number): string | null {
  if (typeof text !== 'string') return null
  const line = cutText(toPlainText(text), maxLength)
  const isFine =
    /[\p{L}\p{N}]/u.test(line) && findTextFault(line) === null && findInstruction(text) === null
  return isFine ? line : null
}

function firstReadable(texts: readonly (string | null | undefined)[]): string | null {
  const plain = texts.map((text) => toPlainText(text ?? ''))
  return plain.find((text) => /[\p{L}\p{N}]/u.test(text)) ?? null
}

const MAX_DESCRIPTION = 300
/** How deep an operation is scanned; anything deeper is removed. */
const MAX_DEPTH = 15

/** Members that only people and agents read. */
const WORDS: ReadonlySet<string> = new Set(['description', 'title', '$comment'])
/** Members below which every name is the seller's own. */
const NAMES: ReadonlySet<string> = new Set(['properties', '$defs', 'definitions'])

/**
 * A seller's operations with only plain words: orders to an agent, forged letters and non-text are
 * removed, in a parameter's description and deep in a schema as in any other text. Examples are
 * data that a call sends, and stay as they are.
 */
export function withPlainWords(operations: readonly Operation[]): Operation[] {
  // Only words are removed: every shape stays as it was.
  return operations.map((operation) => toPlain(operation, 0) as Operation)
}

/** @param place the member that holds it */
function toPlain(value: unknown, depth: number, place = ''): unknown {
  if (depth > MAX_DEPTH) return {}
  if (Array.isArray(value)) return value.map((each) => toPlain(each, depth + 1))
  if (!isJsonObject(value)) return value
  const isNames = NAMES.has(place)
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) => {
      if (!isNames && name === 'example') return [[name, member]]
      if (isNames || !WORDS.has(name) || typeof member !== 'string')
        return [[name, toPlain(member, depth + 1, isNames ? '' : name)]]
      const line = toSeedLine(member, MAX_DESCRIPTION)
      return line === null ? [] : [[name, line]]
    }),
  )
}
