/**
 * Prints what each mechanism of the search buys: what changes without it on every set of judged
 * questions, in the first answers to names and in those to deeds. `npm run bench:ablation`;
 * docs/search.md has the table. `-- each` prints every group of questions, `-- <words>` only the
 * mechanisms whose name has them.
 *
 * No mechanism has a switch: each is taken out of the source as it is loaded, once more for each, by
 * edits that fail where the source no longer has what they replace.
 */
import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { join } from 'node:path'
import { toSearchDocument } from '../../src/build/indexes.ts'
import { NO_SEARCH_WORDS, type SearchWords } from '../../src/domain/derived/query-words.ts'
import { askForMostUsed } from '../search/most-used.ts'
import { catalogue, operationDocuments } from '../support/own-catalogue.ts'
import { countTasks, judgeTasks } from '../tasks/judge-deeds.ts'
import { ABLATIONS, type Ablation, type Edit } from './ablations.ts'
import {
  COLLECTIONS,
  ndcg,
  type Question,
  readQuestions,
  readStories,
  toJudgedText,
} from './judged/judge.ts'
import { findSharedDir, readCorpus, readSearchWords } from './shared-data.ts'

type Engines = typeof import('./ablation-engines.ts')

interface Group {
  /** The set, and of several kinds of questions the kind. */
  name: string
  questions: readonly { q: string; grades: ReadonlyMap<string, number> }[]
}

/** What an engine reaches: by group nDCG@10, and what is counted. */
interface Measured {
  groups: ReadonlyMap<string, number>
  counts: string
}

/** A group changes where it changes by this much. */
const NOISE = 0.005
/** A first row that is this good is right. */
const RIGHT = 2
const HEADS = 'Excluded, first right | Told | Names | Deeds: right, hold, callable'

/** By the query of a module's address: what is left out of it and of all it imports. */
const edits = new Map<string, readonly Edit[]>()
registerHooks({
  resolve(specifier, context, nextResolve) {
    const found = nextResolve(specifier, context)
    const { search = '' } = URL.parse(context.parentURL ?? '') ?? {}
    const isOurs = /\/(?:src|functions)\//.test(found.url) && !found.url.includes('node_modules')
    return search !== '' && isOurs ? { ...found, url: `${found.url}${search}` } : found
  },
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context)
    const { pathname, search } = new URL(url)
    const own = edits.get(search)?.filter(([file]) => pathname.endsWith(`/${file}`)) ?? []
    let source = String(loaded.source)
    for (const [file, from, to] of own) {
      if (!source.includes(from)) throw new Error(`${file} has no longer: ${from}`)
      source = source.replace(from, to)
    }
    return own.length === 0 ? loaded : { ...loaded, source }
  },
})

const sharedDir = findSharedDir()
if (sharedDir === null)
  console.log('bench:ablation skipped: ../shared/data/relevance is absent (set SHARED_DIR)')
else await ablate(sharedDir)

async function ablate(shared: string): Promise<void> {
  const [each, ...requested] = process.argv.slice(2).filter((word) => word !== '--')
  const wanted = (each === 'each' || each === undefined ? requested : [each, ...requested]).join(
    ' ',
  )
  const measure = createMeasure(shared)
  const [whole, ...others] = ABLATIONS
  if (whole === undefined) return
  const all = await measure(whole)
  for (const [name, value] of all.groups) console.log(`${value.toFixed(3)} ${name}`)
  console.log(`| Without | Mean | Groups that lose | Groups that gain | ${HEADS} |`)
  console.log(`| nothing left out | ${meanOf(all).toFixed(4)} | | | ${all.counts} |`)
  for (const ablation of others) {
    if (!ablation.name.includes(wanted)) continue
    const without = await measure(ablation)
    console.log(toRow(ablation.name, all, without, each === 'each'))
  }
}

function toRow(name: string, all: Measured, without: Measured, isEach: boolean): string {
  const changes = [...all.groups].map(([group, value]) => ({
    group,
    change: (without.groups.get(group) ?? 0) - value,
  }))
  const list = (sign: number) =>
    changes
      .filter(({ change }) => change * sign >= NOISE)
      .sort((a, b) => (b.change - a.change) * sign)
      .map(({ group, change }) => `${group} ${change > 0 ? '+' : ''}${change.toFixed(3)}`)
  const shown = (groups: string[]) =>
    isEach || groups.length <= 3
      ? groups.join(', ')
      : `${groups.slice(0, 3).join(', ')} and ${groups.length - 3} more`
  const change = meanOf(without) - meanOf(all)
  const cells = [name, change.toFixed(4), shown(list(-1)), shown(list(1)), without.counts]
  return `| ${cells.join(' | ')} |`
}

