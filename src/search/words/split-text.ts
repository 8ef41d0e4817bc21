/**
 * A word as written, folded, with the words inside it. Examples: `Sheets` → whole `sheets`, no
 * parts · `GoogleSheets` → whole `googlesheets`, parts `google`, `sheets`, style `camel` ·
 * `text-to-speech` → whole `texttospeech`, three parts, style `hyphen` · `api.example.com` → whole
 * `api.example.com`, parts, style `dotted` · CJK runs → their bigrams.
 */
export interface Word {
  whole: string
  parts: readonly string[]
  style: 'plain' | 'camel' | 'hyphen' | 'dotted' | 'unspaced'
}

/** Longest word that is read; ids have at most 120 characters. */
const MAX_WORD_CHARACTERS = 128
/** A word in lower case, capitalised or all capitals, with digits only at its end: it needs no splitting. */
const PLAIN_CHUNK = /^(?:[A-Z]?[a-z]*|[A-Z]+)[0-9]*$/
const CHUNK = /[\p{L}\p{N}\p{M}]+(?:[._'’-]+[\p{L}\p{N}\p{M}]+)*(?:\+\+|#(?![\p{L}\p{N}]))?/gu
/** Endings to cut off, so that `I'd` is not taken for an id, nor `she'll` for a shell. */
const APOSTROPHE_ENDING = /['’](?:s|d|ll|ve|re|m)?$|['’](?=s$)/u
/** Elisions in French and Italian: `d'un`, `l'actualité`. */
const ELISION = /^(?:[cdjlmnst]|qu)['’](?=[aeiouyhàâéèêëîïôùûœ])/iu
const CAMEL_BOUNDARY = /(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll}{2})/u
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}ー々]+/gu
const HAS_UNSPACED = new RegExp(UNSPACED.source, 'u')

/** Whether a text has letters from a script that is written without spaces. */
export function isUnspaced(text: string): boolean {
  return HAS_UNSPACED.test(text)
}

/** Splits text into words; never throws, whatever the text. */
export function splitText(text: string): Word[] {
  return chunksOf(text).flatMap(splitChunk)
}

/** The runs in a text that contain words; each is independent. */
export function chunksOf(text: string): readonly string[] {
  return text.match(CHUNK) ?? []
}

export function splitChunk(chunk: string): Word[] {
  const words: Word[] = []
  addChunk(words, chunk.slice(0, MAX_WORD_CHARACTERS))
  return words
}

/** `e-mail` and `t-shirt` are one word; `time-series` is two, and so is `gpt-4`. */
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
    // CamelCase inside a joined word is split too: `Discord_MCP`, `openapi-GoogleSheets`.
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

/** Adds text in a script without spaces as overlapping pairs of characters. */
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

/** Removes spaces: a few signs decompose to a space and a mark, and words contain no spaces (see `pairText`). */
function foldWord(word: string): string {
  const folded = foldText(word)
  return folded.includes(' ') ? folded.replaceAll(' ', '') : folded
}

/** Accents and vowel points, which people leave out. Marks that are letters, as in Hindi, stay. */
const OPTIONAL_MARKS = /([\p{sc=Latin}\p{sc=Greek}\p{sc=Arabic}\p{sc=Hebrew}])\p{M}+/gu
/** Marks on signs, such as what an emoji leaves behind. */
const STRAY_MARKS = /[\uFE00-\uFE0F\p{Me}]+|(?<![\p{L}\p{N}\p{M}])\p{M}+/gu
const PLAIN = /^\p{ASCII}*$/u

/** Letters that compatibility decomposition keeps although people type them plainly. */
const LETTERS: Record<string, string> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  đ: 'd',
  ð: 'd',
  ł: 'l',
  ı: 'i',
  þ: 'th',
  ё: 'е',
}
const LETTER = new RegExp(`[${Object.keys(LETTERS).join('')}]`, 'gu')

/**
 * Folds all ways to write a word into one spelling: removes compatibility forms, case and accents,
 * and keeps marks that are letters.
 * @example foldText('Café ＡＰＩ') // 'cafe api'
 */
export function foldText(text: string): string {
  if (PLAIN.test(text)) return text.toLowerCase()
  const apart = text.normalize('NFKD').toLowerCase()
  const bare = apart.replace(STRAY_MARKS, '').replace(OPTIONAL_MARKS, '$1')
  return bare.normalize('NFC').replace(LETTER, (letter) => LETTERS[letter] ?? letter)
}

