import { NO_SEARCH_WORDS, type SearchWords } from '../../domain/derived/query-words.ts'
import { compareTies } from '../../domain/search/search-rank.ts'
import { createListingReader } from '../words/read-listings.ts'
import { createTermNumbers } from '../words/term-numbers.ts'
import { createWordSets } from '../words/word-sets.ts'
import { type Deflate, packBody, storedBlocks } from './body-records.ts'
import { buildColumns, filterValues } from './build-columns.ts'
import { buildTermIndex } from './build-terms.ts'
import { checksum } from './checksum.ts'
import { collectPostings } from './collect-postings.ts'
import { buildExactTable } from './exact-table.ts'
import { writeIndexFile } from './index-file.ts'
import type { FilterVocabulary } from './index-shape.ts'
import { checkDocuments, type SearchDocument } from './search-document.ts'
import { buildWordTable, startsOf } from './word-table.ts'

/** What of the content's tables the index is built with, and what compresses bodies. */
export interface IndexOptions extends FilterVocabulary {
  words: SearchWords
  deflate: Deflate
}

const DEFAULTS: IndexOptions = {
  categories: [],
  sources: [],
  networks: [],
  words: NO_SEARCH_WORDS,
  deflate: storedBlocks,
}
const MAX_BODY_BYTES = 2 ** 32 - 1

/**
 * Builds the one file the search function serves from. The same documents in any order give the
 * same bytes. First-party documents get a part of their own, scored with the statistics of the
 * organic rows, so that they move nothing there.
 *
 * @param options categories and sources a filter may name although no listing has them yet, the
 *   table of words, and what compresses bodies: without it they lie in the file as they are
 * @throws Error naming the listing when an id comes twice or a body cannot be completed
 */
export function buildSearchIndex(
  documents: Iterable<SearchDocument>,
  options: Partial<IndexOptions> = {},
): Uint8Array {
  const { words: searchWords, deflate, ...known } = { ...DEFAULTS, ...options }
  const all = [...documents].sort(compareTies)
  checkDocuments(all)
  const filters = {
    categories: sorted([...known.categories, ...all.flatMap(({ categories }) => categories)]),
    sources: sorted([...known.sources, ...all.flatMap(({ sources }) => sources)]),
    networks: sorted([...known.networks, ...all.flatMap(({ networks }) => networks)]),
  }
  const terms = createTermNumbers()
  const reader = createListingReader(createWordSets(searchWords), terms)
  const collect = (firstParty: boolean) => {
    const documents = all.filter((document) => document.firstParty === firstParty)
    return { documents, ...collectPostings(documents, !firstParty, { reader, terms }) }
  }
  const [organic, own] = [collect(false), collect(true)]
  const buildPart = (part: typeof organic) => ({
    rows: part.documents.length,
    ...buildTermIndex(part, organic, terms),
    exact: buildExactTable(part.documents),
    ...buildColumns(part.documents, filterValues(filters)),
  })
  const spellings = reader
    .spellings(organic.documents.length)
    .sort((a, b) => (a.text < b.text ? -1 : 1))
  const bodies = [...organic.documents, ...own.documents].map(({ id, body }) =>
    packBody(id, body, deflate),
  )
  if (bodies.reduce((sum, { length }) => sum + length, 0) > MAX_BODY_BYTES)
    throw new Error('The listing bodies take more than 4 GiB in all.')
  const index = {
    filters,
    searchWords,
    spellings: {
      words: buildWordTable(spellings.map(({ text }) => text)),
      rows: Uint32Array.from(spellings, ({ rows }) => rows),
    },
    organic: buildPart(organic),
    firstParty: buildPart(own),
    bodyStarts: startsOf(bodies),
    bodyChecksums: Uint32Array.from(bodies, checksum),
  }
  return writeIndexFile(index, bodies)
}

function sorted(values: readonly string[]): string[] {
  return [...new Set(values)].sort()
}
