import { compareBrowsing, rankMultiplier, SEARCH_FIELDS } from '../domain/search-rank.ts'
import { documentFields } from './document-fields.ts'
import { valuesOf } from './filter-values.ts'
import type { Section } from './index-file.ts'
import { bitWords, NO_TRUST } from './index-part.ts'
import { indexTokens, type Vocabulary } from './index-tokens.ts'
import { createPostingsBuilder, type Statistics } from './postings-builder.ts'
import type { SearchDocument } from './search-document.ts'
import { buildSoundTable } from './sound-table.ts'
import { buildTermDictionary } from './term-dictionary.ts'

export type PartSections = Record<string, Section>

export interface PartContext {
  vocabulary: Vocabulary
  /** Filter values in the order of their bit sets. */
  values: readonly string[]
  /** Score with these instead of the part's own. */
  statistics?: Statistics
}

/** @param documents in the order of ties: a document's place is its row number */
export function buildIndexPart(documents: readonly SearchDocument[], context: PartContext) {
  const postings = createPostingsBuilder()
  documents.forEach((document, row) => {
    const fields = documentFields(document)
    for (const field of SEARCH_FIELDS) {
      const options = { vocabulary: context.vocabulary, keepStopWords: field === 'name' }
      const tokens = fields[field].texts.flatMap((text) => indexTokens(text, options))
      postings.add(row, field, [...tokens, ...fields[field].tokens])
    }
  })
  const statistics = context.statistics ?? postings.statistics(documents.length)
  const { terms, starts, rows, impacts } = postings.finish(statistics)
  const dictionary = buildTermDictionary(terms)
  const sections: PartSections = {
    termBytes: dictionary.bytes,
    termStarts: dictionary.starts,
    termSlots: dictionary.slots,
    soundSlots: buildSoundTable(terms, (term) => (starts[term + 1] ?? 0) - (starts[term] ?? 0)),
    postingStarts: starts,
    postingRows: rows,
    postingImpacts: impacts,
    ...columns(documents, context.values),
  }
  return { statistics, sections }
}

function columns(documents: readonly SearchDocument[], values: readonly string[]): PartSections {
  const ids = documents.map((document) => new TextEncoder().encode(document.id))
  return {
    browseOrder: browseOrder(documents),
    multipliers: Float64Array.from(documents, ({ trustScore, liveTested }) =>
      rankMultiplier(trustScore, liveTested),
    ),
    trust: Uint8Array.from(documents, ({ trustScore }) => trustScore ?? NO_TRUST),
    minUsd: Float64Array.from(documents, ({ minUsd }) => minUsd ?? Number.NaN),
    filterBits: filterBits(documents, values),
    idBytes: Uint8Array.from(ids.flatMap((id) => [...id])),
    idStarts: Uint32Array.from(startsOf(ids)),
    bodyStarts: Float64Array.from(startsOf(documents.map((document) => document.body))),
  }
}

function browseOrder(documents: readonly SearchDocument[]): Uint32Array {
  const rows = documents.map((document, row) => ({ document, row }))
  rows.sort((a, b) => compareBrowsing(a.document, b.document))
  return Uint32Array.from(rows, ({ row }) => row)
}

function filterBits(documents: readonly SearchDocument[], values: readonly string[]): Uint32Array {
  const words = bitWords(documents.length)
  const places = new Map(values.map((value, at) => [value, at * words]))
  const bits = new Uint32Array(values.length * words)
  documents.forEach((document, row) => {
    for (const value of valuesOf(document)) {
      const word = (places.get(value) ?? 0) + (row >>> 5)
      bits[word] = (bits[word] ?? 0) | (1 << (row & 31))
    }
  })
  return bits
}

function startsOf(chunks: readonly Uint8Array[]): number[] {
  const starts = [0]
  for (const chunk of chunks) starts.push((starts.at(-1) ?? 0) + chunk.byteLength)
  return starts
}
