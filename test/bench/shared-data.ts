import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as v from 'valibot'
import { readTables } from '../../src/content/tables.ts'
import type { SearchWords } from '../../src/domain/derived/tables.ts'
import { toIndexTables } from '../../src/search/index/build-index.ts'
import type { SearchDocument } from '../../src/search/index/search-document.ts'
import { domainFact } from '../support/shared-hosts.ts'

/** The folder of real data beside the project, or null where it is absent. */
export function findSharedDir(): string | null {
  const folder = process.env.SHARED_DIR ?? join(import.meta.dirname, '../../../shared')
  return existsSync(join(folder, 'data/relevance')) ? folder : null
}

/** The product's own table of words, as every index is built with. */
export function readSearchWords(): SearchWords {
  const { tables } = readTables(join(import.meta.dirname, '../../content'))
  if (tables === null) throw new Error('content/tables has faults: run npm run check')
  return toIndexTables(tables).words
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

/** Reads a file of one JSON value a line. */
export function readJsonLines(file: string): unknown[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
}

/** The judged collection as search documents; the body is a stand-in. */
export function readCorpus(sharedDir: string): SearchDocument[] {
  const lines = readJsonLines(join(sharedDir, 'data/relevance/corpus.jsonl'))
  return lines.map((line) => {
    const { doc: id, ...row } = v.parse(CorpusRowSchema, line)
    return {
      ...row,
      ...domainFact(row.url),
      id,
      rails: id.startsWith('x402.') ? ['x402'] : [],
      sources: ['corpus'],
      has: [],
      minUsd: null,
      maxUsd: null,
      auth: 'unknown',
      runs: ['remote'],
      networks: [],
      call: false,
      added: null,
      trustScore: null,
      verifiedBuyers: 0,
      liveTested: false,
      remote: true,
      firstParty: false,
      body: new TextEncoder().encode(
        JSON.stringify({
          id,
          name: row.name,
          kind: row.kind,
          summary: row.summary,
          status: 'unclaimed',
          links: { listing: `/api/v1/listings/${id}` },
        }),
      ),
    }
  })
}
