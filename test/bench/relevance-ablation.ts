/**
 * Prints what each mechanism of analysis buys: nDCG@10 without it, on the judged development queries,
 * on `paraphrases.tsv`, sixty other ways to ask for the same, judged by the same documents, and on
 * the long prompts and the stories of the development half of `judged`; what a user could pick instead
 * stands beside it. `npm run bench:ablation`; docs/search.md has the table.
 *
 * No mechanism has a switch: each is taken out of the source as it is loaded, in a process of its
 * own, by an edit that fails where the source no longer has what it replaces.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { join } from 'node:path'
import { NO_SEARCH_WORDS, type SearchWords } from '../../src/domain/derived/query-words.ts'
import type { SearchDocument } from '../../src/search/index/search-document.ts'
import {
  ndcg,
  type QuestionKind,
  readQuestions,
  readStories,
  toJudgedText,
} from './judged/judge.ts'
import type { RankIds } from './relevance-engine.ts'
import { findSharedDir, readCorpus, readSearchWords } from './shared-data.ts'

interface Ablation {
  name: string
  /** A file under `src/search`, what stands there, and what is put in its place. */
  edit?: readonly [file: string, from: string, to: string]
  /** Lists of the table of words that are emptied. */
  lists?: readonly (keyof SearchWords)[]
}

const BELONGING = 'query/belonging-words.ts'

const ABLATIONS: readonly Ablation[] = [
  { name: 'nothing left out' },
  {
    name: 'stemming',
    edit: [
      'words/stem-word.ts',
      'export function stemWord(word: string): string {',
      'export function stemWord(word: string): string {\n  if (word !== "") return word',
    ],
  },
  {
    name: 'repair of slips',
    edit: ['query/repair-word.ts', 'if (index.words.isEveryday(word)) return null', 'return null'],
  },
  {
    name: 'sounds in the repair (`ite` for `ight`)',
    edit: ['query/repair-word.ts', ', ...soundAlikes(word)', ''],
  },
  {
    name: 'pairs of neighbours',
    edit: ['query/plan-query.ts', 'pairTerms(index, units, pairWeight)', '[]'],
  },
  {
    name: 'two words read as one (`whats app`)',
    edit: ['query/plan-query.ts', 'joinWords(index, read.words)', 'read.words'],
  },
  {
    name: 'one word read as two',
    edit: ['query/query-units.ts', 'rows > WELL_KNOWN_ROWS', 'rows >= 0'],
  },
  {
    name: 'starts of words, for the last one',
    edit: ['query/query-units.ts', 'guess.isLast && !isEveryday', 'false && !isEveryday'],
  },
  { name: 'related words', lists: ['related'] },
  { name: 'stop words', lists: ['stop'] },
  { name: 'words too common to tell listings apart', lists: ['generic'] },
  { name: 'fillers', lists: ['filler'] },
  { name: 'words of time and manner', lists: ['aside'] },
  { name: 'everyday words are not slips', lists: ['everyday'] },
  {
    name: 'CamelCase found by its parts',
    edit: ['words/read-listings.ts', "if (style === 'camel')", 'if (style === null)'],
  },
  {
    name: 'three words and more with hyphens found as one',
    edit: ['words/read-listings.ts', 'parts.length > 2 ?', 'false ?'],
  },
  {
    name: 'what stands before a slash is a person',
    edit: ['index/search-document.ts', 'const NAMESPACED = /^(', 'const NAMESPACED = /^(?!)('],
  },
  {
    name: 'of a long prompt, the words that belong together',
    edit: [BELONGING, 'if (!isLong(kept)) return kept', 'return kept'],
  },
  { name: '… and stand near each other', edit: [BELONGING, ' / distance', ''] },
  { name: '… and name listings', edit: [BELONGING, ' * (LEAST.named + one.named)', ''] },
  { name: '… and stand behind what asks', edit: [BELONGING, ' * (asked[at] ?? 1)', ''] },
]

const [asked] = process.argv.slice(2)
const sharedDir = findSharedDir()
if (sharedDir === null)
  console.log('bench:ablation skipped: ../shared/data/relevance is absent (set SHARED_DIR)')
else if (asked !== undefined) await measure(sharedDir, ABLATIONS[Number(asked)])
else
  for (const at of ABLATIONS.keys()) {
    const args = [import.meta.filename, String(at)]
    const { status } = spawnSync(process.execPath, args, { stdio: 'inherit' })
    if (status !== 0) process.exit(1)
  }

async function measure(shared: string, ablation: Ablation | undefined): Promise<void> {
  if (ablation === undefined) throw new Error(`There is no ablation ${asked}.`)
  const { name, edit, lists = [] } = ablation
  if (edit !== undefined) editSource(edit)
  const { createOwnEngine } = await import('./relevance-engine.ts')
  const words = readSearchWords()
  const without = Object.fromEntries(lists.map((list) => [list, NO_SEARCH_WORDS[list]]))
  const corpus = readCorpus(shared)
  const score = readScorer(shared, corpus)
  score(name, createOwnEngine(corpus, { ...words, ...without }))
  if (ablation !== ABLATIONS[0]) return
  const { createBaselines } = await import('./relevance-baselines.ts')
  for (const [peer, rank] of await createBaselines(corpus)) score(peer, rank)
}

/** Prints a row of the table: what an engine reaches on each set of questions. */
function readScorer(shared: string, corpus: SearchDocument[]) {
  const split = join(shared, 'data/relevance/dev')
  const grades = readGrades(join(split, 'qrels.tsv'))
  const queries = readRows(join(split, 'queries.tsv')).slice(1)
  const paraphrases = readRows(join(import.meta.dirname, 'paraphrases.tsv'))
  const graded = (rows: readonly (readonly [id: string, q: string])[]) =>
    rows.map(([id, q]) => ({ q: q.trim(), grades: grades.get(id) ?? new Map<string, number>() }))
  const texts = corpus.map((document) => ({ id: document.id, text: toJudgedText(document) }))
  const judged = (kind: QuestionKind) =>
    [...readQuestions(), ...readStories()]
      .filter((question) => question.kind === kind && question.half === 'development')
      .map(({ q, grade }) => ({
        q,
        grades: new Map(texts.map(({ id, text }) => [id, grade(text)])),
      }))
  const sets = [
    graded(queries.map(([id = '', , q = '']) => [id, q])),
    graded(paraphrases.map(([id = '', q = '']) => [id, q])),
    judged('long'),
    judged('story'),
  ]
  return (name: string, rank: RankIds) => {
    const cells = sets.map((set) => {
      const sum = set.reduce((total, { q, grades }) => total + ndcg(rank(q), grades), 0)
      return (sum / set.length).toFixed(3)
    })
    console.log(`| ${[name, ...cells].join(' | ')} |`)
  }
}

function editSource([file, from, to]: readonly [string, string, string]): void {
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context)
      if (!url.endsWith(`/src/search/${file}`)) return loaded
      const source = String(loaded.source)
      if (!source.includes(from)) throw new Error(`${file} has no longer: ${from}`)
      return { ...loaded, source: source.replace(from, to) }
    },
  })
}

function readRows(file: string): string[][] {
  const lines = readFileSync(file, 'utf8').split('\n')
  return lines.filter((line) => line !== '').map((line) => line.split('\t'))
}

/** By query, the grade of each judged document. */
function readGrades(file: string): Map<string, Map<string, number>> {
  const grades = new Map<string, Map<string, number>>()
  for (const [id = '', document = '', grade] of readRows(file).slice(1)) {
    const own = grades.get(id) ?? new Map<string, number>()
    grades.set(id, own.set(document, Number(grade)))
  }
  return grades
}
