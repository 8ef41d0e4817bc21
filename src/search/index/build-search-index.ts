import { NO_SEARCH_WORDS, type SearchWords } from '../../domain/derived/query-words.ts'
import { compareTies } from '../../domain/search/search-rank.ts'
import { createListingReader, toSpellings } from '../words/read-listings.ts'
import { createTermNumbers } from '../words/term-numbers.ts'
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
/** What is kept of a document beside its postings. */
type KeptDocument = Pick<ReadDocument, 'facts' | 'exact' | 'body'>

const MAX_BODY_BYTES = 2 ** 32 - 1

/**
 * Builds the one file the search function serves from. The same documents in any order give the
 * same bytes. First-party documents come behind the others and are scored with the statistics of
 * those, so that they do not affect them.
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
  const collector = createCollector(terms)
  const documents: KeptDocument[] = []
  const written = new Map<string, number>()
  for (const reading of readings) {
    const { facts, exact, body } = reading
    documents.push({ facts, exact, body })
    collector.add(reading)
    if (!facts.firstParty)
      for (const text of reading.written) written.set(text, (written.get(text) ?? 0) + 1)
  }
  const { order, sorted, organicRows } = sortDocuments(documents)
  const facts = sorted.map((document) => document.facts)
  checkIds(facts)
  const filters = withValuesOf(facts, known)
  const values = filterValues(filters)
  const bodies = sorted.map(({ body }) => body)
  if (bodies.reduce((sum, { length }) => sum + length, 0) > MAX_BODY_BYTES)
    throw new Error('The listing bodies take more than 4 GiB in total.')
  const index = {
    noun,
    english,
    filters,
    filterValues: values,
    searchWords,
    spellings: buildSpellings(written, organicRows),
    organicRows,
    terms: buildTermIndex(collector.finish(order, organicRows), terms),
    exact: buildExactTable(sorted),
    ...buildColumns(facts, organicRows, values),
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

/** Organic documents in the order of ties, then our own in the same. */
function sortDocuments(documents: readonly KeptDocument[]) {
  const order = Uint32Array.from(documents.keys()).sort((a, b) => {
    const [left, right] = [documents[a], documents[b]]
    if (left === undefined || right === undefined) return 0
    const isOurs = Number(left.facts.firstParty) - Number(right.facts.firstParty)
    return isOurs || compareTies(left.facts, right.facts)
  })
  const sorted = Array.from(order).flatMap((place) => documents[place] ?? [])
  const organicRows = sorted.filter(({ facts }) => !facts.firstParty).length
  return { order, sorted, organicRows }
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
