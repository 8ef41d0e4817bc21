import { compareTies } from '../domain/search/search-rank.ts'
import { buildIndexPart, type PartSections } from './build-index-part.ts'
import { checkDocuments } from './check-documents.ts'
import { documentTexts } from './document-fields.ts'
import { type FilterVocabulary, filterValues } from './filter-values.ts'
import { writeIndexFile } from './index-file.ts'
import type { SearchDocument } from './search-document.ts'
import { createTextAnalysis, type TextAnalysis } from './text-analysis.ts'
import { createVocabulary } from './vocabulary.ts'

/**
 * Builds the one file the search function serves from. The same documents in any order give the
 * same bytes. First-party documents get a part of their own, scored with the statistics of the
 * organic rows, so that they move nothing there.
 *
 * @param known categories and sources a filter may name although no listing has them yet
 * @throws Error naming the listing when an id comes twice or a body cannot be completed
 */
export function buildSearchIndex(
  documents: Iterable<SearchDocument>,
  known: FilterVocabulary = { categories: [], sources: [] },
): Uint8Array {
  const all = [...documents].sort(compareTies)
  checkDocuments(all)
  const organic = all.filter((document) => !document.firstParty)
  const firstParty = all.filter((document) => document.firstParty)
  const filters = {
    categories: sorted([...known.categories, ...all.flatMap((document) => document.categories)]),
    sources: sorted([...known.sources, ...all.flatMap((document) => document.sources)]),
  }
  const analysis = createTextAnalysis()
  const vocabulary = vocabularyOf(organic, analysis)
  const context = { analysis, vocabulary, values: filterValues(filters) }
  const main = buildIndexPart(organic, context)
  const own = buildIndexPart(firstParty, { ...context, statistics: main.statistics })
  return writeIndexFile(
    { ...filters, rows: organic.length },
    { ...prefixed('organic', main.sections), ...prefixed('firstParty', own.sections) },
    [...organic, ...firstParty].map((document) => document.body),
  )
}

function sorted(values: readonly string[]): string[] {
  return [...new Set(values)].sort()
}

function vocabularyOf(organic: readonly SearchDocument[], analysis: TextAnalysis) {
  const vocabulary = createVocabulary(analysis)
  for (const document of organic) vocabulary.countListing(documentTexts(document))
  return vocabulary.decide()
}

function prefixed(part: string, sections: PartSections): PartSections {
  return Object.fromEntries(
    Object.entries(sections).map(([name, section]) => [`${part}.${name}`, section]),
  )
}
