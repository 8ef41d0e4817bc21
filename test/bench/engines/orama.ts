import { readFileSync, writeFileSync } from 'node:fs'
import { create, insertMultiple, load, type RawData, save, search } from '@orama/orama'
import type { SearchDocument } from '../../../src/search/index/search-document.ts'
import { BOOSTS, type Engine } from './engine.ts'

/** Stock Orama with the fields to search and the filters our index has too. */
const schema = {
  name: 'string',
  tags: 'string[]',
  categories: 'string[]',
  summary: 'string',
  kind: 'enum',
  rails: 'enum[]',
  sources: 'enum[]',
  has: 'enum[]',
  minUsd: 'number',
  trust: 'number',
} as const

function toOrama(document: SearchDocument) {
  const { id, name, tags, categories, summary, kind, rails, sources, has } = document
  const { minUsd, trustScore } = document
  return {
    ...{ id, name, tags, categories, summary, kind, rails, sources, has },
    ...(minUsd !== null && { minUsd }),
    ...(trustScore !== null && { trust: trustScore }),
  }
}

export const orama: Engine = {
  name: 'orama',
  async build(documents, file) {
    const started = performance.now()
    const database = create({ schema, sort: { enabled: false } })
    await insertMultiple(database, Array.from(documents, toOrama))
    const buildMs = performance.now() - started
    const raw = save(database)
    writeFileSync(file, JSON.stringify(raw))
    const { docs: _docs, ...index } = raw
    return { buildMs, indexBytes: Buffer.byteLength(JSON.stringify(index)) }
  },
  open(file) {
    const database = create({ schema, sort: { enabled: false } })
    // What save() wrote is what load() takes; JSON has no type to say so.
    load(database, JSON.parse(readFileSync(file, 'utf8')) as RawData)
    return (term, limit) => {
      const found = search(database, {
        term,
        properties: ['name', 'tags', 'categories', 'summary'],
        boost: BOOSTS,
        limit,
      })
      return 'hits' in found ? found.hits.map(({ id }) => id) : []
    }
  },
}
