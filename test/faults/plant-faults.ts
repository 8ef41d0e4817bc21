import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import ts from 'typescript'
import * as v from 'valibot'
import { toImports } from '../support/import-graph.ts'
import { createDraws } from '../support/random.ts'
import { parseSource, ROOT, readSourceTree, type SourceFile } from '../support/source-tree.ts'
import { type Fault, findFaults, KINDS } from './find-faults.ts'

/**
 * `npm run faults -- [--count 40] [--seed 1] [--tests 12] [--list]`: plants faults at random in product
 * code, one at a time in a copy of the tree, runs the tests that are nearest by imports, and prints which
 * of them found it; what fails without the fault too has found nothing. Fails where fewer than 85 in a
 * hundred are found. A kind is drawn first and then one of its places, so that what is common in the code
 * does not drive out the rest. What the compiler refuses is no fault that could stay: another is drawn.
 */
const LEAST = 0.85
/** A fault may make a loop of what was none. */
const A_RUN_MS = 300_000
/** Imports that lie between a file and a test that imports nothing of it. */
const FAR = 12
/** Files of tests that passed without a fault. */
const passing = new Set<string>()
const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '40' },
    seed: { type: 'string', default: '1' },
    tests: { type: 'string', default: '12' },
    list: { type: 'boolean', default: false },
  },
})

const ReportSchema = v.object({
  testResults: v.array(
    v.object({
      name: v.string(),
      message: v.string(),
      assertionResults: v.array(v.object({ fullName: v.string(), status: v.string() })),
    }),
  ),
})

const files = readSourceTree()
const product = files.filter(
  ({ path }) => !path.startsWith('test/') && /(?<!\.test|\.d)\.ts$/.test(path),
)
const count = Number(values.count)
const nearest = createNearest(Number(values.tests))
if (values.list) {
  const drawn = drawFaults()
  for (let n = 0; n < count; n += 1) {
    const fault: Fault = drawn.next().value
    console.log(describe(fault), nearest(fault))
  }
} else process.exitCode = await plantAll()

function* drawFaults(): Generator<Fault> {
  const random = createDraws(Number(values.seed))
  const byKind = Map.groupBy(product.flatMap(findFaults), ({ kind }) => kind)
  const drawn = new Set<Fault>()
  for (;;) {
    const fault = random.pick(byKind.get(random.pick(KINDS)) ?? [])
    if (!drawn.has(fault)) yield fault
    drawn.add(fault)
  }
}

