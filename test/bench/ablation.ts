/**
 * Prints what each rule of the search buys: nDCG@10 on every set of judged questions without it, as a mean
 * and by the groups that change. `npm run bench:ablation [-- <words of rules' names>]`
 *
 * No rule has a switch: each is taken out of the source as it is loaded, once more for each, by edits that
 * fail where the source no longer has what they replace.
 */
import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { join } from 'node:path'
import * as v from 'valibot'
import { parse } from 'yaml'
import { NO_SEARCH_WORDS, type SearchWords } from '../../src/domain/derived/tables.ts'
import { COLLECTIONS, ndcg, readQuestions, readStories, toJudgedText } from './judged/judge.ts'
import { findSharedDir, readCorpus, readSearchWords } from './shared-data.ts'

const EditSchema = v.strictObject({
  without: v.string(),
  ...v.partial(v.object({ file: v.string(), from: v.string(), to: v.string() })).entries,
  lists: v.optional(v.array(v.string()), []),
})
type Edit = v.InferOutput<typeof EditSchema>

/** A group changes where it changes by this much. */
const NOISE = 0.005

/** By the query of a module's address: what is left out of it and of all it imports. */
const edits = new Map<string, readonly Edit[]>()
registerHooks({
  resolve(specifier, context, next) {
    const found = next(specifier, context)
    const { search = '' } = URL.parse(context.parentURL ?? '') ?? {}
    const isOurs = found.url.includes('/src/') && !found.url.includes('node_modules')
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
  for (const [name, { mean, count }] of all) console.log(`${mean.toFixed(3)} ${name} (${count})`)
  console.log(`| Without | Mean | Groups that change |\n| nothing | ${meanOf(all).toFixed(4)} | |`)
  for (const [name, own] of rules) {
    if (!name.includes(wanted)) continue
    const without = await measure(own)
    const changes = [...all].flatMap(([group, { mean }]) => {
      const change = (without.get(group)?.mean ?? 0) - mean
      return Math.abs(change) < NOISE ? [] : [`${group} ${change.toFixed(3)}`]
    })
    const change = (meanOf(without) - meanOf(all)).toFixed(4)
    console.log(`| ${name} | ${change} | ${changes.join(', ')} |`)
  }
}

type Measured = ReadonlyMap<string, { mean: number; count: number }>

/** Of the groups, each as one. */
function meanOf(groups: Measured): number {
  return [...groups.values()].reduce((sum, { mean }) => sum + mean, 0) / groups.size
}

/** @returns what takes some of the rules out, and gives nDCG@10 by group */
function createMeasure(shared: string): (own: readonly Edit[]) => Promise<Measured> {
  const corpus = readCorpus(shared)
  const texts = new Map(corpus.map((document) => [document.id, toJudgedText(document)]))
  const questions = COLLECTIONS.flatMap((set) =>
    [...readQuestions(set), ...(set === 'queries' ? readStories() : [])].flatMap((question) => {
      if (question.kind === 'silence') return []
      const grades = new Map([...texts].map(([id, text]) => [id, question.grade(text)]))
      return [{ q: question.q, grades, group: `${set} ${question.half} ${question.kind}` }]
    }),
  )
  const groups = Map.groupBy(questions, ({ group }) => group)
  return async (own) => {
    const search = `?without=${edits.size}`
    edits.set(search, own)
    const emptied = own.flatMap(({ lists }) => lists)
    const empty = Object.entries(NO_SEARCH_WORDS).filter(([list]) => emptied.includes(list))
    const rank = await loadSearch(search, corpus, {
      ...readSearchWords(),
      ...Object.fromEntries(empty),
    })
    return new Map(
      [...groups].map(([group, all]) => {
        const sum = all.reduce((total, { q, grades }) => total + ndcg(rank(q), grades), 0)
        return [group, { mean: sum / all.length, count: all.length }]
      }),
    )
  }
}

/** The search of modules that are loaded for this alone. */
async function loadSearch(
  search: string,
  corpus: ReturnType<typeof readCorpus>,
  words: SearchWords,
): Promise<(q: string) => string[]> {
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
  const index = loader.loadSearchIndex(build.buildSearchIndex(corpus, { words }))
  return (q) =>
    query
      .searchIndex(index, { q, limit: 10, offset: 0 })
      .organic.rows.map(({ row }) => loader.readId(index, row))
}
