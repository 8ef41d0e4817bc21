import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { expect, test } from 'vitest'
import { parseSource, readSourceTree, walk } from '../support/source-tree.ts'
import { SPEC_RULES, SPEC_TAGS } from './spec-rules.ts'

const TAG = /spec:[a-z]+\.\d+/g

/** First argument of every `test(…)`, `it(…)`, `describe(…)` and their `.each(…)(…)`. */
function findTitles(): string[] {
  return readSourceTree(['test'])
    .filter(({ path, text }) => path.endsWith('.test.ts') && text.includes('spec:'))
    .flatMap((file) => walk(parseSource(file)).flatMap(toTitle))
}

function toTitle(node: ts.Node): string[] {
  if (!ts.isCallExpression(node)) return []
  const [title] = node.arguments
  if (title === undefined || !ts.isStringLiteralLike(title)) return []
  return /^(?:test|it|describe)\b/.test(node.expression.getText()) ? [title.text] : []
}

test('every numbered rule of the specification is held by a test that names it', () => {
  const found = new Set(findTitles().flatMap((title) => title.match(TAG) ?? []))
  expect(SPEC_TAGS.filter((tag) => !found.has(tag))).toEqual([])
  expect([...found].filter((tag) => !SPEC_TAGS.includes(tag))).toEqual([])
})

const SPECIFICATION = join(
  process.env.SHARED_DIR ?? join(import.meta.dirname, '../../../shared'),
  'spec/interface.md',
)

if (!existsSync(SPECIFICATION)) {
  test.skip('skipped: no spec/interface.md in ../shared (or SHARED_DIR)', () => {})
  console.log('count of rules skipped: no spec/interface.md in ../shared (or SHARED_DIR)')
} else
  test('the list of rules counts as the specification does', () => {
    const counts = countRules(readFileSync(SPECIFICATION, 'utf8'))
    for (const { heading, rules } of Object.values(SPEC_RULES))
      expect([heading, counts.get(heading)]).toEqual([heading, rules.length])
    expect([...counts.keys()].sort()).toEqual(
      Object.values(SPEC_RULES)
        .map(({ heading }) => heading)
        .sort(),
    )
  })

/** How many numbered lines stand below each heading, or below the line `Rules:`. */
function countRules(text: string): Map<string, number> {
  const counts = new Map<string, number>()
  let heading = ''
  for (const line of text.split('\n')) {
    if (/^#+ /.test(line)) heading = line.replace(/^#+ /, '')
    if (line === 'Rules:') heading = line
    if (/^\d+\. /.test(line)) counts.set(heading, (counts.get(heading) ?? 0) + 1)
  }
  return counts
}
