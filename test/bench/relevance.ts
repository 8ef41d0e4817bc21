/**
 * Prints how well the judged development queries are answered, ours beside what a user could pick
 * instead: nDCG@10 for all queries and for each group. `npm run bench:relevance [-- <split folder>]`
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type RankIds, rankWithEach } from './engines/load-engine.ts'
import { findSharedDir, readCorpus } from './shared-data.ts'

const sharedDir = findSharedDir()
if (sharedDir === null) {
  console.log('bench:relevance skipped: ../shared/data/relevance is absent (set SHARED_DIR)')
} else {
  const split = process.argv[2] ?? join(sharedDir, 'data/relevance/dev')
  evaluate(sharedDir, split, await rankWithEach(readCorpus(sharedDir)))
}

/** Writes a run file for each engine and has the collection's own script judge them together. */
function evaluate(shared: string, split: string, engines: ReadonlyMap<string, RankIds>): void {
  const lines = readFileSync(join(split, 'queries.tsv'), 'utf8').split('\n').slice(1)
  const queries = lines.map((line) => line.split('\t')).filter(([id]) => id !== '')
  const folder = mkdtempSync(join(tmpdir(), 'relevance-'))
  const files = [...engines].map(([name, rank]) => {
    const file = join(folder, `${name}.run`)
    const run = queries.flatMap(([id, , q = '']) =>
      rank(q.trim()).map((doc, at) => `${id}\t${at + 1}\t${doc}\n`),
    )
    writeFileSync(file, run.join(''))
    return file
  })
  const script = join(shared, 'data/relevance/evaluate.mjs')
  spawnSync(process.execPath, [script, split, ...files], { stdio: 'inherit' })
  rmSync(folder, { recursive: true })
}
