import { splitText, type Word } from './split-text.ts'
import { GENERIC_WORDS, STOP_WORDS } from './stop-words.ts'
import { toTerm } from './to-term.ts'

/**
 * Marks a token that can be found but doesn't count into its field's length: another spelling of
 * words that count already, or a word so generic that it says nothing about length.
 */
export const ALIAS_MARK = '~'

/** Terms and pairs that stand in at least two listings; rarer spellings aren't worth a token. */
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
      addPlain(tokens, part, options.keepStopWords)
      addJoined(tokens, previous, part, options.vocabulary)
      previous = part
    }
    for (const alias of aliases(word, options.vocabulary)) tokens.push(ALIAS_MARK + alias)
  }
  for (const pair of pairsIn(words)) {
    if (options.vocabulary.has(pair)) tokens.push(ALIAS_MARK + pair)
  }
  return tokens
}

/**
 * The terms and pairs of a text, for the vocabulary.
 * @param onWord told each word as it is written, with its term
 */
export function vocabularyTerms(
  text: string,
  onWord: (term: string, word: string) => void,
): string[] {
  const words = splitText(text)
  const terms = words.flatMap(plainParts).map((part) => {
    const term = toTerm(part)
    onWord(term, part)
    return term
  })
  return [...terms, ...pairsIn(words)]
}

/**
 * The term of two neighbours, in either order: `price of ethereum` and `ethereum price` share one.
 * The leading space keeps pairs apart from words, in a prefix search too.
 */
export function pairTerm(a: string, b: string): string {
  return a < b ? ` ${a} ${b}` : ` ${b} ${a}`
}

/** What counts: each word once. CamelCase counts as the one word it is written as. */
function plainParts(word: Word): readonly string[] {
  if (word.style === 'plain' || word.style === 'camel') return [word.whole]
  if (word.style === 'hyphen' && hasSingleLetter(word)) return [word.whole]
  return word.parts
}

/** `e-mail` and `t-shirt` are words; `time-series` is two. */
export function hasSingleLetter(word: Word): boolean {
  return word.parts.some((part) => part.length === 1)
}

function addPlain(tokens: string[], part: string, keepStopWords: boolean): void {
  if (STOP_WORDS.has(part)) {
    if (keepStopWords) tokens.push(ALIAS_MARK + part)
    return
  }
  tokens.push(GENERIC_WORDS.has(part) ? ALIAS_MARK + toTerm(part) : toTerm(part))
}

/** `power point` is also found as `powerpoint` where that is a word of its own. */
function addJoined(tokens: string[], left: string, right: string, vocabulary: Vocabulary): void {
  if (left === '' || STOP_WORDS.has(left) || STOP_WORDS.has(right)) return
  const joined = toTerm(left + right)
  if (vocabulary.has(joined)) tokens.push(ALIAS_MARK + joined)
}

function aliases(word: Word, vocabulary: Vocabulary): string[] {
  switch (word.style) {
    case 'camel':
      return word.parts.filter((part) => part.length > 1 && !STOP_WORDS.has(part)).map(toTerm)
    case 'hyphen':
      // Two parts are found as a pair; more, such as text-to-speech, need their order.
      return word.parts.length > 2 || vocabulary.has(toTerm(word.whole)) ? [toTerm(word.whole)] : []
    case 'dotted':
      return [word.whole]
    default:
      return []
  }
}

/** Neighbours, stop words and generic words passed over. */
function pairsIn(words: readonly Word[]): string[] {
  const terms = words
    .flatMap(plainParts)
    .filter((part) => !STOP_WORDS.has(part) && !GENERIC_WORDS.has(part))
    .map(toTerm)
  const pairs: string[] = []
  let previous = ''
  for (const term of terms) {
    if (previous !== '' && previous !== term) pairs.push(pairTerm(previous, term))
    previous = term
  }
  return pairs
}
