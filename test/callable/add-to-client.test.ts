import { expect, test } from 'vitest'
import { toAddLinks, toMcpSnippets } from '../../src/domain/kit/client-setup.ts'

const toLinks = (
  url: string,
  headers?: { name: string; value: string; required: boolean; secret: boolean }[],
) =>
  toAddLinks({
    snippets: toMcpSnippets('mcp.harbour', [
      { kind: 'mcp', transport: 'streamable-http', url, ...(headers && { headers }) },
    ]),
  })

test('a link carries the configuration that is shown to copy, as its client reads it', () => {
  const [cursor, vscode] = toLinks('https://mcp.harbour.example/mcp?q=été')
  const query = new URL(cursor?.url ?? '').searchParams
  expect(query.get('name')).toBe('harbour')
  expect(JSON.parse(atob(query.get('config') ?? ''))).toEqual({
    url: 'https://mcp.harbour.example/mcp?q=été',
  })
  expect(vscode?.url.startsWith('vscode:mcp/install?')).toBe(true)
  expect(JSON.parse(decodeURIComponent(vscode?.url.split('?').slice(1).join('?') ?? ''))).toEqual({
    name: 'harbour',
    type: 'http',
    url: 'https://mcp.harbour.example/mcp?q=été',
  })
})

test('what has to be filled in is said; what no client configures has no link', () => {
  const header = { name: 'Authorization', value: 'Bearer <TOKEN>', required: true, secret: true }
  expect(toLinks('https://a.example/mcp', [header]).every(({ isUnfinished }) => isUnfinished)).toBe(
    true,
  )
  expect(toLinks('https://a.example/mcp').some(({ isUnfinished }) => isUnfinished)).toBe(false)
  expect(toAddLinks({ snippets: { curl: 'curl -fLO https://a.example/x.mcpb' } })).toEqual([])
})
