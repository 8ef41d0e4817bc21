import { NO_SEARCH_WORDS, type SearchWords } from '../../domain/derived/query-words.ts'
import { compareTies } from '../../domain/search/search-rank.ts'
import { createListingReader, toSpellings } from '../words/read-listings.ts'
import { createTermNumbers } from '../words/term-numbers.ts'
import { createWordSets } from '../words/word-sets.ts'
import { buildColumns, filterValues } from './build-columns.ts'
import { buildTermIndex } from './build-terms.ts'
import { checksum } from './checksum.ts'
import { collectPostings } from './collect-postings.ts'
import { buildExactTable } from './exact-table.ts'
import { writeIndexFile } from './index-file.ts'
import type { FilterVocabulary, IndexNoun } from './index-shape.ts'
import { type ReadDocument, readDocument } from './read-document.ts'
import type { SearchDocument } from './search-document.ts'
import { buildWordTable, startsOf } from './word-table.ts'

/** What of the content's tables the index is built with. */
export interface IndexOptions extends FilterVocabulary {
  noun: IndexNoun
  english: readonly string[] | null
  words: SearchWords
}

const DEFAULTS: IndexOptions = {
  noun: 'listing',
  english: null,
  categories: [],
  sources: [],
  networks: [],
  words: NO_SEARCH_WORDS,
}
const MAX_BODY_BYTES = 2 ** 32 - 1

/**
 * Builds the one file the search function serves from. The same documents in any order give the
 * same bytes. First-party documents get a part of their own, scored with the statistics of the
 * organic rows, so that they move nothing there.
 *
 * @param options categories and sources a filter may name although no listing has them yet, and the
 *   table of words
 * @throws Error naming the listing when an id comes twice or a body cannot be completed
 */
export function buildSearchIndex(
  documents: Iterable<SearchDocument>,
  options: Partial<IndexOptions> = {},
): Uint8Array {
  return joinReadings(Array.from(documents, createDocumentReader(options)), options)
}

/** @returns what reads documents for `joinReadings` with the same options */
export function createDocumentReader(options: Partial<IndexOptions> = {}) {
  const { words } = { ...DEFAULTS, ...options }
  const read = createListingReader(createWordSets(words))
  return (document: SearchDocument): ReadDocument => readDocument(document, read)
}

/** As `buildSearchIndex`, of documents that have been read. */
export function joinReadings(
  readings: readonly ReadDocument[],
  options: Partial<IndexOptions> = {},
): Uint8Array {
  const { noun, english, words: searchWords, ...known } = { ...DEFAULTS, ...options }
  const all = [...readings].sort((a, b) => compareTies(a.facts, b.facts))
  checkIds(all)
  const facts = all.map((reading) => reading.facts)
  const filters = {
    categories: sorted([...known.categories, ...facts.flatMap(({ categories }) => categories)]),
    sources: sorted([...known.sources, ...facts.flatMap(({ sources }) => sources)]),
    networks: sorted([...known.networks, ...facts.flatMap(({ networks }) => networks)]),
  }
  const terms = createTermNumbers()
  const [organic, own] = [false, true].map((firstParty) => {
    const documents = all.filter(({ facts }) => facts.firstParty === firstParty)
    return { documents, ...collectPostings(documents, terms) }
  })
  if (organic === undefined || own === undefined) throw new Error('an index has two parts')
  const buildPart = (part: typeof organic) => ({
    rows: part.documents.length,
    ...buildTermIndex(part, organic, terms),
    exact: buildExactTable(part.documents),
    ...buildColumns(
      part.documents.map(({ facts }) => facts),
      filterValues(filters),
    ),
  })
  const bodies = [...organic.documents, ...own.documents].map(({ body }) => body)
  if (bodies.reduce((sum, { length }) => sum + length, 0) > MAX_BODY_BYTES)
    throw new Error('The listing bodies take more than 4 GiB in all.')
  const index = {
    noun,
    english,
    filters,
    searchWords,
    spellings: buildSpellings(organic.documents),
    organic: buildPart(organic),
    firstParty: buildPart(own),
    bodyStarts: startsOf(bodies),
    bodyChecksums: Uint32Array.from(bodies, checksum),
  }
  return writeIndexFile(index, bodies)
}

function checkIds(readings: readonly ReadDocument[]): void {
  const seen = new Set<string>()
  for (const { facts } of readings) {
    if (seen.has(facts.id))
      throw new Error(`${facts.id} comes twice: every listing has an id of its own`)
    seen.add(facts.id)
  }
}

function buildSpellings(documents: readonly ReadDocument[]) {
  const counts = new Map<string, number>()
  for (const { written } of documents)
    for (const text of written) counts.set(text, (counts.get(text) ?? 0) + 1)
  const spellings = toSpellings(counts, documents.length).sort((a, b) => (a.text < b.text ? -1 : 1))
  return {
    words: buildWordTable(spellings.map(({ text }) => text)),
    rows: Uint32Array.from(spellings, ({ rows }) => rows),
  }
}

function sorted(values: readonly string[]): string[] {
  return [...new Set(values)].sort()
}
