import { isListingId } from '../domain/listing-id.ts'
import { compareTies, SEARCH_FIELDS } from '../domain/search-rank.ts'
import { buildIndexPart, type PartSections } from './build-index-part.ts'
import { documentFields } from './document-fields.ts'
import { type FilterVocabulary, filterValues } from './filter-values.ts'
import { writeIndexFile } from './index-file.ts'
import { BODY_START } from './index-rows.ts'
import { vocabularyTerms } from './index-tokens.ts'
import type { SearchDocument } from './search-document.ts'

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
  const context = { ...collectWords(organic), values: filterValues(filters) }
  const main = buildIndexPart(organic, context)
  const own = buildIndexPart(firstParty, { ...context, statistics: main.statistics })
  return writeIndexFile(
    { ...filters, rows: organic.length },
    { ...prefixed('organic', main.sections), ...prefixed('firstParty', own.sections) },
    [...organic, ...firstParty].map((document) => document.body),
  )
}

function checkDocuments(documents: readonly SearchDocument[]): void {
  const seen = new Set<string>()
  for (const { id, body } of documents) {
    if (!isListingId(id)) throw new Error(`${id}: expected a listing id such as x402.example`)
    if (seen.has(id)) throw new Error(`${id} comes twice: every listing has an id of its own`)
    seen.add(id)
    const text = new TextDecoder().decode(body)
    const names = Object.keys(JSON.parse(text))
    const completable = names.at(-1) === 'links' && text.endsWith('"}}')
    if (completable && text.startsWith(`${BODY_START}${id}"`)) continue
    throw new Error(
      `${id}: the body's first member must be the id, and its last a filled \`links\` object, so that a response can complete it; got the members ${names.join(', ')}`,
    )
  }
}

function sorted(values: readonly string[]): string[] {
  return [...new Set(values)].sort()
}

/**
 * Words and pairs that stand in at least two organic listings: only those are worth joined
 * spellings. With them, how a term is written that is only a stem: the first spelling found.
 */
function collectWords(documents: readonly SearchDocument[]) {
  const seen = new Set<string>()
  const vocabulary = new Set<string>()
  const surfaces = new Map<string, string>()
  const words = new Set<string>()
  const onWord = (term: string, word: string) => {
    words.add(word)
    if (word !== term && !surfaces.has(term)) surfaces.set(term, word)
  }
  for (const document of documents) {
    const fields = documentFields(document)
    const texts = SEARCH_FIELDS.flatMap((field) => fields[field].texts)
    for (const term of new Set(texts.flatMap((text) => vocabularyTerms(text, onWord)))) {
      if (seen.has(term)) vocabulary.add(term)
      else seen.add(term)
    }
  }
  for (const word of words) surfaces.delete(word)
  return { vocabulary, surfaces }
}

function prefixed(part: string, sections: PartSections): PartSections {
  return Object.fromEntries(
    Object.entries(sections).map(([name, section]) => [`${part}.${name}`, section]),
  )
}
