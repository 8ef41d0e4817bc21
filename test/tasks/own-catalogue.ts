import { readContent } from '../../src/compile/content/read-content.ts'
import { createCatalogue } from '../../src/compile/derive/catalogue.ts'
import { toTaskSellers } from '../../src/domain/plans/task-seller.ts'
import { toTask } from '../../src/domain/tasks/task.ts'
import { NO_LEDGER_FACTS } from '../../src/domain/trust/ledger-facts.ts'

/** The tasks and sellers of the content that is published. */
export const BASE_URL = 'https://directory.example'
const rules = { allowPrivate: false }
const { content } = readContent('content', rules)
if (content === null) throw new Error('run "npm run check": the content has errors')
export const catalogue = createCatalogue(content, {
  baseUrl: BASE_URL,
  rules,
  ledger: NO_LEDGER_FACTS,
})
export const { listings, tables } = catalogue
export const TASKS = tables.tasks.flatMap((row) => toTask(row) ?? [])
export const SELLERS = listings.flatMap((listing) => toTaskSellers(listing, tables.tasks))
