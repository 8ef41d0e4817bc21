import { cutText } from '../../src/domain/derived/cut-text.ts'
import {
  findTextFault,
  MAX_NAME_LENGTH,
  MAX_SUMMARY_LENGTH,
  MAX_TAG_LENGTH,
} from '../../src/domain/listing/listing-text.ts'
import type { Operation, Param } from '../../src/domain/listing/operation.ts'
import { isJsonObject } from '../../src/domain/wire/parse-json.ts'
import { findInstruction, toPlainText } from '../text/plain-text.ts'
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

/** Characters of one description. */
const MAX_DESCRIPTION = 300
/** How deep a schema is looked through; what lies deeper goes. */
const MAX_DEPTH = 12

/** Members of a JSON Schema that only people and agents read. */
const WORDS: ReadonlySet<string> = new Set(['description', 'title', '$comment'])

/**
 * A seller's operations with plain words alone: what gives orders to an agent, forges letters or is
 * no text goes, in a parameter's description and deep in a schema as in any other text.
 */
export function withPlainWords(operations: readonly Operation[]): Operation[] {
  return operations.map(({ description, params, body, response, ...rest }) => ({
    ...rest,
    ...lineOf(description),
    ...(params !== undefined && { params: params.map(toPlainParam) }),
    ...(body !== undefined && { body: toPlainPayload(body) }),
    ...(response !== undefined && { response: toPlainPayload(response) }),
  }))
}

function toPlainParam({ description, schema, ...rest }: Param): Param {
  return { ...rest, ...lineOf(description), ...schemaOf(schema) }
}

type Payload = NonNullable<Operation['body']>

function toPlainPayload({ schema, ...rest }: Payload): Payload {
  return { ...rest, ...schemaOf(schema) }
}

function lineOf(description: string | undefined): { description?: string } {
  const line = description === undefined ? null : toSeedLine(description, MAX_DESCRIPTION)
  return line === null ? {} : { description: line }
}

function schemaOf(schema: Record<string, unknown> | undefined): {
  schema?: Record<string, unknown>
} {
  const plain = schema === undefined ? undefined : toPlainSchema(schema, 0)
  return isJsonObject(plain) ? { schema: plain } : {}
}

/** @param place the member it stands under: below `properties` every name is the seller's own */
function toPlainSchema(value: unknown, depth: number, place = ''): unknown {
  if (depth > MAX_DEPTH) return {}
  if (Array.isArray(value)) return value.map((each) => toPlainSchema(each, depth + 1))
  if (!isJsonObject(value)) return value
  const isNames = place === 'properties' || place === '$defs' || place === 'definitions'
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) => {
      if (isNames || !WORDS.has(name) || typeof member !== 'string')
        return [[name, toPlainSchema(member, depth + 1, isNames ? '' : name)]]
      const line = toSeedLine(member, MAX_DESCRIPTION)
      return line === null ? [] : [[name, line]]
    }),
  )
}
