/** Terms in order, findable by hash and by prefix, as three typed arrays that need no parsing. */
export interface TermDictionary {
  count: number
  bytes: Uint8Array
  /** Where each term's UTF-8 starts in `bytes`; one more than there are terms. */
  starts: Uint32Array
  /** Open addressing; a slot holds a term's number plus one, or 0. */
  slots: Uint32Array
}

const encoder = new TextEncoder()
const decoder = new TextDecoder()
const FNV_SEED = 0x811c9dc5
const FNV_PRIME = 0x01000193
/** Slots for each term: a miss ends after two or three looks. */
const SLOTS_PER_TERM = 1.5
const MAX_ASCII = 0x7f
/** No term is longer: split-text caps words, and a pair has two. */
const MAX_TERM_UNITS = 300
/** UTF-8 of the word being looked up: three bytes a UTF-16 unit at most. */
const scratch = new Uint8Array(MAX_TERM_UNITS * 3)

/** @param terms sorted by UTF-16 code unit, as `Array.prototype.sort` does, without repeats */
export function buildTermDictionary(terms: readonly string[]): TermDictionary {
  const encoded = terms.map((term) => encoder.encode(term))
  const starts = new Uint32Array(terms.length + 1)
  encoded.forEach((term, at) => {
    starts[at + 1] = (starts[at] ?? 0) + term.byteLength
  })
  const bytes = new Uint8Array(starts[terms.length] ?? 0)
  encoded.forEach((term, at) => {
    bytes.set(term, starts[at] ?? 0)
  })
  const size = Math.ceil(terms.length * SLOTS_PER_TERM) + 1
  const slots = new Uint32Array(size)
  encoded.forEach((term, at) => {
    let slot = hashBytes(term, term.byteLength) % size
    while (slots[slot] !== 0) slot = (slot + 1) % size
    slots[slot] = at + 1
  })
  return { count: terms.length, bytes, starts, slots }
}

/** The hash the dictionary files terms under. */
export function hashText(text: string): number {
  return hashBytes(scratch, encodeText(text))
}

/** UTF-8 into `scratch`; plain ASCII, nearly every word, without a call into the runtime. */
function encodeText(text: string): number {
  if (text.length > scratch.length) return encoder.encodeInto(text, scratch).written
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at)
    if (unit > MAX_ASCII) return encoder.encodeInto(text, scratch).written
    scratch[at] = unit
  }
  return text.length
}

/** The number of a term, or -1. */
export function findTerm(dictionary: TermDictionary, term: string): number {
  if (term.length > MAX_TERM_UNITS) return -1
  return findTermBytes(dictionary, scratch, encodeText(term))
}

/** As `findTerm`, over the first `length` bytes of `word`. */
export function findTermBytes(
  dictionary: TermDictionary,
  word: Uint8Array,
  length: number,
): number {
  const { slots } = dictionary
  const size = slots.length
  let slot = hashBytes(word, length) % size
  for (;;) {
    const term = (slots[slot] ?? 0) - 1
    if (term < 0 || sameBytes(dictionary, term, word, length)) return term
    slot = slot + 1 === size ? 0 : slot + 1
  }
}

function hashBytes(bytes: Uint8Array, length: number): number {
  let hash = FNV_SEED
  for (let i = 0; i < length; i += 1) hash = Math.imul(hash ^ (bytes[i] ?? 0), FNV_PRIME)
  return (hash ^ (hash >>> 15)) >>> 0
}

function sameBytes(
  { bytes, starts }: TermDictionary,
  term: number,
  word: Uint8Array,
  length: number,
): boolean {
  const start = starts[term] ?? 0
  if ((starts[term + 1] ?? 0) - start !== length) return false
  for (let i = 0; i < length; i += 1) if (bytes[start + i] !== word[i]) return false
  return true
}

/** The text of a term. */
export function termAt({ bytes, starts }: TermDictionary, term: number): string {
  return decoder.decode(bytes.subarray(starts[term], starts[term + 1]))
}

/** The numbers of all terms that start with `prefix`: `[first, end)`. */
export function termsWithPrefix(dictionary: TermDictionary, prefix: string): [number, number] {
  const first = lowerBound(dictionary, prefix)
  return [first, lowerBound(dictionary, `${prefix}\uffff`)]
}

function lowerBound(dictionary: TermDictionary, text: string): number {
  let low = 0
  let high = dictionary.count
  while (low < high) {
    const middle = (low + high) >> 1
    if (termAt(dictionary, middle) < text) low = middle + 1
    else high = middle
  }
  return low
}
