import { readFileSync, writeFileSync } from 'node:fs'
import MiniSearch from 'minisearch'
import { BOOSTS, type Engine, searchedFields } from './engine.ts'

const options = { fields: ['name', 'tags', 'categories', 'summary'] }

export const minisearch: Engine = {
  name: 'minisearch',
  build(documents, file) {
    const started = performance.now()
    const index = new MiniSearch(options)
    index.addAll(
      Array.from(documents, (document) => ({ id: document.id, ...searchedFields(document) })),
    )
    const buildMs = performance.now() - started
    const text = JSON.stringify(index)
    writeFileSync(file, text)
    return { buildMs, indexBytes: Buffer.byteLength(text) }
  },
  open(file) {
    const index = MiniSearch.loadJSON(readFileSync(file, 'utf8'), options)
    return (q, limit) => {
      const found = index.search(q, { boost: BOOSTS, prefix: true, fuzzy: 0.2 })
      return found.slice(0, limit).map(({ id }) => String(id))
    }
  },
}
