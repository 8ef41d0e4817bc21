import type { SortedTerms } from './sorted-terms.ts'

/** How words are written whose term, a stem, is no word: `voicemak` is written `voicemaker`. */
export interface SurfaceTable {
  /** Numbers of the terms that have an entry, ascending. */
  terms: Uint32Array
  /** Where each entry's UTF-8 starts in `bytes`; one more than there are entries. */
  starts: Uint32Array
  bytes: Uint8Array
}

/** @param surfaces a written word for each term that never stands as it is */
export function buildSurfaceTable(
  terms: SortedTerms,
  surfaces: ReadonlyMap<string, string>,
): SurfaceTable {
  const stems = [...terms.words.keys()].filter((at) => surfaces.has(terms.words[at] ?? ''))
  const words = stems.map((at) => new TextEncoder().encode(surfaces.get(terms.words[at] ?? '')))
  const starts = new Uint32Array(words.length + 1)
  words.forEach((word, at) => {
    starts[at + 1] = (starts[at] ?? 0) + word.length
  })
  const bytes = new Uint8Array(starts.at(-1) ?? 0)
  words.forEach((word, at) => {
    bytes.set(word, starts[at] ?? 0)
  })
  return { terms: Uint32Array.from(stems, (at) => terms.firsts.length + at), starts, bytes }
}

/** The written word of a term's number, or null where the term is one itself. */
export function findSurface(table: SurfaceTable, term: number): string | null {
  let low = 0
  let high = table.terms.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((table.terms[middle] ?? 0) < term) low = middle + 1
    else high = middle
  }
  if (table.terms[low] !== term) return null
  return new TextDecoder().decode(table.bytes.subarray(table.starts[low], table.starts[low + 1]))
}
