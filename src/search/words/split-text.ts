import { foldText } from './fold-text.ts'

/**
 * A word as written, folded, with the words inside it. Examples:
 * `Sheets` → whole `sheets`, no parts · `GoogleSheets` → whole `googlesheets`, parts `google`,
 * `sheets`, style `camel` · `text-to-speech` → whole `texttospeech`, three parts, style `hyphen` ·
 * `api.example.com` → whole `api.example.com`, parts, style `dotted` · CJK runs → their bigrams.
 */
export interface Word {
  whole: string
  parts: readonly string[]
  style: 'plain' | 'camel' | 'hyphen' | 'dotted' | 'unspaced'
}

/** Longest word that is read; ids have at most 120 characters. */
const MAX_WORD_CHARACTERS = 128
/** A word in one case or capitalised, digits only after its letters: nothing to split. */
const PLAIN_CHUNK = /^(?:[A-Z]?[a-z]*|[A-Z]+)[0-9]*$/
const CHUNK = /[\p{L}\p{N}\p{M}]+(?:[._'’-]+[\p{L}\p{N}\p{M}]+)*(?:\+\+|#(?![\p{L}\p{N}]))?/gu
/** `I'd` is not an id, nor `she'll` a shell. */
const APOSTROPHE_ENDING = /['’](?:s|d|ll|ve|re|m)?$|['’](?=s$)/u
/** Elisions in French and Italian: `d'un`, `l'actualité`. */
const ELISION = /^(?:[cdjlmnst]|qu)['’](?=[aeiouyhàâéèêëîïôùûœ])/iu
const CAMEL_BOUNDARY = /(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll}{2})/u
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}ー々]+/gu
const HAS_UNSPACED = new RegExp(UNSPACED.source, 'u')

/** Splits text into words; never throws, whatever the text. */
export function splitText(text: string): Word[] {
  return chunksOf(text).flatMap(splitChunk)
}

/** The runs of a text that contain words; each is independent. */
export function chunksOf(text: string): readonly string[] {
  return text.match(CHUNK) ?? []
}

export function splitChunk(chunk: string): Word[] {
  const words: Word[] = []
  addChunk(words, chunk.slice(0, MAX_WORD_CHARACTERS))
  return words
}

/** `e-mail` and `t-shirt` are words; `time-series` is two, and so is `gpt-4`. */
export function hasSingleLetter(word: Word): boolean {
  return word.parts.some((part) => part.length === 1 && !/\p{N}/u.test(part))
}

function addChunk(words: Word[], chunk: string): void {
  if (PLAIN_CHUNK.test(chunk)) {
    words.push({ whole: chunk.toLowerCase(), parts: [], style: 'plain' })
    return
  }
  if (HAS_UNSPACED.test(chunk)) {
    addUnspaced(words, chunk)
    return
  }
  const bare = chunk.replace(ELISION, '').replace(APOSTROPHE_ENDING, '').replace(/['’]/g, '')
  const pieces = bare.split(/[._-]+/u).filter((piece) => piece !== '')
  if (pieces.length > 1) {
    const dotted = bare.includes('.')
    const parts = pieces.map(foldWord).filter((part) => part !== '')
    if (parts.length === 0) return
    const whole = dotted ? foldWord(bare) : parts.join('')
    words.push({ whole, parts, style: dotted ? 'dotted' : 'hyphen' })
    // CamelCase inside a joined word splits too: `Discord_MCP`, `openapi-GoogleSheets`.
    for (const piece of pieces) if (CAMEL_BOUNDARY.test(piece)) addCamel(words, piece)
    return
  }
  addCamel(words, bare)
}

function addCamel(words: Word[], piece: string): void {
  const whole = foldWord(piece)
  // Marks alone, such as what an emoji leaves behind, fold to nothing.
  if (whole === '') return
  const parts = piece.split(CAMEL_BOUNDARY).map(foldWord)
  if (parts.length === 1) words.push({ whole, parts: [], style: 'plain' })
  else words.push({ whole, parts, style: 'camel' })
}

/** Scripts written without spaces are found by their overlapping pairs of characters. */
function addUnspaced(words: Word[], chunk: string): void {
  let rest = 0
  for (const match of chunk.matchAll(UNSPACED)) {
    const before = chunk.slice(rest, match.index)
    if (/[\p{L}\p{N}]/u.test(before)) addChunk(words, before)
    const letters = [...foldWord(match[0])]
    const whole = letters.join('')
    const pairs = letters.slice(1).map((letter, at) => `${letters[at]}${letter}`)
    const parts = pairs.length > 0 ? pairs : [whole]
    if (whole !== '') words.push({ whole, parts, style: 'unspaced' })
    rest = match.index + match[0].length
  }
  const after = chunk.slice(rest)
  if (/[\p{L}\p{N}]/u.test(after)) addChunk(words, after)
}

/** A few signs decompose to a space and a mark; a word has no space (see `pairTerm`). */
function foldWord(word: string): string {
  const folded = foldText(word)
  return folded.includes(' ') ? folded.replaceAll(' ', '') : folded
}
