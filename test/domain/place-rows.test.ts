import { expect, test } from 'vitest'
import { placeRows } from '../../src/domain/sources/join-rows.ts'
import { createRowParser } from '../../src/domain/sources/source-row.ts'

const parseRow = createRowParser({ allowPrivate: false })
const A = 'https://a.example/mcp'
const B = 'https://b.example/mcp'
const C = 'https://c.example/mcp'

function toServer(key: string, remotes: readonly string[], of?: string) {
  const invoke = remotes.map((url) => ({ kind: 'mcp', transport: 'streamable-http', url }))
  const facts = { kind: 'mcp_server', name: key, ...(remotes.length > 0 && { invoke }) }
  const row = parseRow({ id: `mcp.${key}`, ...(of !== undefined && { of }), facts })
  return { importer: 'mcp-registry', key, row }
}

test.each([
  ['both endpoints of the first', [A, B], true],
  ['one of them', [B], true],
  ['one of them and another', [A, C], false],
  ['others alone', [C], false],
  ['none', [], false],
])('a server with %s is it: %s', (_, remotes, isSame) => {
  const listings = [{ id: 'mcp.first', facts: { kind: 'mcp_server', name: 'First' } }]
  const rows = [toServer('one', [A, B], 'mcp.first'), toServer('two', remotes)]
  const { taken, waiting } = placeRows(listings, rows, { moves: new Map() })
  expect(taken.get('mcp.first')?.map(({ key }) => key)).toEqual(isSame ? ['one', 'two'] : ['one'])
  expect(waiting.map(({ key }) => key)).toEqual(isSame ? [] : ['two'])
})
