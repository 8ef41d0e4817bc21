import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { deserialize, serialize } from 'node:v8'
import { toOperationParts, toSearchDocument } from '../../src/build/indexes.ts'
import { readContent } from '../../src/content/read.ts'
import { createCatalogue } from '../../src/derive/catalogue.ts'
import { toOperationEntries } from '../../src/domain/kit/found-operations.ts'
import { NO_LEDGER_FACTS } from '../../src/domain/trust/ledger-facts.ts'
import { buildSearchIndex } from '../../src/search/index/build-index.ts'
import { loadSearchIndex, type SearchIndex } from '../../src/search/index/index-file.ts'
import { toIndexTables } from '../../src/search/index/index-tables.ts'
import { FIXTURE_ENV } from './fixture-env.ts'

/**
 * The content that is published, as the tests of one run share it: a thousand listings take seconds
 * to read and to derive. No test may change it.
 */
export const { BASE_URL } = FIXTURE_ENV
/** A day of the content's: what is true on it does not change tomorrow. */
export const AS_OF = '2026-11-26'
export const { content, contentFaults, catalogue } = makeOnce('catalogue', () => {
  const rules = { allowPrivate: false }
  const { content, faults } = readContent('content', rules)
  if (content === null) throw new Error('run "npm run check": the content has errors')
  const options = { baseUrl: BASE_URL, rules, asOf: AS_OF, ledger: NO_LEDGER_FACTS }
  return { content, contentFaults: faults, catalogue: createCatalogue(content, options) }
})

let documents: ReturnType<typeof toDocuments> | undefined

/** Operations of every listing, made once. */
export function readOperationDocuments() {
  documents ??= makeOnce('documents', toDocuments)
  return documents
}

function toDocuments() {
  return catalogue.listings.flatMap((listing) => {
    const document = toSearchDocument(listing, catalogue)
    const parts = toOperationParts(listing, document, toOperationEntries(listing, BASE_URL))
    return parts.map((part) => ({ ...document, ...part }))
  })
}

let operations: SearchIndex | undefined

/** The index that agents' questions are asked of, made once. */
export function readOperationIndex(): SearchIndex {
  operations ??= loadSearchIndex(
    makeOnce('operations', () =>
      buildSearchIndex(readOperationDocuments(), {
        noun: 'operation',
        ...toIndexTables(catalogue.tables),
      }),
    ),
  )
  return operations
}

/** What one process of a test run made, its others read; a benchmark is no run, and makes its own. */
function makeOnce<Value>(name: string, make: () => Value): Value {
  if (process.env.VITEST === undefined) return make()
  // A folder of this run alone.
  const file = join(tmpdir(), `own-${name}`)
  try {
    return deserialize(readFileSync(file))
  } catch {
    const value = make()
    writeFileSync(`${file}-${process.pid}`, serialize(value))
    renameSync(`${file}-${process.pid}`, file)
    return value
  }
}