async function plantAll(): Promise<number> {
  const copy = copyTree()
  let [planted, missed] = [0, 0]
  try {
    for (const fault of drawFaults()) {
      const found = await plant(copy, fault)
      if (found === 'refused') continue
      planted += 1
      if (found === null) missed += 1
      console.log(
        `${found === null ? 'MISSED' : 'found '} ${describe(fault)} ${found ?? nearest(fault).join(' ')}`,
      )
      if (planted === count) break
    }
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
  const share = 1 - missed / planted
  console.log(`${planted - missed} of ${planted} found: ${(share * 100).toFixed(1)} %`)
  return share < LEAST ? 1 : 0
}

function describe({ path, line, kind, before, after }: Fault): string {
  const short = (text: string) => text.replace(/\s+/g, ' ').slice(0, 60)
  return `${path}:${line} ${kind}: ${short(before)} → ${short(after)}`
}

/** What git knows or would add, with the packages that are installed. */
function copyTree(): string {
  const copy = mkdtempSync(join(tmpdir(), 'waypost-faults-'))
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard']
  const paths = execFileSync('git', args, { encoding: 'utf8', maxBuffer: 2 ** 26 }).split('\0')
  for (const path of paths)
    if (path !== '' && existsSync(join(ROOT, path))) {
      mkdirSync(dirname(join(copy, path)), { recursive: true })
      cpSync(join(ROOT, path), join(copy, path))
    }
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'))
  return copy
}

/** @returns what found it, which passes without the fault; `refused` by the compiler, or null */
async function plant(copy: string, fault: Fault): Promise<string | 'refused' | null> {
  const file = join(copy, fault.path)
  const text = readFileSync(file, 'utf8')
  writeFileSync(file, text.slice(0, fault.from) + fault.after + text.slice(fault.to))
  const isRefused = spawnSync('npm', ['run', '-s', 'types'], { cwd: copy }).status !== 0
  const failed = isRefused ? null : await runTests(copy, nearest(fault))
  writeFileSync(file, text)
  if (isRefused) return 'refused'
  if (failed === null) return null
  const still = passing.has(failed.file) ? null : await runTests(copy, [failed.file])
  if (still === null) passing.add(failed.file)
  if (still === null) return `${failed.file}: ${failed.name}`
  console.log(`${failed.file} fails without the fault too: ${still.name}`)
  return null
}

interface Failed {
  file: string
  name: string
}

/** @returns the first test that failed, or file that could not be run; null where all passed */
async function runTests(copy: string, tests: readonly string[]): Promise<Failed | null> {
  const [first] = tests
  if (first === undefined) return null
  const report = join(copy, '.cache/faults.json')
  rmSync(report, { force: true })
  const child = spawn(
    'npx',
    ['vitest', 'run', '--bail=1', '--reporter=json', `--outputFile=${report}`, ...tests],
    { cwd: copy, stdio: 'ignore', detached: true },
  )
  const timer = setTimeout(() => endGroup(child), A_RUN_MS)
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  clearTimeout(timer)
  if (code === 0) return null
  // Ended before a test: the release that all share could not be made.
  if (!existsSync(report)) return { file: first, name: 'the tests did not run, or did not end' }
  const { testResults } = v.parse(ReportSchema, JSON.parse(readFileSync(report, 'utf8')))
  const failed = testResults.flatMap(({ name, message, assertionResults }): Failed[] => {
    const file = name.slice(name.lastIndexOf('/test/') + 1)
    const test = assertionResults.find(({ status }) => status === 'failed')
    if (test !== undefined) return [{ file, name: test.fullName }]
    return assertionResults.length === 0 && message !== '' ? [{ file, name: message }] : []
  })
  return failed[0] ?? { file: first, name: 'the run failed and no test did' }
}

/** With the servers and browsers that its tests started. */
function endGroup({ pid }: ChildProcess): void {
  if (pid !== undefined) process.kill(-pid, 'SIGKILL')
}

/**
 * The tests whose names have most words of the file's, or of its rooms, weighed against how many imports
 * lie between, of what the fault is in: whoever goes through the whole service imports all of it. A word
 * counts by how few tests have it: `listing` is in the names of many.
 */
function createNearest(most: number): (fault: Pick<Fault, 'path' | 'from'>) => string[] {
  const distancesFrom = createDistances()
  // `npm test` leaves long ones out, so vitest would find none of that name.
  const isTest = (path: string) => path.endsWith('.test.ts') && !path.endsWith('.long.test.ts')
  const tests = files.map(({ path }) => path).filter(isTest)
  const words = new Map(tests.map((test) => [test, wordsOf(test)]))
  const counts = Map.groupBy(
    [...words.values()].flatMap((of) => [...of]),
    (word) => word,
  )
  return ({ path, from }) => {
    const distances = distancesFrom({ path, from })
    const common = (test: string) =>
      [...(words.get(test) ?? [])]
        .filter((word) => wordsOf(path).has(word))
        .reduce((sum, word) => sum + Math.log2(tests.length / (counts.get(word)?.length ?? 1)), 0)
    const rank = (test: string) => (distances.get(test) ?? FAR) - common(test)
    // What runs in a process of its own, or in a page, is imported by no test.
    return tests
      .filter((test) => distances.has(test) || common(test) > 0)
      .sort((a, b) => rank(a) - rank(b))
      .slice(0, most)
  }
}

interface Statement {
  path: string
  from: number
  to: number
  /** Declared by it. */
  names: string[]
  words: Set<string>
}

/** How many imports lie between a place and each file whose statements use, by name, what it is in. */
function createDistances() {
  const ours = toImports(files).filter(({ isOurs }) => isOurs)
  const importers = Map.groupBy(ours, ({ to }) => to)
  const statements = new Map(files.map((file) => [file.path, toStatements(file)]))
  const usersIn = (path: string, names: readonly string[]) =>
    (statements.get(path) ?? []).filter(({ words }) => names.some((name) => words.has(name)))
  /** What uses statements in other files. */
  const importersOf = (used: Iterable<Statement>) =>
    [...Map.groupBy(used, ({ path }) => path)].flatMap(([to, own]) => {
      const names = own.flatMap((each) => each.names)
      return (importers.get(to) ?? []).flatMap(({ from }) => usersIn(from, names))
    })
  return ({ path, from }: Pick<Fault, 'path' | 'from'>): Map<string, number> => {
    const distances = new Map<string, number>()
    const seen = new Set<Statement>()
    let level = (statements.get(path) ?? []).filter((each) => each.from <= from && from < each.to)
    for (let distance = 0; level.length > 0; distance += 1) {
      const reached = new Set(level)
      for (const each of reached)
        for (const user of usersIn(each.path, each.names)) reached.add(user)
      for (const each of reached) {
        seen.add(each)
        if (!distances.has(each.path)) distances.set(each.path, distance)
      }
      level = importersOf(reached).filter((each) => !seen.has(each))
    }
    return distances
  }
}

/** Those that run, or pass on what others declare. */
function toStatements(file: SourceFile): Statement[] {
  const source = parseSource(file)
  return source.statements.flatMap((node) => {
    if (ts.isImportDeclaration(node) || ts.isInterfaceDeclaration(node)) return []
    if (ts.isTypeAliasDeclaration(node)) return []
    const words = new Set(node.getText(source).match(/[\w$]+/g))
    const declared = ts.isVariableStatement(node) ? node.declarationList.declarations : [node]
    const names = ts.isExportDeclaration(node)
      ? [...words]
      : declared.flatMap((each) => namesIn('name' in each ? (each.name as ts.Node) : undefined))
    return [{ path: file.path, from: node.getStart(source), to: node.end, names, words }]
  })
}

function namesIn(name: ts.Node | undefined): string[] {
  return name === undefined ? [] : (name.getText().match(/[\w$]+/g) ?? [])
}

/** @example wordsOf('functions/access/access-gate.ts') → access, gate */
function wordsOf(path: string): Set<string> {
  const [, ...rest] = path.replace(/(?:\.test)?\.ts$/, '').split('/')
  return new Set(rest.flatMap((part) => part.split('-')))
}
