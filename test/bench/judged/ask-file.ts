/**
 * Asks the questions of a file and prints, by group, how many first rows are right, how many of the
 * first five hold a right one, and where operations are named how many first operations are those;
 * then the first rows of each question that misses. `node test/bench/judged/ask-file.ts <file.yaml>`
 */
import { createFindOperations } from '../../../functions/search/find-operations.ts'
import type { OperationsAnswer } from '../../../src/domain/search/search-response.ts'
import { buildSearchIndex } from '../../../src/search/index/build-index.ts'
import { loadSearchIndex, readId } from '../../../src/search/index/index-file.ts'
import { toIndexTables } from '../../../src/search/index/index-tables.ts'
import { searchIndex } from '../../../src/search/query/search-index.ts'
import { catalogue, readOperationIndex } from '../../support/own-catalogue.ts'
import { readListings } from '../listing-source.ts'
import { OUT_OF_SCOPE, type OwnQuestion, readOwnQuestions } from './judge.ts'

const SHOWN = 5

const [file] = process.argv.slice(2)
if (file === undefined) throw new Error('expected a file of questions: ask-file.ts <file.yaml>')
const questions = readOwnQuestions(file)
const index = loadSearchIndex(buildSearchIndex(readListings(), toIndexTables(catalogue.tables)))
const operations = readOperationIndex()
const find = createFindOperations({ release: () => ({ operations }) })
const known = new Set(catalogue.listings.map(({ id }) => id))
for (const { q, right, also } of questions)
  for (const id of [...right, ...also])
    if (!known.has(id)) console.log(`“${q}”: ${id} is not listed`)

const requested = questions.map(ask)
const groups = Map.groupBy(requested, ({ group }) => group)
const share = (rows: readonly boolean[]) =>
  `${rows.filter(Boolean).length} of ${rows.length} (${(rows.filter(Boolean).length / rows.length).toFixed(2)})`
const toRow = (rows: typeof requested) => {
  const done = rows.flatMap(({ isOperationRight }) => isOperationRight ?? [])
  return {
    'right first': share(rows.map(({ isFirst }) => isFirst)),
    'in five': share(rows.map(({ isInFive }) => isInFive)),
    ...(done.length > 0 && { 'operation first': share(done) }),
  }
}
console.table({
  ...Object.fromEntries([...groups].map(([group, rows]) => [group, toRow(rows)])),
  all: toRow(requested),
})
for (const { group, q, task, isFirst, isOperationRight, ids, shown, first, notes } of requested)
  if (!isFirst || isOperationRight === false) {
    console.log(`${group}: ${q} (task: ${task ?? 'none'})`)
    if (!isFirst) console.log(`    ${shown.join(' | ') || 'nothing'}`)
    if (group === OUT_OF_SCOPE || ids.length === 0) console.log(`    ${notes.join(' ')}`)
    if (isOperationRight === false) console.log(`    operation: ${first}`)
  }

function ask({ q, group, right, also, operation }: OwnQuestion) {
  const { organic, notes, task } = searchIndex(index, { q, limit: SHOWN, offset: 0 })
  const ids = organic.rows.map(({ row }) => readId(index, row))
  const gradeOf = (id: string) => (right.includes(id) ? 2 : Number(also.includes(id)))
  const isReported =
    organic.total === 0 || notes.some((note) => note.startsWith('No listing matches'))
  const answer = find(`${new URLSearchParams({ q, limit: String(SHOWN) })}`)
  const [row] = 'results' in answer ? answer.results : []
  return {
    ...{ q, group, task, ids, notes },
    isFirst: group === OUT_OF_SCOPE ? isReported : gradeOf(ids[0] ?? '') === 2,
    isInFive: group === OUT_OF_SCOPE ? isReported : ids.some((id) => gradeOf(id) === 2),
    isOperationRight:
      Object.keys(operation).length === 0
        ? undefined
        : row !== undefined && operation[row.listing.id] === nameOf(row),
    shown: ids.map((id) => `${gradeOf(id)}:${id}`),
    first: row === undefined ? 'nothing' : `${row.listing.id} ${nameOf(row)}`,
  }
}

function nameOf({ operation: { name, method, url = '' } }: OperationsAnswer['results'][number]) {
  const path = decodeURI(URL.parse(url)?.pathname ?? url)
  return method === undefined ? name : `${method} ${path}`
}
