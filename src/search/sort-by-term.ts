/** Postings by term. */
export interface SortedPostings {
  /** Where the postings of each term start in `postings`. */
  starts: Uint32Array
  /** Numbers of postings, by term and then as they were added. */
  postings: Uint32Array
  rowOf: Uint32Array
}

/** Postings as they were added, one number of each kind for each. */
interface UnsortedPostings {
  /** The number of each term. */
  numbers: ReadonlyMap<string, number>
  termOf: Uint32Array
  rowOf: Uint32Array
}

/** Counting sort: linear, and it keeps the rows of a term in the order they came. */
export function sortByTerm(
  { numbers, termOf, rowOf }: UnsortedPostings,
  terms: readonly string[],
): SortedPostings {
  const places = new Uint32Array(terms.length)
  terms.forEach((term, at) => {
    places[numbers.get(term) ?? 0] = at
  })
  const starts = new Uint32Array(terms.length + 1)
  for (const term of termOf) increase(starts, (places[term] ?? 0) + 1, 1)
  for (let at = 0; at < terms.length; at += 1) increase(starts, at + 1, starts[at] ?? 0)
  const next = starts.slice()
  const postings = new Uint32Array(termOf.length)
  for (let from = 0; from < termOf.length; from += 1) {
    const place = places[termOf[from] ?? 0] ?? 0
    postings[next[place] ?? 0] = from
    increase(next, place, 1)
  }
  return { starts, postings, rowOf }
}

function increase(numbers: Uint32Array, at: number, by: number): void {
  numbers[at] = (numbers[at] ?? 0) + by
}
