import { spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { toImports } from './import-graph.ts'
import { findNetworkUse } from './network-use.ts'
import { ROOT, readSourceTree, type SourceFile } from './source-tree.ts'

/**
 * `npm run test:fast -- <room>`: lint, types, ways to the network and tests of one room, side by side. A room is a folder
 * (`functions/call`, `src/domain/trust`, `seeds`) or its last name (`call`). Its tests are those that
 * import it and those in the folder of `test` with its name; `npm test` runs all.
 */
const CACHE = join(ROOT, '.cache')

const files = readSourceTree()
const wanted = (process.argv[2] ?? '').replace(/\/$/, '')
const room = findRoom(files, wanted)
if (room === null) {
  console.error(`expected the name of a room, got "${wanted}"; for example functions/call or trust`)
  process.exitCode = 2
} else process.exitCode = await checkRoom(room)

async function checkRoom(folder: string): Promise<number> {
  const held = files.filter(({ path }) => isUnder(path, folder))
  const own = held.map(({ path }) => path)
  const tests = findTests(folder)
  const uses = held.flatMap((file) => findNetworkUse(file))
  for (const use of uses) console.error(`${use}: requests leave through functions/net alone`)
  console.log(`${folder}: ${own.length} files, ${tests.length} files of tests`)
  const codes = await Promise.all([
    run('biome', ['ci', '--error-on-warnings', folder, ...tests]),
    run('tsc', ['--noEmit', '--project', writeProject([...own, ...tests])]),
    tests.length === 0 ? 0 : run('vitest', ['run', '--no-isolate', ...tests]),
  ])
  return Math.max(...codes, uses.length > 0 ? 1 : 0)
}

function findRoom(tree: readonly SourceFile[], name: string): string | null {
  const folders = [...new Set(tree.flatMap(({ path }) => foldersOf(path)))].sort(
    (a, b) => a.length - b.length,
  )
  if (name === '') return null
  const code = folders.filter((folder) => !folder.startsWith('test'))
  return code.find((folder) => folder === name) ?? code.find((f) => f.endsWith(`/${name}`)) ?? null
}

function foldersOf(path: string): string[] {
  const folder = dirname(path)
  return folder === '.' ? [] : [folder, ...foldersOf(folder)]
}

function findTests(folder: string): string[] {
  const users = toImports(files)
    .filter(({ to, isOurs }) => isOurs && isUnder(to, folder))
    .map(({ from }) => from)
  const named = files
    .map(({ path }) => path)
    .filter((path) => isUnder(path, `test/${basename(folder)}`))
  // A browser takes longer than all else; only its own room waits for it.
  const isQuick = (path: string) => !path.startsWith('test/browser/')
  return [...new Set([...users.filter(isQuick), ...named])]
    .filter((path) => path.endsWith('.test.ts'))
    .sort()
}

/** Only the room and its tests are roots: the compiler reads what they import and no more. */
function writeProject(roots: readonly string[]): string {
  mkdirSync(CACHE, { recursive: true })
  const path = join(CACHE, 'tsconfig.fast.json')
  const include = [...roots.filter((file) => file.endsWith('.ts')), 'src/layouts/env.d.ts']
  writeFileSync(
    path,
    JSON.stringify({
      extends: '../tsconfig.json',
      files: include.map((file) => `../${file}`),
      include: [],
    }),
  )
  return path
}

function run(command: string, args: readonly string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(join(ROOT, 'node_modules/.bin', command), args, { stdio: 'inherit' })
    child.once('error', reject)
    child.once('exit', (code) => resolve(code ?? 1))
  })
}

function isUnder(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`)
}
