/**
 * What a text is made of, in order, as numbers: four times the number of a word, term or pair, plus
 * one of these kinds.
 */
export const WORD_STEP = 0
/** A term that is another spelling of words around it. */
export const ALIAS_STEP = 1
/** Two neighbours, stop words and generic words passed over. */
export const PAIR_STEP = 2
const KIND_BITS = 2

export function toStep(number: number, kind: number): number {
  return (number << KIND_BITS) | kind
}

export function kindOf(step: number): number {
  return step & ((1 << KIND_BITS) - 1)
}

/** The number of the word, term or pair of a step. */
export function numberIn(step: number): number {
  return step >>> KIND_BITS
}

/**
 * A term put into the index, as one number: twice the term's number, plus one for an alias. An
 * alias can be found but doesn't count into its field's length: another spelling of words that
 * count already, or a word so generic that it says nothing about length.
 */
export function toToken(term: number, alias: boolean): number {
  return term * 2 + Number(alias)
}

export function termOfToken(token: number): number {
  return token >>> 1
}

export function isAlias(token: number): boolean {
  return (token & 1) === 1
}
