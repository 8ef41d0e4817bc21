/**
 * Prints how well the questions of `queries.yaml` are answered by kind, ours beside what a user could
 * pick instead: nDCG@10. `npm run bench:judged [-- aside]`
 */
import { createBaselines } from '../relevance-baselines.ts'
import { createOwnEngine, type RankIds } from '../relevance-engine.ts'
import { findSharedDir, readCorpus, readSearchWords } from '../shared-data.ts'
import { HALVES, ndcg, type Question, readQuestions, readStories, toJudgedText } from './judge.ts'

const sharedDir = findSharedDir()
const half = HALVES.find((name) => name === process.argv[2]) ?? 'development'
if (sharedDir === null)
  console.log('bench:judged skipped: ../shared/data/relevance is absent (set SHARED_DIR)')
else {
  const corpus = readCorpus(sharedDir)
  const texts = corpus.map((document) => ({ id: document.id, text: toJudgedText(document) }))
  const asked = [...readQuestions(), ...readStories()].filter(
    ({ kind, half: own }) => own === half && kind !== 'silence',
  )
  const judged = asked.map((question) => ({
    question,
    grades: new Map(texts.map(({ id, text }) => [id, question.grade(text)])),
  }))
  const engines = new Map([
    ['waypost', createOwnEngine(corpus, readSearchWords())],
    ...(await createBaselines(corpus)),
  ])
  const rows = [...engines].map(([name, rank]) => [name, toScores(judged, rank)])
  console.table(Object.fromEntries(rows))
}

function toScores(
  judged: readonly { question: Question; grades: ReadonlyMap<string, number> }[],
  rank: RankIds,
): Record<string, string> {
  const byKind = Map.groupBy(judged, ({ question }) => question.kind)
  const means = [...byKind].map(([kind, all]) => {
    const sum = all.reduce(
      (total, { question, grades }) => total + ndcg(rank(question.q), grades),
      0,
    )
    return [kind, (sum / all.length).toFixed(3)]
  })
  return Object.fromEntries(means)
}
