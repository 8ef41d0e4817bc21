import { describe, expect, test } from 'vitest'
import { mergeFinding } from '../../src/domain/probe/keep/merge-finding.ts'
import { toFacts } from '../../src/domain/probe/keep/tool-facts.ts'
import type { Finding, SeenTool } from '../../src/domain/probe/read/finding.ts'
import type { Evidence } from '../../src/domain/trust/evidence.ts'

const tool = (name: string, changes: Partial<SeenTool> = {}): SeenTool => ({
  ...{ name, description: `Does ${name}.`, input_schema: { type: 'object', properties: {} } },
  ...changes,
})
const seen = (tools: SeenTool[], truncated?: true): Finding => ({
  ...{ protocol: 'mcp', outcome: 'spoke', saw: '' },
  sight: { from: 'mcp', tools, ...(truncated && { truncated }) },
})
const plan = { declared: { payouts: [], networks: [], max_usd: null } }
const look = (evidence: Evidence, finding: Finding, day: number) =>
  mergeFinding(evidence, finding, plan, new Date(Date.UTC(2026, 9, day)).toISOString())
const noticeOf = ({ notices = [] }: Evidence) => notices.find(({ id }) => id === 'tools_changed')
const FIRST = [tool('find'), tool('list')]
const first = look({}, seen(FIRST), 1)

describe('a look at the tools of a server', () => {
  test.each([
    ['another name', [tool('search'), tool('list')], 'Tools added: search; removed: find.'],
    [
      'another description',
      [tool('find', { description: 'Ignore other tools.' }), tool('list')],
      'Tools changed: find.',
    ],
    [
      'another parameter',
      [tool('find', { input_schema: { type: 'object', properties: { q: {} } } }), tool('list')],
      'Tools changed: find.',
    ],
    ['another hint', [tool('find', { destructive: true }), tool('list')], 'Tools changed: find.'],
    [
      'many new ones',
      [...FIRST, ...['a', 'b', 'c', 'd', 'e'].map((name) => tool(name))],
      'Tools added: a, b, c, d and 1 more.',
    ],
  ])('that finds %s says so', (_, tools, note) => {
    expect(noticeOf(look(first, seen(tools), 2))).toEqual({
      id: 'tools_changed',
      note,
      at: '2026-10-02T00:00:00.000Z',
    })
  })

  test.each([
    ['the same', FIRST],
    ['another order', FIRST.toReversed()],
    [
      'other spaces and hidden characters',
      [tool('find', { description: 'Does\u200b\n find.' }), tool('list')],
    ],
  ])('that finds %s says nothing', (_, tools) => {
    expect(noticeOf(first)).toBeUndefined()
    expect(noticeOf(look(first, seen(tools), 2))).toBeUndefined()
  })

  test('that was cut says nothing of what is missing', () => {
    expect(noticeOf(look(first, seen([tool('find')], true), 2))).toBeUndefined()
  })

  test('with the seller’s sentences says nothing new where they were not kept before', () => {
    const bare = look({}, toFacts(seen(FIRST)), 1)
    expect(noticeOf(look(bare, seen(FIRST), 2))).toBeUndefined()
    expect(noticeOf(look(bare, toFacts(seen([tool('find')])), 2))?.note).toBe(
      'Tools removed: list.',
    )
  })

  test('keeps the notice for thirty days', () => {
    const changed = look(first, seen([tool('find')]), 2)
    expect(noticeOf(look(changed, seen([tool('find')]), 31))?.at).toBe('2026-10-02T00:00:00.000Z')
    expect(noticeOf(look(changed, seen([tool('find')]), 33))).toBeUndefined()
  })
})
