import { toOperationParts, toSearchDocument } from '../../src/build/indexes.ts'
import { readContent } from '../../src/content/read.ts'
import { createCatalogue } from '../../src/derive/catalogue.ts'
import { toOperationEntries } from '../../src/domain/kit/found-operations.ts'
import { NO_LEDGER_FACTS } from '../../src/domain/trust/ledger-facts.ts'
import { buildSearchIndex, toIndexTables } from '../../src/search/index/build-index.ts'
import { loadSearchIndex, type SearchIndex } from '../../src/search/index/index-file.ts'
import { FIXTURE_ENV } from './fixture-env.ts'

/**
 * The content that is published, as the tests of one process share it: a thousand listings take seconds
 * to read and to derive. No test may change it.
 */
const rules = { allowPrivate: false }
const { content: read, faults } = readContent('content', rules)
if (read === null) throw new Error('run "npm run check": the content has errors')
export const { BASE_URL } = FIXTURE_ENV
/** A day of the content's: what is true on it does not change tomorrow. */
export const AS_OF = '2026-11-26'
export const content = read
export const contentFaults = faults
export const catalogue = createCatalogue(content, {
  baseUrl: BASE_URL,
  rules,
  asOf: AS_OF,
  ledger: NO_LEDGER_FACTS,
})

let documents: ReturnType<typeof toDocuments> | undefined

/** Operations of every listing, made once. */
export function readOperationDocuments() {
  documents ??= toDocuments()
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
    buildSearchIndex(readOperationDocuments(), {
      noun: 'operation',
      ...toIndexTables(catalogue.tables),
    }),
  )
  return operations
}
