/**
 * Prints what each rule of the search buys: nDCG@10 on every set of judged questions without it, as a mean
 * and by the groups that change, and the counts that change: excluded sellers, questions out of scope, and
 * of our own catalogue the names of the most used, questions judged by listings, and those for an operation.
 * `npm run bench:ablation [-- <words of rules' names>]`
 *
 * No rule has a switch: each is taken out of the source as it is loaded, once more for each, by edits that
 * fail where the source no longer has what they replace.
 */
import { globSync, readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { join } from 'node:path'
import * as v from 'valibot'
import { parse } from 'yaml'
import { NO_SEARCH_WORDS, type SearchWords } from '../../src/domain/derived/tables.ts'
import { toIndexTables } from '../../src/search/index/index-tables.ts'
import type { SearchDocument } from '../../src/search/index/search-document.ts'
import { askForMostUsed } from '../search/most-used.ts'
import { SEARCH_WORDS } from '../search/search-samples.ts'
import { catalogue, readOperationDocuments } from '../support/own-catalogue.ts'
import { countTasks, judgeTasks, NOW } from '../tasks/judge-deeds.ts'
import {
  COLLECTIONS,
  judgeAll,
  meanOf,
  OUT_OF_SCOPE,
  readOwnQuestions,
  readQuestions,
  readStories,
  toJudgedText,
} from './judged/judge.ts'
import { readListings } from './listing-source.ts'
import { findSharedDir, readCorpus } from './shared-data.ts'

const EditSchema = v.strictObject({
  without: v.string(),
  ...v.partial(v.object({ file: v.string(), from: v.string(), to: v.string() })).entries,
  lists: v.optional(v.array(v.string()), []),
})
type Edit = v.InferOutput<typeof EditSchema>

/** A group changes where it changes by this much. */
const NOISE = 0.005
/** A row that is this good is right. */
const RIGHT = 2

/** By the query of a module's address: what is left out of it and of all it imports. */
const edits = new Map<string, readonly Edit[]>()
registerHooks({
  resolve(specifier, context, next) {
    const found = next(specifier, context)
    const { search = '' } = URL.parse(context.parentURL ?? '') ?? {}
    const isOurs = /\/(?:src|functions)\//.test(found.url) && !found.url.includes('node_modules')
    return search !== '' && isOurs ? { ...found, url: `${found.url}${search}` } : found
  },
  load(url, context, next) {
    const loaded = next(url, context)
    const { pathname, search } = URL.parse(url) ?? { pathname: '', search: '' }
    let source = String(loaded.source)
    for (const { file, from = '', to = '' } of edits.get(search) ?? []) {
      if (file === undefined || !pathname.endsWith(`/${file}`)) continue
      if (!source.includes(from)) throw new Error(`${file} has no longer: ${from}`)
      source = source.replace(from, to)
    }
    return edits.has(search) ? { ...loaded, source } : loaded
  },
})

const sharedDir = findSharedDir()
if (sharedDir === null)
  console.log('bench:ablation skipped: ../shared/data/relevance is absent (set SHARED_DIR)')
else await ablate(sharedDir)

async function ablate(shared: string): Promise<void> {
  const wanted = process.argv.slice(2).join(' ')
  const file = readFileSync(join(import.meta.dirname, 'judged/ablations.yaml'), 'utf8')
  const rules = Map.groupBy(v.parse(v.array(EditSchema), parse(file)), ({ without }) => without)
  const measure = createMeasure(shared)
  const all = await measure([])
  for (const [name, { mean, count }] of all.groups)
    console.log(`${mean.toFixed(3)} ${name} (${count})`)
  console.log('| Without | Mean | Groups that change | Counts that change |')
  console.log(`| nothing | ${meanOfGroups(all).toFixed(4)} | | ${JSON.stringify(all.counts)} |`)
  for (const [name, own] of rules) {
    if (!name.includes(wanted)) continue
    const without = await measure(own)
    const changes = [...all.groups].flatMap(([group, { mean }]) => {
      const change = (without.groups.get(group)?.mean ?? 0) - mean
      return Math.abs(change) < NOISE ? [] : [`${group} ${change.toFixed(3)}`]
    })
    const change = (meanOfGroups(without) - meanOfGroups(all)).toFixed(4)
    const counts = Object.entries(all.counts).flatMap(([what, count]) => {
      const other = (without.counts[what] ?? 0) - count
      return other === 0 ? [] : [`${what} ${other}`]
    })
    console.log(`| ${name} | ${change} | ${changes.join(', ')} | ${counts.join(', ')} |`)
  }
}

interface Measured {
  groups: ReadonlyMap<string, { mean: number; count: number }>
  counts: Record<string, number>
}

/** Of the groups, each as one. */
function meanOfGroups({ groups }: Measured): number {
  return [...groups.values()].reduce((sum, { mean }) => sum + mean, 0) / groups.size
}

/** @returns what takes some of the rules out, and gives nDCG@10 by group */
function createMeasure(shared: string): (own: readonly Edit[]) => Promise<Measured> {
  const silent = COLLECTIONS.flatMap(readQuestions).filter(({ kind }) => kind === 'silence')
  const listings = readListings()
  const own = globSync('judged/own-*.yaml', { cwd: import.meta.dirname })
    .flatMap((file) => readOwnQuestions(join(import.meta.dirname, file)))
    .filter(({ group }) => group !== OUT_OF_SCOPE)
  const corpus = readCorpus(shared)
  const texts = new Map(corpus.map((document) => [document.id, toJudgedText(document)]))
  const questions = COLLECTIONS.flatMap((set) => {
    const all = [...readQuestions(set), ...(set === 'queries' ? readStories() : [])]
    return judgeAll(all, texts).map((judged) => ({ ...judged, set }))
  })
  const groups = Map.groupBy(
    questions,
    ({ question: { half, kind }, set }) => `${set} ${half} ${kind}`,
  )
  return async (edited) => {
    const search = `?without=${edits.size}`
    edits.set(search, edited)
    const emptied = edited.flatMap(({ lists }) => lists)
    const empty = Object.entries(NO_SEARCH_WORDS).filter(([list]) => emptied.includes(list))
    const words = { ...SEARCH_WORDS, ...Object.fromEntries(empty) }
    const { ask, askOwn, find } = await loadSearch(search, { corpus, listings, words })
    const excluded = questions.filter(({ question: { kind } }) => kind === 'excluded')
    const names = askForMostUsed(catalogue.listings, (q) => askOwn(q).ids[0])
    const tasks = judgeTasks(find)
    return {
      groups: new Map(
        [...groups].map(([group, all]) => {
          const mean = meanOf(all, (q) => ask(q).ids)
          return [group, { mean, count: all.length }]
        }),
      ),
      counts: {
        excluded: excluded.filter(
          ({ question: { q }, grades }) => (grades.get(ask(q).ids[0] ?? '') ?? 0) >= RIGHT,
        ).length,
        'out of scope': silent.filter(({ q, missing = '' }) =>
          ask(q).notes.some((note) => note.includes(missing)),
        ).length,
        'own first': own.filter(({ q, right }) => right.includes(askOwn(q).ids[0] ?? '')).length,
        names: names.filter(({ wanted, first }) => wanted.includes(first)).length,
        'tasks right': countTasks(tasks, 'isRight'),
        'tasks filled': countTasks(tasks, 'isFilled'),
        'tasks callable': countTasks(tasks, 'isCallable'),
      },
    }
  }
}

interface Made {
  corpus: readonly SearchDocument[]
  listings: readonly SearchDocument[]
  words: SearchWords
}

/** The searches of modules that are loaded for this alone. */
async function loadSearch(search: string, { corpus, listings, words }: Made) {
  const from = '../../src/search'
  // What is imported by an address that is made is typed `any`; it is these files.
  const build: typeof import('../../src/search/index/build-index.ts') = await import(
    `${from}/index/build-index.ts${search}`
  )
  const loader: typeof import('../../src/search/index/index-file.ts') = await import(
    `${from}/index/index-file.ts${search}`
  )
  const query: typeof import('../../src/search/query/search-index.ts') = await import(
    `${from}/query/search-index.ts${search}`
  )
  const finder: typeof import('../../functions/search/find-operations.ts') = await import(
    `../../functions/search/find-operations.ts${search}`
  )
  const tables = { ...toIndexTables(catalogue.tables), words }
  const askOf = (
    documents: readonly SearchDocument[],
    made: Parameters<typeof build.buildSearchIndex>[1],
  ) => {
    const index = loader.loadSearchIndex(build.buildSearchIndex(documents, made))
    return (q: string) => {
      const { organic, notes } = query.searchIndex(index, { q, limit: 10, offset: 0 })
      return { ids: organic.rows.map(({ row }) => loader.readId(index, row)), notes }
    }
  }
  const operations = loader.loadSearchIndex(
    build.buildSearchIndex(readOperationDocuments(), { noun: 'operation', ...tables }),
  )
  return {
    ask: askOf(corpus, { words }),
    askOwn: askOf(listings, tables),
    find: finder.createFindOperations({
      release: () => ({ operations }),
      clock: { now: () => NOW },
    }),
  }
}
