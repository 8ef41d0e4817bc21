/**
 * The largest of any number of values. `Math.max(...values)` overflows the stack at some 120,000.
 *
 * @param least result for no values, and the minimum of any result
 */
export function largestOf(values: Iterable<number>, least = Number.NEGATIVE_INFINITY): number {
  let largest = least
  for (const value of values) largest = Math.max(largest, value)
  return largest
}

/** The smallest of any number of values; infinity for none. */
export function smallestOf(values: Iterable<number>): number {
  let smallest = Number.POSITIVE_INFINITY
  for (const value of values) smallest = Math.min(smallest, value)
  return smallest
}

/** Orders texts by their code units, for `sort`. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