/** Of the groups, each as one. */
function meanOf({ groups }: Measured): number {
  return [...groups.values()].reduce((sum, value) => sum + value, 0) / groups.size
}

function createMeasure(shared: string) {
  const words = readSearchWords()
  const corpus = readCorpus(shared)
  const texts = new Map(corpus.map((document) => [document.id, toJudgedText(document)]))
  const toGraded = (question: Question) => ({
    q: question.q,
    grades: new Map(
      [...texts].flatMap(([id, text]) => {
        const grade = question.grade(text)
        return grade === 0 ? [] : [[id, grade] as const]
      }),
    ),
  })
  const questions = COLLECTIONS.flatMap((collection) =>
    readQuestions(collection).map((question) => ({
      ...question,
      set: `${collection} ${question.half}`,
    })),
  )
  const stories = readStories().map((question) => ({
    ...question,
    set: `queries ${question.half}`,
  }))
  const graded = [...questions, ...stories].filter(({ kind }) => kind !== 'silence')
  const byGroup = Map.groupBy(graded, ({ set, kind }) => `${set} ${kind}`)
  const groups = [
    ...readGraded(shared),
    ...[...byGroup].map(([name, own]): Group => ({ name, questions: own.map(toGraded) })),
  ]
  const excluded = questions.filter(({ kind }) => kind === 'excluded').map(toGraded)
  const silent = questions.filter(({ kind }) => kind === 'silence')
  const { listings } = catalogue
  const own = listings.map((listing) => toSearchDocument(listing, catalogue))
  return async (ablation: Ablation): Promise<Measured> => {
    const engines = await loadWithout(ablation)
    const used = withoutLists(words, ablation)
    const { rank, notes } = engines.createEngine(corpus, used)
    const means = groups.map(({ name, questions: requested }) => {
      const sum = requested.reduce((total, { q, grades }) => total + ndcg(rank(q), grades), 0)
      return [name, sum / requested.length] as const
    })
    const right = excluded.filter(({ q, grades }) => (grades.get(rank(q)[0] ?? '') ?? 0) >= RIGHT)
    const reported = silent.filter(({ q, missing = '' }) =>
      notes(q).some((note) => note.includes(missing)),
    )
    const named = askForMostUsed(listings, engines.createEngine(own, used).first)
    const first = named.filter((answer) => answer.wanted.includes(answer.first))
    const tasks = judgeTasks(engines.createOperationsEngine(operationDocuments, used))
    const done = (['isRight', 'isFilled', 'isCallable'] as const).map((key) =>
      countTasks(tasks, key),
    )
    const counts = [right.length, reported.length, first.length, done.join(', ')]
    return { groups: new Map(means), counts: counts.join(' | ') }
  }
}

function withoutLists(words: SearchWords, { lists = [] }: Ablation): SearchWords {
  return { ...words, ...Object.fromEntries(lists.map((list) => [list, NO_SEARCH_WORDS[list]])) }
}

async function loadWithout({ edits: own = [] }: Ablation): Promise<Engines> {
  const search = `?without=${edits.size}`
  edits.set(search, own)
  // An address that is not known before is typed `any`; it is that file.
  const engines: Engines = await import(`./ablation-engines.ts${search}`)
  return engines
}

/** The twenty judged queries, and sixty other ways to ask for the same, judged by the same documents. */
function readGraded(shared: string): Group[] {
  const split = join(shared, 'data/relevance/dev')
  const grades = readGrades(join(split, 'qrels.tsv'))
  const queries = readRows(join(split, 'queries.tsv')).slice(1)
  const paraphrases = readRows(join(import.meta.dirname, 'paraphrases.tsv'))
  const toGroup = (name: string, rows: readonly string[][], at: number): Group => ({
    name,
    questions: rows.map((row) => ({
      q: row[at]?.trim() ?? '',
      grades: grades.get(row[0] ?? '') ?? new Map<string, number>(),
    })),
  })
  return [toGroup('collection', queries, 2), toGroup('paraphrases', paraphrases, 1)]
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
