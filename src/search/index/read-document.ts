import { SEARCH_FIELDS, type SearchField } from '../../domain/search/search-rank.ts'
import type { createListingReader } from '../words/read-listings.ts'
import { createTermNumbers } from '../words/term-numbers.ts'
import { exactKeysOf } from './exact-table.ts'
import { checkDocument, documentFields, type SearchDocument } from './search-document.ts'

type Texts = 'name' | 'summary' | 'url' | 'domain' | 'tags' | 'texts' | 'body'

/** What an index takes of a document, independent of other documents: made once, cached. */
export interface ReadDocument {
  /** Values it is filtered and sorted by. */
  facts: Omit<SearchDocument, Texts>
  /** Its exact keys, see `ExactTable`. */
  exact: string[]
  /** Counted terms of each field. */
  lengths: Record<SearchField, number>
  /** Its terms: words, and adjacent pairs of them by their index here, concatenated. */
  words: string[]
  pairs: number[]
  /** How often each field has a term, `FREQUENCY_BITS` for each: of the words, then of the pairs. */
  packed: number[]
  /** Words as they are written, for spellings. */
  written: string[]
  body: Uint8Array
}

/** A frequency above this is cut: BM25 is flat by then. */
const MAX_FREQUENCY = 255
const FREQUENCY_BITS = 8

/** @throws Error naming the listing when its body cannot be completed */
export function readDocument(
  document: SearchDocument,
  read: ReturnType<typeof createListingReader>,
): ReadDocument {
  checkDocument(document)
  const { name, summary: _, url, domain, tags: __, texts: ___, body, ...facts } = document
  const terms = createTermNumbers()
  const frequencies: number[] = []
  const written = new Set<string>()
  const lengths: Record<SearchField, number> = { name: 0, labels: 0, summary: 0 }
  const fields = documentFields(document)
  for (const [at, field] of SEARCH_FIELDS.entries()) {
    const count = (term: number) => {
      const packed = frequencies[term] ?? 0
      if (frequencyIn(packed, at) < MAX_FREQUENCY)
        frequencies[term] = packed + (1 << (at * FREQUENCY_BITS))
    }
    const tell = {
      word(term: string, counted: boolean) {
        if (counted) lengths[field] += 1
        count(terms.ofWord(term))
      },
      pair: (before: string, term: string) =>
        count(terms.ofPair(terms.ofWord(before), terms.ofWord(term))),
      written: (text: string) => written.add(text),
    }
    for (const text of fields[field].texts) read(text, field === 'name', tell)
    for (const term of fields[field].terms) tell.word(term, false)
  }
  const { id } = facts
  return {
    facts,
    exact: exactKeysOf({ id, url, name, domain }),
    lengths,
    ...listTerms(terms, frequencies),
    written: [...written],
    body,
  }
}

function listTerms({ words, pairs }: ReturnType<typeof createTermNumbers>, packed: number[]) {
  const places = new Map([...words.values()].map((number, place) => [number, place]))
  const sides = [...pairs].flatMap(([a, others]) =>
    [...others].map(([b, number]) => ({ a, b, number })),
  )
  const numbers = [...words.values(), ...sides.map(({ number }) => number)]
  return {
    words: [...words.keys()],
    pairs: sides.flatMap(({ a, b }) => [places.get(a) ?? 0, places.get(b) ?? 0]),
    packed: numbers.map((number) => packed[number] ?? 0),
  }
}

/** How often a field holds the term, the field by its place in `SEARCH_FIELDS`. */
export function frequencyIn(packed: number, field: number): number {
  return (packed >>> (field * FREQUENCY_BITS)) & MAX_FREQUENCY
}
