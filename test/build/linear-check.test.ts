import { Session } from 'node:inspector/promises'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { readContent } from '../../src/compile/content/read-content.ts'
import { type ContentFolder, createContentFolder, listingText } from '../support/content-folder.ts'

/** Twice the keys may take this much more work; a comparison of each with each takes four times. */
const MOST = 2.2

let folder: ContentFolder | undefined
afterEach(() => folder?.remove())

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

let session: Session
/** Functions are counted from here on: before, some of them ran without counters. */
beforeAll(async () => {
  session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
})
afterAll(async () => {
  await session.post('Profiler.stopPreciseCoverage')
  session.disconnect()
})

test.each(FAULTY)('twice as many %s take twice the comparisons', async (_, toFiles) => {
  // Tables that did not change are read once.
  await countSteps(toFiles(0), 0)
  const none = await countSteps(toFiles(0), 0)
  const once = (await countSteps(toFiles(150), 150)) - none
  const twice = (await countSteps(toFiles(300), 300)) - none
  expect(twice / once).toBeGreaterThan(1.8)
  expect(twice / once).toBeLessThan(MOST)
})

/** How often V8 enters each block of code while the content is checked: no time, so the same on every machine. */
async function countSteps(files: Record<string, string>, least: number): Promise<number> {
  folder?.remove()
  folder = createContentFolder(files)
  await session.post('Profiler.takePreciseCoverage')
  const { faults } = readContent(folder.dir, { allowPrivate: false })
  const { result } = await session.post('Profiler.takePreciseCoverage')
  expect(faults.length).toBeGreaterThanOrEqual(least)
  return result
    .flatMap(({ functions }) => functions)
    .flatMap(({ ranges }) => ranges)
    .reduce((sum, { count }) => sum + count, 0)
}
