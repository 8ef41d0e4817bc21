import { cutText } from '../../src/domain/derived/cut-text.ts'
import {
  findTextFault,
  MAX_NAME_LENGTH,
  MAX_SUMMARY_LENGTH,
  MAX_TAG_LENGTH,
} from '../../src/domain/listing/listing-text.ts'
import { findInstruction } from '../text/instruction-like.ts'
import { toPlainText } from '../text/plain-text.ts'
import type { RefusalReason } from './refusal.ts'

const MAX_TAGS = 10

export interface SeedTexts {
  name: string
  summary: string
  /** The whole description as plain text, to guess categories by. */
  description: string
  /** Words that give orders to an agent: for a person to look at first. */
  suspicious?: string
}

interface TextFault {
  reason: RefusalReason
  detail: string
}

/**
 * A name and a summary from foreign words.
 *
 * @param names what a seller is called, best first; the first with words in it is taken
 * @param said what a seller says of itself, likewise
 */
export function toSeedTexts(
  names: readonly (string | null | undefined)[],
  said: readonly (string | null | undefined)[],
): SeedTexts | TextFault {
  const name = cutText(firstReadable(names) ?? '', MAX_NAME_LENGTH)
  if (name === '') return { reason: 'no_name', detail: 'expected a readable title' }
  const description = firstReadable(said)
  if (description === null)
    return { reason: 'no_description', detail: 'expected a sentence in description' }
  const summary = cutText(description, MAX_SUMMARY_LENGTH)
  for (const [field, text] of [['title', name] as const, ['description', summary] as const]) {
    const fault = findTextFault(text)
    if (fault !== null) return { reason: 'misleading_text', detail: `${field}: ${fault}` }
  }
  const order = findInstruction([...names, ...said].filter((text) => text).join(' '))
  return { name, summary, description, ...(order === null ? {} : { suspicious: order }) }
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
  for (const text of texts) {
    const plain = toPlainText(text ?? '')
    if (/[\p{L}\p{N}]/u.test(plain)) return plain
  }
  return null
}
