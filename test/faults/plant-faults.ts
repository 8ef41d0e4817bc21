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
import * as v from 'valibot'
import { toImports } from '../support/import-graph.ts'
import { createDraws } from '../support/random.ts'
import { ROOT, readSourceTree } from '../support/source-tree.ts'
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
const FAR = 8
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
    console.log(describe(fault), nearest(fault.path))
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
        `${found === null ? 'MISSED' : 'found '} ${describe(fault)} ${found ?? nearest(fault.path).join(' ')}`,
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
  const failed = isRefused ? null : await runTests(copy, nearest(fault.path))
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
 * lie between: whoever goes through the whole service imports all of it. A word counts by how few tests
 * have it: `listing` is in the names of many.
 */
function createNearest(most: number): (path: string) => string[] {
  const importers = Map.groupBy(
    toImports(files).filter(({ isOurs }) => isOurs),
    ({ to }) => to,
  )
  // `npm test` leaves long ones out, so vitest would find none of that name.
  const isTest = (path: string) => path.endsWith('.test.ts') && !path.endsWith('.long.test.ts')
  const tests = files.map(({ path }) => path).filter(isTest)
  const words = new Map(tests.map((test) => [test, wordsOf(test)]))
  const counts = Map.groupBy(
    [...words.values()].flatMap((of) => [...of]),
    (word) => word,
  )
  return (path) => {
    const distances = new Map([[path, 0]])
    for (const [each, distance] of distances)
      for (const { from } of importers.get(each) ?? [])
        if (!distances.has(from)) distances.set(from, distance + 1)
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

/** @example wordsOf('functions/access/access-gate.ts') → access, gate */
function wordsOf(path: string): Set<string> {
  const [, ...rest] = path.replace(/(?:\.test)?\.ts$/, '').split('/')
  return new Set(rest.flatMap((part) => part.split('-')))
}
