import { existsSync } from 'node:fs'
import { join } from 'node:path'
import * as v from 'valibot'
import type { SearchDocument } from '../../src/search/index/search-document.ts'
import { sampleDocument } from '../search/search-samples.ts'
import { readJsonLines } from '../support/json-lines.ts'

/** The folder of real data beside the project, or null where it is absent. */
export function findSharedDir(): string | null {
  const folder = process.env.SHARED_DIR ?? join(import.meta.dirname, '../../../shared')
  return existsSync(join(folder, 'data/relevance')) ? folder : null
}

const CorpusRowSchema = v.object({
  doc: v.string(),
  kind: v.picklist(['kit', 'http_api', 'mcp_server', 'a2a_agent']),
  name: v.string(),
  tags: v.array(v.string()),
  categories: v.array(v.string()),
  summary: v.string(),
  url: v.string(),
})

/** The judged collection as search documents. */
export function readCorpus(sharedDir: string): SearchDocument[] {
  const lines = readJsonLines<unknown>(join(sharedDir, 'data/relevance/corpus.jsonl'))
  return lines.map((line) => {
    const { doc: id, ...row } = v.parse(CorpusRowSchema, line)
    const document = sampleDocument({ ...row, id, sources: ['corpus'] })
    return id.startsWith('x402.') ? { ...document, rails: ['x402'] } : document
  })
}
