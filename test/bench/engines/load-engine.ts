import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { SearchDocument } from '../../../src/search/index/search-document.ts'
import type { Engine } from './engine.ts'

/** Ours, and what a user could pick instead. Each is loaded alone: what it takes is measured. */
const LOADERS: Record<string, () => Promise<Engine>> = {
  waypost: async () => (await import('./waypost.ts')).waypost,
  fts5: async () => (await import('./fts5.ts')).fts5,
  minisearch: async () => (await import('./minisearch.ts')).minisearch,
  orama: async () => (await import('./orama.ts')).orama,
}
export const ENGINES = Object.keys(LOADERS)

export async function loadEngine(name: string): Promise<Engine> {
  const load = LOADERS[name]
  if (load === undefined) throw new Error(`There is no engine ${name}.`)
  return load()
}

/** Ids of the best listings for a query, best first. */
export type RankIds = (q: string) => readonly string[]
const DEPTH = 50

/** Every engine over the same listings. */
export async function rankWithEach(
  documents: readonly SearchDocument[],
): Promise<Map<string, RankIds>> {
  const folder = mkdtempSync(join(tmpdir(), 'engines-'))
  const ranked = new Map<string, RankIds>()
  for (const name of ENGINES) {
    const engine = await loadEngine(name)
    await engine.build(documents, join(folder, name))
    const search = await engine.open(join(folder, name))
    ranked.set(name, (q) =>
      search(q, DEPTH).map((row) => (typeof row === 'number' ? (documents[row]?.id ?? '') : row)),
    )
  }
  rmSync(folder, { recursive: true })
  return ranked
}
