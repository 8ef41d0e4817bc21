import { dirname } from 'node:path'
import { type Import, toImports } from './import-graph.ts'
import { readSourceTree } from './source-tree.ts'

/**
 * `npm run outcomes`: how heavy the product is and how far its features are spread, beside the aim.
 * A short file has under 30 lines and one importer in the product.
 */
const FEATURES = { search: 8, probe: 5, compare: 4, card: 3, payout: 4 } as const

if (import.meta.main) print()

function print(): void {
  const files = readSourceTree(['src', 'functions', 'seeds', 'packages'], /\.(?:ts|astro|css|mjs)$/)
  const lines = files.reduce((sum, file) => sum + file.lines, 0)
  const rows: [string, number, number][] = [
    ['lines', lines, 60_000],
    ['files', files.length, 760],
    ['short files', countShort(files, toImports(files)), 10],
    ...Object.entries(FEATURES).map(([word, aim]): [string, number, number] => [
      `folders with ${word}`,
      new Set(files.filter(({ path }) => path.includes(word)).map(({ path }) => dirname(path)))
        .size,
      aim,
    ]),
  ]
  for (const [name, is, aim] of rows)
    console.log(
      `${name.padEnd(22)} ${String(is).padStart(7)}   aim ${aim}${is > aim ? '   over' : ''}`,
    )
}

function countShort(
  files: readonly { path: string; lines: number }[],
  imports: readonly Import[],
): number {
  const importers = Map.groupBy(
    imports.filter(({ isOurs }) => isOurs),
    ({ to }) => to,
  )
  const isCode = (path: string) => /\.(?:ts|astro)$/.test(path) && !path.startsWith('src/pages/')
  return files.filter(
    ({ path, lines }) =>
      isCode(path) &&
      lines < 30 &&
      new Set(importers.get(path)?.map(({ from }) => from)).size === 1,
  ).length
}
