import { expect, test } from 'vitest'
import { toCallRows } from '../../src/components/calls/call-rows.ts'
import { toSourceLines } from '../../src/components/listing/listing-page.ts'
import { toKit, toListing } from './listing-samples.ts'

test.each([
  [{ name: 'wipe_disk', destructive: true }, [{ text: 'says it may delete', tone: 'strong' }]],
  [{ name: 'delete_note', read_only: false }, [{ text: 'writes', tone: 'strong' }]],
  [{ name: 'delete_note' }, []],
  [{ name: 'find_note', destructive: true, read_only: true }, [{ text: 'reads', tone: 'plain' }]],
])('of %j a page never says more than the seller does', (stated, tags) => {
  const tool = { description: 'x', input_schema: { type: 'object' }, ...stated }
  const at = '2026-11-20T00:00:00Z'
  const listing = toListing({
    facts: { kind: 'mcp_server', pricing: { model: 'unknown' } },
    evidence: { interface: { at, from: 'mcp', tools: [tool] } },
  })
  const [row] = toCallRows(toKit(listing))?.rows ?? []
  expect(row?.tags).toEqual(tags)
})

test('a source is named once, by the words it asks for, and its licence is not said twice', () => {
  const row = { url: '', decision: 'used' as const, reason: '', listings: 1 }
  const table = [
    {
      ...row,
      id: 'bazaar',
      name: 'Bazaar',
      license: 'CC BY 4.0 (for a part)',
      attribution: 'Bazaar by A (CC BY 4.0)',
    },
    { ...row, id: 'registry', name: 'Registry', license: 'MIT', attribution: '' },
  ]
  const sources = [
    { source: 'registry', ref: 'https://r.example/1' },
    { source: 'registry', ref: 'https://r.example/2' },
    {
      source: 'bazaar',
      ref: 'https://b.example',
      says: ['pricing', 'tools'],
      at: '2026-11-22T08:00:00Z',
    },
    { source: 'other', ref: 'https://o.example' },
  ]
  expect(toSourceLines({ sources }, table)).toMatchObject([
    { text: 'Registry', href: 'https://r.example/1', license: 'MIT', says: '' },
    {
      text: 'Bazaar by A (CC BY 4.0)',
      href: 'https://b.example',
      license: '',
      says: 'From it: price, tools, read on 22 Nov 2026.',
    },
    { text: 'other', href: 'https://o.example', license: '', says: '' },
  ])
})
