/**
 * Our index as an Orama component (`components.index`).
 *
 * Used of Orama: `create` and `insert` with its schema check, the tokenizer slot (our analysis),
 * and the component slots for index, documents and sorter. `search(db, { term })` works too and
 * gives the specified text score, which a test compares with the engine.
 *
 * Not used: its stock index (its score is not the published BM25), its document store and sorter
 * (bodies lie in the index file, the order is ours), its save format (JSON that must be parsed),
 * and, when serving, `search`: it copies and sorts every match, where the engine selects a page
 * from typed arrays. `npm run bench:search` prints both; the serving function loads no Orama.
 */
import type { AnyIndexStore, IIndex, Tokenizer, TokenScore } from '@orama/orama'
import { createScratch } from './index-part.ts'
import { indexTokens, type Vocabulary } from './index-tokens.ts'
import { planQuery } from './plan-query.ts'
import { createPostingsBuilder, type PostingsBuilder } from './postings-builder.ts'
import { scoreTerms } from './score-terms.ts'
import { PROPERTY_FIELDS, READY_PROPERTIES, SEARCH_SCHEMA } from './search-schema.ts'
import { toTermIndex } from './term-index.ts'

export interface PostingsStore extends AnyIndexStore {
  builder: PostingsBuilder
}

/** The analysis as Orama's tokenizer: a property of ready terms passes as it is. */
export function createPostingsTokenizer(vocabulary: Vocabulary): Tokenizer {
  return {
    language: 'english',
    normalizationCache: new Map(),
    tokenize: (text, _language, property = '') =>
      READY_PROPERTIES.has(property)
        ? [text]
        : indexTokens(text, { vocabulary, keepStopWords: property === 'name' }),
  }
}

export function createPostingsIndex(): IIndex<PostingsStore> {
  const unused = (method: string) => () => {
    throw new Error(`The postings index has no ${method}: build the whole index again instead.`)
  }
  return {
    create: () => ({ vectorIndexes: {}, builder: createPostingsBuilder() }),
    insert(_implementation, index, property, _id, internalId, value, _type, language, tokenizer) {
      const field = PROPERTY_FIELDS[property]
      if (field === undefined || !Array.isArray(value)) return
      const tokens = value.flatMap((text) => tokenizer.tokenize(String(text), language, property))
      // Orama numbers documents from 1 in the order they are inserted.
      index.builder.add(internalId - 1, field, tokens)
    },
    search: (index, text) => searchPostings(toPostingsStore(index), text),
    getSearchableProperties: () => Object.keys(SEARCH_SCHEMA),
    getSearchablePropertiesWithTypes: () => ({ ...SEARCH_SCHEMA }),
    remove: unused('remove'),
    insertDocumentScoreParameters: unused('insertDocumentScoreParameters'),
    insertTokenScoreParameters: unused('insertTokenScoreParameters'),
    removeDocumentScoreParameters: unused('removeDocumentScoreParameters'),
    removeTokenScoreParameters: unused('removeTokenScoreParameters'),
    calculateResultScores: unused('calculateResultScores'),
    searchByWhereClause: unused('where filters'),
    load: unused('load'),
    save: unused('save'),
  }
}

function toPostingsStore(index: AnyIndexStore): PostingsStore {
  if (!('builder' in index)) throw new Error('This index was not made by createPostingsIndex.')
  // Orama hands a component its own store back, typed as the least any index has.
  return index as PostingsStore
}

/** Every match with its text score, as Orama wants it: it sorts and cuts by itself. */
function searchPostings({ builder }: PostingsStore, text: string): TokenScore[] {
  const postings = builder.finish()
  const index = toTermIndex(postings)
  const { rows } = builder.statistics()
  const scratch = createScratch(rows)
  const { things, others } = planQuery(index, text, rows)
  const matched = scoreTerms(index, [...things.flat(), ...others], scratch)
  return Array.from(scratch.matches.subarray(0, matched), (row) => [
    row + 1,
    scratch.scores[row] ?? 0,
  ])
}
