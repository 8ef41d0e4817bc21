import type { Operation } from '../../src/domain/listing/listing-facts.ts'
import { findTextFault } from '../../src/domain/listing/listing-text.ts'
import { isJsonObject } from '../../src/domain/wire/json.ts'
import { cutText } from '../../src/domain/wire/text.ts'

/** A short text such as an operation's description; null if nothing readable is left. */
export function toSeedLine(text: unknown, maxLength: number): string | null {
  if (typeof text !== 'string') return null
  const line = cutText(toPlainText(text), maxLength)
  const isFine =
    /[\p{L}\p{N}]/u.test(line) && findTextFault(line) === null && findInstruction(text) === null
  return isFine ? line : null
}

const MAX_DESCRIPTION = 300
/** How deep an operation is scanned; anything deeper is removed. */
const MAX_DEPTH = 15

/** Members whose text is prose for people and agents. */
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

/** @param place the name of the member that has the value */
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

/** Longer input is cut before any pattern runs over it, so that no pattern can be made slow. */
const MAX_INPUT = 8000

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  hellip: '…',
  ndash: '–',
  mdash: '—',
}

/**
 * Markdown or HTML that somebody else wrote, as one line of plain text: tags are removed (scripts and styles with
 * their code), links keep their words, entities become characters, unreadable characters are dropped.
 * @example toPlainText('<sup>1</sup> **Fast** [search](https://x.example)') → '1 Fast search'
 */
export function toPlainText(foreign: string): string {
  const text = foreign.slice(0, MAX_INPUT)
  return dropUnreadable(decodeEntities(stripMarkdown(stripHtml(text))))
    .replace(/\s+/g, ' ')
    .trim()
}

/** Only what looks like a tag is removed: "a < b" and "<$5" are text. */
function stripHtml(text: string): string {
  return text
    .replace(/<!--[\s\S]*?-->/g, ' ')
    .replace(/<(script|style)\b[^<>]*>[\s\S]*?<\/\1\s*>/gi, ' ')
    .replace(/<br\s*\/?>|<\/(?:p|li|h[1-6]|div|tr)>/gi, ' ')
    .replace(/<\/?[a-z][^<>]{0,2000}>/gi, '')
}

function stripMarkdown(text: string): string {
  return (
    text
      .replace(/^[ \t]*(?:```|~~~).*$/gm, ' ')
      .replace(/!\[([^\]]{0,500})\]\((?:[^()]|\([^()]{0,500}\)){0,2000}\)/g, '$1')
      .replace(/\[([^\]]{0,500})\]\((?:[^()]|\([^()]{0,500}\)){0,2000}\)/g, '$1')
      .replace(/^[ \t]{0,3}(?:#{1,6}|>|[-*+]|\d{1,3}[.)])[ \t]+/gm, '')
      .replace(/`+/g, '')
      .replace(/(\*{2,3})(?=\S)([^*]{1,500}?)(?<=\S)\1/g, '$2')
      .replace(/(?<![\p{L}\p{N}*])\*(?=\S)([^*]{1,500}?)(?<=\S)\*(?![\p{L}\p{N}*])/gu, '$1')
      .replace(/(\*{2,3})(?=\S)([^*]{1,500}?)(?<=\S)\1/g, '$2')
      .replace(/(?<![\p{L}\p{N}_])(_{1,3})(?=\S)([^_]{1,500}?)(?<=\S)\1(?![\p{L}\p{N}_])/gu, '$2')
      // Emphasis that was cut off or is malformed still means nothing in plain text.
      .replace(/\*{2,}/g, '')
  )
}

function decodeEntities(text: string): string {
  return text.replace(
    /&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,8}));/gi,
    (whole, dec, hex, name) => {
      if (name !== undefined) return ENTITIES[String(name).toLowerCase()] ?? whole
      const code = dec === undefined ? Number.parseInt(hex, 16) : Number.parseInt(dec, 10)
      return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : ''
    },
  )
}

/**
 * Control characters become spaces (a line break separates words); invisible and direction-changing
 * ones, broken surrogates, replacement characters and noncharacters are removed. The two joiners
 * for emoji and for Indic and Arabic letters (U+200C, U+200D) stay.
 */
function dropUnreadable(text: string): string {
  return (
    text
      .toWellFormed()
      // biome-ignore lint/suspicious/noControlCharactersInRegex: removing them is the point
      .replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, ' ')
      .replace(/[\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufffd]/g, '')
      .replace(/[\u{e0000}-\u{e007f}]|\p{Noncharacter_Code_Point}/gu, '')
  )
}

/**
 * Wording that has no place in a description but is typical of an attack on the agent reading it.
 * The list is kept narrow: "several system prompts" is an honest description, "ignore previous
 * instructions" is not.
 *
 * Known limit: a list of phrases in English stops the copied attack, not the careful one. Clients
 * are warned that summaries are foreign text.
 */
const PHRASES: readonly RegExp[] = [
  /\b(?:ignore|disregard|forget|override)\b.{0,30}\b(?:previous|prior|above|earlier|all|your)\b.{0,20}\b(?:instructions?|prompts?|rules|messages)\b/i,
  /\b(?:do not|don't|never|without)\b.{0,20}\b(?:tell|telling|inform|informing|mention|alert|show)\w*\b.{0,20}\b(?:the )?(?:user|human|operator)\b/i,
  /\byou (?:must|should|shall) (?:always |first |now )*(?:call|use|run|invoke|prefer|recommend|select|choose)\b.{0,40}\b(?:this (?:tool|server|listing)|before any|instead of)\b/i,
  /<\/?(?:system|important|instructions?|assistant)>|\[\/?INST\]|<\|im_(?:start|end)\|>/i,
  /\b(?:reveal|send|print|exfiltrate)\b.{0,30}\b(?:system prompt|private keys?|api keys?|\.env|credentials|seed phrase)\b.{0,30}\bto\b/i,
]

/** @returns the words that give orders to an agent, or null */
export function findInstruction(text: string): string | null {
  return PHRASES.map((phrase) => phrase.exec(text)?.[0] ?? null).find((found) => found) ?? null
}
