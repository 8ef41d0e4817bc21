import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import * as v from 'valibot'
import { afterEach, expect, test } from 'vitest'
import { type ContentFolder, createContentFolder, listingText } from '../support/content-folder.ts'
import { IS_LONG } from '../support/long.ts'

/** Twice the keys may take this much more work; a comparison of each with each takes four times. */
const MOST = 2.2

/** Enough that what is made once, such as a table of names, hardly counts. */
const MANY = 600

/** Our own tables are long: their words would drown what is counted. */
const SMALL = {
  'tables/foreign-words.yaml': '[]',
  'tables/search-words.yaml': '[]',
  'tables/marks.yaml': '[]',
  'tables/roadmap.yaml': '[]',
  'tables/tasks.yaml': '[]',
  'tables/shared_hosts.yaml': '[]',
}

let folders: ContentFolder[] = []
afterEach(() => {
  for (const folder of folders) folder.remove()
})

const many = (count: number, row: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => row(i))

const EVIDENCE = { measured: { source: 'x402-list' } }

/** Files of `count` faults each, a file of each kind that is checked. */
const FAULTY: [what: string, files: (count: number) => Record<string, string>][] = [
  [
    'unknown keys',
    (count) => ({
      'listings/x402/foo.md': listingText(
        Object.fromEntries(many(count, (i) => `k${i}`).map((key) => [key, '1'])),
      ),
    }),
  ],
  [
    'keys written twice',
    (count) => ({
      'listings/x402/foo.md': `---\n${many(count, (i) => `k${i}: 1\nk${i}: 2`).join('\n')}\n---\n`,
    }),
  ],
  [
    'operations with a fault',
    (count) => ({
      'listings/x402/foo.md': listingText({
        http: `[${many(count, () => '{ uri: 1 }').join(', ')}]`,
      }),
    }),
  ],
  [
    'unknown keys of a table',
    (count) => ({ 'tables/site.yaml': many(count, (i) => `k${i}: 1`).join('\n') }),
  ],
  [
    'unknown keys of evidence',
    (count) => ({
      'listings/x402/foo.md': listingText(),
      'evidence/x402/foo.json': JSON.stringify(
        { ...EVIDENCE, ...Object.fromEntries(many(count, (i) => `k${i}`).map((key) => [key, 1])) },
        null,
        1,
      ),
    }),
  ],
]

test.each(IS_LONG ? FAULTY : FAULTY.slice(0, 1))(
  'twice as many %s take twice the comparisons',
  (_, toFiles) => {
    const [, none = [], once = [], twice = []] = countSteps([0, 0, MANY, 2 * MANY].map(toFiles))
    const [idle = 0] = none
    expect(once[1]).toBeGreaterThanOrEqual(MANY)
    expect(twice[1]).toBeGreaterThanOrEqual(2 * MANY)
    const ratio = ((twice[0] ?? 0) - idle) / ((once[0] ?? 0) - idle)
    expect(ratio).toBeGreaterThan(1.8)
    expect(ratio).toBeLessThan(MOST)
  },
)

/** How often V8 entered each block of code while a folder was checked, and the faults found: no time, so the same on every machine. */
function countSteps(contents: readonly Record<string, string>[]): number[][] {
  folders = contents.map((files) => createContentFolder({ ...SMALL, ...files }))
  const script = fileURLToPath(new URL('../support/count-steps.ts', import.meta.url))
  const args = [script, ...folders.map(({ dir }) => dir)]
  const lines = execFileSync(process.execPath, args, { encoding: 'utf8' }).trim().split('\n')
  return lines.map((line) => v.parse(v.array(v.number()), JSON.parse(line)))
}
