import type { SearchDocument } from '../../../src/search/index/search-document.ts'

export interface BuiltIndex {
  /** From the first document asked for to the finished index, making the documents included. */
  buildMs: number
  /** Bytes of the index without the stored listings, which every engine must keep somewhere. */
  indexBytes: number
}

/** A search engine under test. Each stage runs in a process of its own. */
export interface Engine {
  name: string
  /**
   * Builds and writes everything it needs to serve to `file`.
   * @param documents made as they are asked for, once: who needs them again has to keep them
   */
  build(documents: Iterable<SearchDocument>, file: string): Promise<BuiltIndex> | BuiltIndex
  /** Opens what `build` wrote; each row found, best first, is a listing's id or its place among all. */
  open(file: string): Promise<Search> | Search
}

export type Search = (q: string, limit: number) => readonly (string | number)[]

/** The fields all engines search, and their weights. */
export function searchedFields({ name, tags, categories, summary, texts }: SearchDocument) {
  if (texts !== undefined) {
    const [own, labels, reported] = [texts.name, texts.labels, texts.summary].map((of) =>
      of.join(' '),
    )
    return { name: own ?? '', tags: labels ?? '', categories: '', summary: reported ?? '' }
  }
  return { name, tags: tags.join(' '), categories: categories.join(' '), summary }
}

export const BOOSTS = { name: 3, tags: 2, categories: 2, summary: 1 }
