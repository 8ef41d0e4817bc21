import { create, insert } from '@orama/orama'
import { buildColumns } from './build-columns.ts'
import { buildCodedColumn } from './coded-column.ts'
import type { Statistics } from './collected-postings.ts'
import { buildIdTable } from './id-table.ts'
import type { Section } from './index-file.ts'
import { createPostingsIndex, createPostingsTokenizer } from './orama-postings.ts'
import { createRowCounter } from './orama-row-counter.ts'
import type { SearchDocument } from './search-document.ts'
import { SEARCH_SCHEMA, toOramaDocument } from './search-schema.ts'
import { toTermIndex } from './term-index.ts'
import type { TextAnalysis } from './text-analysis.ts'
import type { Vocabulary } from './vocabulary.ts'

export type PartSections = Record<string, Section>

export interface PartContext {
  analysis: TextAnalysis
  vocabulary: Vocabulary
  /** Filter values in the order of their bit sets. */
  values: readonly string[]
  /** Score with these instead of the part's own. */
  statistics?: Statistics
}

/** @param documents in the order of ties: a document's place is its row number */
export function buildIndexPart(documents: readonly SearchDocument[], context: PartContext) {
  const database = create({
    schema: SEARCH_SCHEMA,
    sort: { enabled: false },
    components: {
      tokenizer: createPostingsTokenizer(context.analysis, context.vocabulary),
      index: createPostingsIndex(context.analysis.terms),
      documentsStore: createRowCounter(),
    },
  })
  for (const document of documents) insert(database, toOramaDocument(document))
  const { builder } = database.data.index
  const statistics = context.statistics ?? builder.statistics()
  const postings = builder.finish(statistics)
  const index = toTermIndex(postings, context.vocabulary.surfaces)
  const names = buildCodedColumn(postings.nameSaturations)
  const ids = buildIdTable(documents.map(({ id }) => id))
  const sections: PartSections = {
    wordBytes: index.dictionary.words.bytes,
    wordStarts: index.dictionary.words.starts,
    wordSlots: index.dictionary.words.byText.slots,
    wordFilter: index.dictionary.words.filter,
    pairFirsts: index.dictionary.pairs.firsts,
    pairStarts: index.dictionary.pairs.starts,
    pairSeconds: index.dictionary.pairs.seconds,
    soundSlots: index.sounds.slots,
    surfaceTerms: index.surfaces.terms,
    surfaceStarts: index.surfaces.starts,
    surfaceBytes: index.surfaces.bytes,
    postingBytes: index.postings.bytes,
    postingLengths: index.postings.lengths,
    postingBlocks: index.postings.blocks,
    palette: index.palette,
    idSlots: ids.slots,
    nameSaturationCodes: names.codes,
    nameSaturations: names.values,
    ...buildColumns(documents, context.values),
  }
  return { statistics, sections }
}
