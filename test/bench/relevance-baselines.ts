import { DatabaseSync } from 'node:sqlite'
import { create, insertMultiple, search } from '@orama/orama'
import MiniSearch from 'minisearch'
import type { SearchDocument } from '../../src/search/index/search-document.ts'
import { BOOSTS, searchedFields } from './engines/engine.ts'
import type { RankIds } from './relevance-engine.ts'

const DEPTH = 50
const CAMEL = /(?<=[a-z])(?=[A-Z])/g
const STOP_WORDS = new Set(
  'a an and are as at be before by for from i in is it me my of on or that the this to what with'.split(
    ' ',
  ),
)

/** What a user could pick instead, each with the specified weights. */
export async function createBaselines(documents: SearchDocument[]): Promise<Map<string, RankIds>> {
  return new Map<string, RankIds>([
    ['fts5', createFts5(documents, 'unicode61', (q) => q)],
    ['fts5-porter', createFts5(documents, 'porter unicode61', (q) => q)],
    ['fts5-porter-stop-camel', createFts5(documents, 'porter unicode61', prepare, splitCamel)],
    ['fts5-trigram', createFts5(documents, 'trigram', (q) => trigramsOf(q))],
    ['minisearch-prefix-fuzzy', createMiniSearch(documents)],
    ['orama', await createOrama(documents)],
  ])
}

function splitCamel(text: string): string {
  return text.replace(CAMEL, ' ')
}

function prepare(q: string): string {
  const words = splitCamel(q).split(/\s+/)
  return words.filter((word) => !STOP_WORDS.has(word.toLowerCase())).join(' ')
}

function trigramsOf(q: string): string {
  const words = q.match(/[\p{L}\p{N}]{3,}/gu) ?? []
  return words
    .flatMap((word) => Array.from({ length: word.length - 2 }, (_, at) => word.slice(at, at + 3)))
    .join(' ')
}

function createFts5(
  documents: readonly SearchDocument[],
  tokenizer: string,
  toQuery: (q: string) => string,
  toText: (text: string) => string = (text) => text,
): RankIds {
  const database = new DatabaseSync(':memory:')
  database.exec(
    `CREATE VIRTUAL TABLE t USING fts5(id UNINDEXED, name, tags, categories, summary, tokenize='${tokenizer}')`,
  )
  const insert = database.prepare('INSERT INTO t VALUES (?, ?, ?, ?, ?)')
  for (const document of documents) {
    const { name, tags, categories, summary } = searchedFields(document)
    insert.run(document.id, ...[name, tags, categories, summary].map(toText))
  }
  const select = database.prepare(
    `SELECT id FROM t WHERE t MATCH ? ORDER BY bm25(t, 0, 3, 2, 2, 1) LIMIT ${DEPTH}`,
  )
  return (q) => {
    const words = toQuery(q).match(/[\p{L}\p{N}]+/gu) ?? []
    if (words.length === 0) return []
    const found = select.all(words.map((word) => `"${word}"`).join(' OR '))
    return found.map((row) => String(row.id))
  }
}

function createMiniSearch(documents: readonly SearchDocument[]): RankIds {
  const index = new MiniSearch({ fields: ['name', 'tags', 'categories', 'summary'] })
  index.addAll(documents.map((document) => ({ id: document.id, ...searchedFields(document) })))
  return (q) => {
    const found = index.search(q, { boost: BOOSTS, prefix: true, fuzzy: 0.2 })
    return found.slice(0, DEPTH).map(({ id }) => String(id))
  }
}

async function createOrama(documents: readonly SearchDocument[]): Promise<RankIds> {
  const database = create({
    schema: { name: 'string', tags: 'string', categories: 'string', summary: 'string' } as const,
  })
  await insertMultiple(
    database,
    documents.map((document) => ({ id: document.id, ...searchedFields(document) })),
  )
  return (term) => {
    const found = search(database, { term, boost: BOOSTS, limit: DEPTH })
    return 'hits' in found ? found.hits.map(({ id }) => id) : []
  }
}
