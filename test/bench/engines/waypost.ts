import { writeFileSync } from 'node:fs'
import { openSearchIndex } from '../../../functions/release/release.ts'
import { buildSearchIndex } from '../../../src/search/index/build-index.ts'
import {
  INDEX_HEADER_BYTES,
  readId,
  readIndexHeader,
} from '../../../src/search/index/index-file.ts'
import { searchIndex } from '../../../src/search/query/search-index.ts'
import { SEARCH_WORDS } from '../../search/search-samples.ts'
import type { Engine } from './engine.ts'

export const waypost: Engine = {
  name: 'waypost',
  build(documents, file) {
    const started = performance.now()
    const bytes = buildSearchIndex(documents, { words: SEARCH_WORDS })
    const buildMs = performance.now() - started
    writeFileSync(file, bytes)
    return { buildMs, indexBytes: readIndexHeader(bytes.subarray(0, INDEX_HEADER_BYTES)).headBytes }
  },
  open(file) {
    // No bodies in memory: the others keep no listings at all.
    const index = openSearchIndex(file, 0)
    return (q, limit) =>
      searchIndex(index, { q, limit, offset: 0 }).organic.rows.map(({ row }) => readId(index, row))
  },
}
