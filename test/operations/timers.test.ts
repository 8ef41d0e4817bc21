import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { readSourceTree } from '../support/source-tree.ts'

/** The table of what a server does by itself. */
const [, table = ''] =
  /^## What a server does by itself\n([\s\S]*?)^## /m.exec(
    readFileSync('docs/operate.md', 'utf8'),
  ) ?? []
const named = new Set([...table.matchAll(/`(functions\/[\w/.-]+\.ts)`/g)].map(([, file]) => file))

/** Timers that repeat, under any name: a timer that ends by itself is not one of them. */
const repeating = readSourceTree(['functions'])
  .filter(({ text }) => /\bsetInterval\b/.test(text))
  .map(({ path }) => path)

test('every timer of a server that repeats stands in the table of operate.md, and nothing else does', () => {
  expect(repeating.length).toBeGreaterThan(5)
  expect([...named].sort()).toEqual(repeating.sort())
})
