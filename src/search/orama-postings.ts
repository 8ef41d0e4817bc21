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
import { BLOCK_ROWS, CANDIDATES, takePostings } from './block-scores.ts'
import { createIndexTokens } from './index-tokens.ts'
import { planQuery } from './plan-query.ts'
import { createPostingsBuilder, type PostingsBuilder } from './postings-builder.ts'
import { openPlan } from './rank-rows.ts'
import { PROPERTY_FIELDS, READY_PROPERTIES, SEARCH_SCHEMA } from './search-schema.ts'
import { toTermIndex } from './term-index.ts'
import type { TermLexicon } from './term-lexicon.ts'
import type { TextAnalysis } from './text-analysis.ts'
import { termOfToken, toToken } from './token.ts'
import type { Vocabulary } from './vocabulary.ts'

export interface PostingsStore extends AnyIndexStore {
  builder: PostingsBuilder
}

/** A tokenizer whose tokens our index takes as numbers; as texts they would be looked up again. */
export interface PostingsTokenizer extends Tokenizer {
  tokensOf(text: string, property: string): readonly number[]
}

/** The analysis as Orama's tokenizer: a property of ready terms passes as it is. */
export function createPostingsTokenizer(
  analysis: TextAnalysis,
  vocabulary: Vocabulary,
): PostingsTokenizer {
  const { terms } = analysis
  const indexTokens = createIndexTokens(analysis, vocabulary)
  const tokensOf = (text: string, property: string) =>
    READY_PROPERTIES.has(property)
      ? [toToken(terms.numberOf(text), true)]
      : indexTokens(text, property === 'name')
  return {
    language: 'english',
    normalizationCache: new Map(),
    tokensOf,
    tokenize: (text, _language, property = '') =>
      tokensOf(text, property).map((token) => terms.textOf(termOfToken(token))),
  }
}

export function createPostingsIndex(terms: TermLexicon): IIndex<PostingsStore> {
  const unused = (method: string) => () => {
    throw new Error(`The postings index has no ${method}: build the whole index again instead.`)
  }
  return {
    create: () => ({ vectorIndexes: {}, builder: createPostingsBuilder(terms) }),
    insert(_implementation, index, property, _id, internalId, value, _type, _language, tokenizer) {
      const field = PROPERTY_FIELDS[property]
      if (field === undefined || !Array.isArray(value)) return
      const { tokensOf } = toPostingsTokenizer(tokenizer)
      // Orama numbers documents from 1 in the order they are inserted.
      for (const text of value)
        index.builder.add(internalId - 1, field, tokensOf(String(text), property))
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

function toPostingsTokenizer(tokenizer: Tokenizer): PostingsTokenizer {
  if (!('tokensOf' in tokenizer)) throw new Error('Use the tokenizer of createPostingsTokenizer.')
  // As above: it is the one of this file, typed as the least any tokenizer has.
  return tokenizer as PostingsTokenizer
}

/** Every match with its text score, as Orama wants it: it sorts and cuts by itself. */
function searchPostings({ builder }: PostingsStore, text: string): TokenScore[] {
  const index = toTermIndex(builder.finish())
  const { rows } = builder.statistics()
  const scores = new Map<number, number>()
  for (const cursor of openPlan(index, planQuery(index, text, rows))) {
    for (let start = 0; start < rows; start += BLOCK_ROWS) {
      const { candidates } = takePostings(cursor, start, Number.NEGATIVE_INFINITY)
      for (let at = 0; at < candidates; at += 1) {
        const id = start + (CANDIDATES.places[at] ?? 0) + 1
        scores.set(id, (scores.get(id) ?? 0) + (CANDIDATES.scores[at] ?? 0))
      }
    }
  }
  return [...scores]
}
