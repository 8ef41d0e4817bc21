import { NO_SEARCH_WORDS, type SearchWords } from '../../domain/derived/search-words.ts'
import { compareTies, SEARCH_FIELDS } from '../../domain/search/search-rank.ts'
import { createIndexTokens, type IndexTokens } from '../words/index-tokens.ts'
import { createTextAnalysis, type TextAnalysis } from '../words/text-analysis.ts'
import { toToken } from '../words/text-step.ts'
import { createVocabulary } from '../words/vocabulary.ts'
import { createWordSets } from '../words/word-sets.ts'
import { type Deflate, packBody, storedBlocks } from './body-records.ts'
import { buildColumns, filterValues } from './build-columns.ts'
import { buildExactTable } from './exact-table.ts'
import { type Section, writeIndexFile } from './index-file.ts'
import type { FilterVocabulary } from './index-shape.ts'
import { createPostingsBuilder, type Statistics } from './postings-builder.ts'
import {
  checkDocuments,
  documentFields,
  documentTexts,
  type SearchDocument,
} from './search-document.ts'
import { buildTermDictionary } from './term-dictionary.ts'
import { buildSpellingTable, type WordTable } from './word-table.ts'

/** What of the content's tables the index is built with, and what compresses bodies. */
export interface IndexOptions extends FilterVocabulary {
  words: SearchWords
  deflate: Deflate
}

const DEFAULTS: IndexOptions = {
  categories: [],
  sources: [],
  words: NO_SEARCH_WORDS,
  deflate: storedBlocks,
}

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
  const { words, deflate, ...known } = { ...DEFAULTS, ...options }
  const all = [...documents].sort(compareTies)
  checkDocuments(all)
  const organic = all.filter((document) => !document.firstParty)
  const firstParty = all.filter((document) => document.firstParty)
  const filters = {
    categories: sorted([...known.categories, ...all.flatMap((document) => document.categories)]),
    sources: sorted([...known.sources, ...all.flatMap((document) => document.sources)]),
  }
  const analysis = createTextAnalysis(createWordSets(words))
  const counting = createVocabulary(analysis)
  for (const document of organic) counting.countListing(documentTexts(document))
  const vocabulary = counting.decide()
  const spellings = buildSpellingTable(vocabulary.spellings)
  const tokensOf = createIndexTokens(analysis, vocabulary)
  const context = { analysis, tokensOf, values: filterValues(filters), deflate }
  const main = buildPart(organic, context)
  const own = buildPart(firstParty, { ...context, statistics: main.statistics })
  return writeIndexFile(
    { ...filters, rows: organic.length, words },
    {
      ...wordSections('spelling', spellings.words),
      spellingRows: spellings.rows,
      ...prefixed('organic', main.sections),
      ...prefixed('firstParty', own.sections),
    },
    [...main.bodies, ...own.bodies],
  )
}

function sorted(values: readonly string[]): string[] {
  return [...new Set(values)].sort()
}

type Sections = Record<string, Section>

interface PartContext {
  analysis: TextAnalysis
  tokensOf: IndexTokens
  /** Filter values in the order of their bit sets. */
  values: readonly string[]
  deflate: Deflate
  /** Score with these instead of the part's own. */
  statistics?: Statistics
}

/** @param documents in the order of ties: a document's place is its row number */
function buildPart(documents: readonly SearchDocument[], context: PartContext) {
  const { analysis, tokensOf, values, deflate } = context
  const builder = createPostingsBuilder(analysis.terms)
  for (const document of documents) {
    const fields = documentFields(document)
    const tokens = SEARCH_FIELDS.map((field) => [
      ...fields[field].texts.flatMap((text) => tokensOf(text, field === 'name')),
      ...fields[field].terms.map((term) => toToken(analysis.terms.numberOf(term), true)),
    ])
    builder.addRow({ name: tokens[0] ?? [], labels: tokens[1] ?? [], summary: tokens[2] ?? [] })
  }
  const statistics = context.statistics ?? builder.statistics()
  const { terms, places, palette, paletteFields } = builder.finish(statistics)
  const { words, pairs } = buildTermDictionary(terms)
  const exact = buildExactTable(documents)
  const bodies = documents.map(({ id, body }) => packBody(id, body, deflate))
  const sections: Sections = {
    ...wordSections('word', words),
    pairStarts: pairs.starts,
    pairSeconds: pairs.seconds,
    postingBytes: places.bytes,
    postingLengths: places.lengths,
    postingBlocks: places.blocks,
    palette,
    paletteFields,
    exactKeys: exact.keys,
    exactRows: exact.rows,
    ...buildColumns(documents, values, bodies),
  }
  return { statistics, sections, bodies }
}

function wordSections(name: string, { bytes, starts, byText }: WordTable): Sections {
  return {
    [`${name}Bytes`]: bytes,
    [`${name}Starts`]: starts,
    [`${name}Slots`]: byText.slots,
  }
}

function prefixed(part: string, sections: Sections): Sections {
  return Object.fromEntries(
    Object.entries(sections).map(([name, section]) => [`${part}.${name}`, section]),
  )
}
