/** Prints nDCG@10 of the judged development queries. Run with `npm run bench:relevance`. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildSearchIndex } from '../../src/search/build-search-index.ts'
import { readId } from '../../src/search/index-rows.ts'
import { loadSearchIndex } from '../../src/search/load-search-index.ts'
import { searchIndex } from '../../src/search/search-index.ts'
import { findSharedDir, readCorpus } from './shared-data.ts'

const sharedDir = findSharedDir()
if (sharedDir === null) {
  console.log('bench:relevance skipped: ../shared/data/relevance is absent (set SHARED_DIR)')
  process.exit(0)
}
const index = loadSearchIndex(buildSearchIndex(readCorpus(sharedDir)))
const split = process.argv[2] ?? join(sharedDir, 'data/relevance/dev')
const queries = readFileSync(join(split, 'queries.tsv'), 'utf8').split('\n').slice(1)
const lines: string[] = []
for (const line of queries) {
  const [id, , q] = line.split('\t')
  if (q === undefined) continue
  const { organic, notes } = searchIndex(index, { q, limit: 50, offset: 0 })
  if (process.env.SHOW) console.log(`\n${id} ${q}`, organic.total, notes)
  organic.rows.forEach(({ row, relevance }, at) => {
    const doc = readId(index, 'organic', row)
    lines.push(`${id}\t${at + 1}\t${doc}`)
    if (process.env.SHOW && at < 12) console.log(' ', doc, relevance)
  })
}
const run = join(mkdtempSync(join(tmpdir(), 'relevance-')), 'waypost.run')
writeFileSync(run, `${lines.join('\n')}\n`)
const evaluate = join(sharedDir, 'data/relevance/evaluate.mjs')
spawnSync(process.execPath, [evaluate, split, run, '--per-query'], { stdio: 'inherit' })
