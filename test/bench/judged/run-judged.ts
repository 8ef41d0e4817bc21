import { SEARCH_WORDS } from '../../search/search-samples.ts'
/**
 * Prints how well the questions are answered by kind, ours beside what a user could pick instead:
 * nDCG@10, of the questions that exclude somebody how many first rows are right and how many of the
 * first five rows are of who was excluded, and of those out of scope how many are told to be.
 * `npm run bench:judged [-- aside] [-- deeds]`
 */

import { buildSearchIndex } from '../../../src/search/index/build-index.ts'
import { loadSearchIndex } from '../../../src/search/index/index-file.ts'
import type { SearchDocument } from '../../../src/search/index/search-document.ts'
import { searchIndex } from '../../../src/search/query/search-index.ts'
import { type RankIds, rankWithEach } from '../engines/load-engine.ts'
import { findSharedDir, readCorpus } from '../shared-data.ts'
import {
  COLLECTIONS,
  HALVES,
  type Judged,
  type JudgedText,
  judgeAll,
  meanOf,
  type Question,
  readQuestions,
  readStories,
  toJudgedText,
} from './judge.ts'

/** A row that is this good is right. */
const RIGHT = 2
const FIRST_ROWS = 5

const sharedDir = findSharedDir()
const half = HALVES.find((name) => process.argv.includes(name)) ?? 'development'
const collection = COLLECTIONS.find((name) => process.argv.includes(name)) ?? 'queries'
if (sharedDir === null)
  console.log('bench:judged skipped: ../shared/data/relevance is absent (set SHARED_DIR)')
else {
  const corpus = readCorpus(sharedDir)
  const texts = new Map(corpus.map((document) => [document.id, toJudgedText(document)]))
  const stories = collection === 'queries' ? readStories() : []
  const requested = [...readQuestions(collection), ...stories].filter(
    ({ half: own }) => own === half,
  )
  const judged = judgeAll(requested, texts)
  const engines = await rankWithEach(corpus)
  const rows = [...engines].map(([name, rank]) => [name, toScores(judged, texts, rank)])
  console.table(Object.fromEntries(rows))
  console.log(`${half} of ${collection}: ${countReported(corpus, requested)}`)
}

function toScores(
  judged: readonly Judged[],
  texts: ReadonlyMap<string, JudgedText>,
  rank: RankIds,
): Record<string, string> {
  const byKind = Map.groupBy(judged, ({ question }) => question.kind)
  const means = [...byKind].map(([kind, all]) => [
    `${kind} (${all.length})`,
    meanOf(all, rank).toFixed(3),
  ])
  const excluded = byKind.get('excluded') ?? []
  const first = excluded.map(({ question, grades }) => {
    const ids = rank(question.q).slice(0, FIRST_ROWS)
    return {
      isRight: (grades.get(ids[0] ?? '') ?? 0) >= RIGHT,
      unwanted: ids.filter((id) => isUnwanted(question, texts.get(id))).length,
    }
  })
  return {
    ...Object.fromEntries(means),
    ...(first.length > 0 && {
      'first right': `${first.filter(({ isRight }) => isRight).length} of ${first.length}`,
      unwanted: String(first.reduce((sum, { unwanted }) => sum + unwanted, 0)),
    }),
  }
}

function isUnwanted(question: Question, text: JudgedText | undefined): boolean {
  return text !== undefined && question.isExcluded(text)
}

/** Of the questions out of scope, those whose notes name the word that no listing has. */
function countReported(corpus: readonly SearchDocument[], requested: readonly Question[]): string {
  const index = loadSearchIndex(buildSearchIndex(corpus, { words: SEARCH_WORDS }))
  const silent = requested.filter(({ kind }) => kind === 'silence')
  const reported = silent.filter(({ q, missing = '' }) =>
    searchIndex(index, { q, limit: 1, offset: 0 }).notes.some((note) => note.includes(missing)),
  )
  const untold = silent.filter((question) => !reported.includes(question)).map(({ q }) => q)
  const others = untold.length > 0 ? `; not: ${untold.join(', ')}` : ''
  return `${reported.length} of ${silent.length} out of scope are told${others}`
}