/**
 * A gentle English stemmer: plurals, -ing, -ed, agent nouns and the -ation family are reduced to
 * their verb, and a final e is dropped so that `invoice`, `invoices` and `invoicing` meet. Porter's
 * rules were tried and rejected: they join words that mean different things (`excel` and
 * `excellent`) and keep `invoice` apart from `invoicing`. Stems needn't be words.
 */
export function stemWord(word: string): string {
  if (word.length < 4 || !LAST_LETTERS.includes(word.slice(-1)) || !/^[a-z]+$/.test(word))
    return word
  if (UNTOUCHED.has(word)) return word
  const singular = stripPlural(word)
  return finish(UNTOUCHED.has(singular) ? singular : stripEnding(singular))
}

/** Last letters of the endings that a rule below changes; words that end in another letter need no checks. */
const LAST_LETTERS = 'sngrdey'

/** Words whose ending only looks like a suffix, or that mean something else without it. */
const UNTOUCHED = new Set(
  (
    'news series species status analysis bus gas lens atlas kubernetes postgres redis aws ios macos ' +
    'process access address express business always this its was has does canvas chess press less ' +
    'wordpress nexus campus virus census focus bonus corpus nginx windows sms dns tts apis ' +
    'server docker weather power paper number letter customer order user filter router header ' +
    'container layer twitter ledger register folder buffer cluster consumer transfer helper tier ' +
    'figure computer supper water flower tower shower dinner summer winter spider cover offer ' +
    'discover deliver river silver other after never under over super hyper cyber center ' +
    'ether tether member master matter manner chapter character quarter poster counter partner ' +
    'king ring thing string spring bring sing wing being during morning evening ceiling sibling ' +
    'care cares career careers plane planes wine wines cape pine bare tape fine site sites rope pricing ' +
    'bing ping red bed need seed feed speed breed embed led shed sled hundred nested shared'
  ).split(' '),
)

function stripPlural(word: string): string {
  if (!word.endsWith('s') || /[sui]s$/.test(word)) return word
  if (word.endsWith('ies') && word.length > 4) return `${word.slice(0, -3)}y`
  if (/(?:sh|ch|x|ss|zz)es$/.test(word)) return word.slice(0, -2)
  return word.slice(0, -1)
}

/** Endings, longest first: each row has the ending, its replacement, and the least length of the rest. */
const ENDINGS: readonly (readonly [ending: string, kept: string, rest: number])[] = [
  ['ification', 'ifi', 2],
  ['isation', 'iz', 3],
  ['ization', 'iz', 3],
  ['ifying', 'ifi', 2],
  ['ifier', 'ifi', 2],
  ['ified', 'ifi', 2],
  ['ising', 'iz', 4],
  ['izing', 'iz', 3],
  ['ation', 'at', 3],
  ['ating', 'at', 3],
  ['ator', 'at', 3],
  ['ated', 'at', 3],
  ['iser', 'iz', 4],
  ['izer', 'iz', 3],
  ['ised', 'iz', 4],
  ['ized', 'iz', 3],
  ['ise', 'iz', 4],
  ['ize', 'iz', 3],
  ['ate', 'at', 3],
  ['ing', '', 3],
  ['ied', 'i', 2],
  ['ed', '', 3],
  ['er', '', 4],
]

/** Most words end in a letter in which none of the endings ends, so they need no comparison. */
const ENDINGS_BY_LETTER = Map.groupBy(ENDINGS, ([ending]) => ending.at(-1))

function stripEnding(word: string): string {
  for (const [ending, kept, rest] of ENDINGS_BY_LETTER.get(word.at(-1)) ?? []) {
    if (!word.endsWith(ending) || word.length - ending.length < rest) continue
    const stem = word.slice(0, -ending.length)
    return kept === '' ? undouble(stem) : stem + kept
  }
  return word
}

/** Drops one of two equal last letters: `planning` → `plan`, but `calling` → `call`. */
function undouble(stem: string): string {
  return /([bdgmnprt])\1$/.test(stem) ? stem.slice(0, -1) : stem
}

/** Last step, which makes base forms equal to stripped ones: no final e, y as i. */
function finish(stem: string): string {
  if (stem.length <= 3) return stem
  if (stem.endsWith('e')) return stem.slice(0, -1)
  if (stem.endsWith('y') && /[^aeiou]y$/.test(stem)) return `${stem.slice(0, -1)}i`
  return stem
}
