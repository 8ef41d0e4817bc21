import { splitText, type Word } from './split-text.ts'
import { GENERIC_WORDS, STOP_WORDS } from './stop-words.ts'
import { toTerm } from './to-term.ts'

/**
 * Marks a token that can be found but doesn't count into its field's length: another spelling of
 * a token that counts already, or a word so generic that it says nothing about length.
 */
export const ALIAS_MARK = '~'

/** Terms that are words of their own somewhere; decides which joined spellings are worth a token. */
export type Vocabulary = ReadonlySet<string>

export interface TokenOptions {
  vocabulary: Vocabulary
  /** Names keep their stop words, so that a search for nothing else can find them. */
  keepStopWords: boolean
}

/** The tokens a text adds to the index. Deterministic; repeated words give repeated tokens. */
export function indexTokens(text: string, options: TokenOptions): string[] {
  const tokens: string[] = []
  const words = splitText(text)
  let previous = ''
  for (const word of words) {
    for (const part of plainParts(word)) {
      addPlain(tokens, part, options)
      addJoined(tokens, previous, part, options)
      previous = part
    }
    for (const alias of aliases(word)) tokens.push(ALIAS_MARK + alias)
  }
  return tokens
}

/** The words of a text that are terms of their own, for the vocabulary. */
export function plainTerms(text: string): string[] {
  return splitText(text).flatMap((word) => plainParts(word).map(toTerm))
}

/** What counts: each word once. CamelCase counts as the one word it is written as. */
function plainParts(word: Word): readonly string[] {
  if (word.style === 'plain' || word.style === 'camel') return [word.whole]
  if (word.style === 'hyphen' && word.parts.some((part) => part.length === 1)) return [word.whole]
  return word.parts
}

function aliases(word: Word): string[] {
  switch (word.style) {
    case 'camel':
      return word.parts.filter((part) => part.length > 1 && !STOP_WORDS.has(part)).map(toTerm)
    case 'hyphen':
      return word.parts.some((part) => part.length === 1) ? [] : [toTerm(word.whole)]
    case 'dotted':
      return [word.whole]
    default:
      return []
  }
}

function addPlain(tokens: string[], part: string, options: TokenOptions): void {
  if (STOP_WORDS.has(part)) {
    if (options.keepStopWords) tokens.push(ALIAS_MARK + part)
    return
  }
  const term = toTerm(part)
  tokens.push(GENERIC_WORDS.has(part) ? ALIAS_MARK + term : term)
}

/** `power point` is also found as `powerpoint` where that is a word of its own. */
function addJoined(tokens: string[], left: string, right: string, options: TokenOptions): void {
  if (left === '' || STOP_WORDS.has(left) || STOP_WORDS.has(right)) return
  const joined = toTerm(left + right)
  if (options.vocabulary.has(joined)) tokens.push(ALIAS_MARK + joined)
}
