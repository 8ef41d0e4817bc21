/**
 * The term of two neighbours, in either order: `price of ethereum` and `ethereum price` share one.
 * The leading space keeps pairs apart from words, in a prefix search too; no word has a space.
 */
export function pairTerm(a: string, b: string): string {
  return a < b ? ` ${a} ${b}` : ` ${b} ${a}`
}
