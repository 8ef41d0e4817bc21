import { NO_SEARCH_WORDS, type SearchWords } from '../../domain/derived/query-words.ts'
import { compareTies } from '../../domain/search/search-rank.ts'
import { createListingReader, toSpellings } from '../words/read-listings.ts'
import { createTermNumbers, type TermNumbers } from '../words/term-numbers.ts'
import { createWordSets } from '../words/word-sets.ts'
import { buildColumns, filterValues } from './build-columns.ts'
import { buildTermIndex } from './build-terms.ts'
import { checksum } from './checksum.ts'
import { createCollector } from './collect-postings.ts'
import { buildExactTable } from './exact-table.ts'
import { writeIndexFile } from './index-file.ts'
import type { FilterVocabulary, IndexNoun } from './index-shape.ts'
import { type ReadDocument, readDocument } from './read-document.ts'
import type { SearchDocument } from './search-document.ts'
import { buildWordTable, startsOf } from './word-table.ts'

/** The content tables that the index is built with. */
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
 * organic rows, so that they do not affect those.
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

/** @returns a function that reads documents for `joinReadings` with the same options */
export function createDocumentReader(options: Partial<IndexOptions> = {}) {
  const { words } = { ...DEFAULTS, ...options }
  const read = createListingReader(createWordSets(words))
  return (document: SearchDocument): ReadDocument => readDocument(document, read)
}

/** As `buildSearchIndex`, of documents that have been read: of each its terms are taken, and forgotten. */
export function joinReadings(
  readings: Iterable<ReadDocument>,
  options: Partial<IndexOptions> = {},
): Uint8Array {
  const { noun, english, words: searchWords, ...known } = { ...DEFAULTS, ...options }
  const terms = createTermNumbers()
  const written = new Map<string, number>()
  const [outside, ours] = [createPart(terms), createPart(terms)]
  for (const reading of readings) {
    if (reading.facts.firstParty) ours.add(reading)
    else {
      outside.add(reading)
      for (const text of reading.written) written.set(text, (written.get(text) ?? 0) + 1)
    }
  }
  const [organic, own] = [outside.finish(), ours.finish()]
  const facts = [...organic.documents, ...own.documents].map((document) => document.facts)
  checkIds(facts)
  const filters = withValuesOf(facts, known)
  const values = filterValues(filters)
  const buildPart = (part: typeof organic) => ({
    rows: part.documents.length,
    ...buildTermIndex(part, organic, terms),
    exact: buildExactTable(part.documents),
    ...buildColumns(
      part.documents.map(({ facts }) => facts),
      values,
    ),
  })
  const bodies = [...organic.documents, ...own.documents].map(({ body }) => body)
  if (bodies.reduce((sum, { length }) => sum + length, 0) > MAX_BODY_BYTES)
    throw new Error('The listing bodies take more than 4 GiB in total.')
  const index = {
    noun,
    english,
    filters,
    filterValues: values,
    searchWords,
    spellings: buildSpellings(written, organic.documents.length),
    organic: buildPart(organic),
    firstParty: buildPart(own),
    bodyStarts: startsOf(bodies),
    bodyChecksums: Uint32Array.from(bodies, checksum),
  }
  return writeIndexFile(index, bodies)
}

function withValuesOf(
  facts: readonly ReadDocument['facts'][],
  known: FilterVocabulary,
): FilterVocabulary {
  return {
    categories: sorted([...known.categories, ...facts.flatMap(({ categories }) => categories)]),
    sources: sorted([...known.sources, ...facts.flatMap(({ sources }) => sources)]),
    networks: sorted([...known.networks, ...facts.flatMap(({ networks }) => networks)]),
  }
}

/** What is kept of the documents of a part, and their postings. */
function createPart(terms: TermNumbers) {
  const documents: Pick<ReadDocument, 'facts' | 'exact' | 'body'>[] = []
  const collector = createCollector(terms)
  return {
    add(reading: ReadDocument): void {
      const { facts, exact, body } = reading
      documents.push({ facts, exact, body })
      collector.add(reading)
    },
    finish() {
      const order = Uint32Array.from(documents.keys()).sort((a, b) => {
        const [left, right] = [documents[a], documents[b]]
        return left === undefined || right === undefined ? 0 : compareTies(left.facts, right.facts)
      })
      const sorted = Array.from(order).flatMap((place) => documents[place] ?? [])
      return { documents: sorted, ...collector.finish(order) }
    },
  }
}

function checkIds(facts: readonly { id: string }[]): void {
  const seen = new Set<string>()
  for (const { id } of facts) {
    if (seen.has(id)) throw new Error(`${id} comes twice: every listing has an id of its own`)
    seen.add(id)
  }
}

/** @param written how many organic listings write each word @param rows how many there are */
function buildSpellings(written: ReadonlyMap<string, number>, rows: number) {
  const spellings = toSpellings(written, rows).sort((a, b) => (a.text < b.text ? -1 : 1))
  return {
    words: buildWordTable(spellings.map(({ text }) => text)),
    rows: Uint32Array.from(spellings, ({ rows }) => rows),
  }
}

function sorted(values: readonly string[]): string[] {
  return [...new Set(values)].sort()
}
