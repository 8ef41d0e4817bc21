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
