import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readContent } from '../../src/content/read.ts'
import { contentForEachTest } from './content-fixture.ts'
import { pack, remote, server } from './registry-rows.ts'

const content = contentForEachTest()

describe('what people listed by hand is not listed twice', () => {
  test.each([
    [
      'package',
      'invoke: [{ kind: mcp_package, transport: stdio, registry: npm, identifier: "C-PKG" }]',
    ],
    ['remote', 'invoke:\n  - kind: mcp\n    transport: sse\n    url: https://mcp.a.example/mcp/'],
    [
      'registry entry',
      'sources: [{ source: mcp_registry, ref: "https://registry.modelcontextprotocol.io/v0.1/servers/a.b%2Fc/versions/latest" }]',
    ],
  ])('by the same %s', async (_what, yaml) => {
    content.write('listings/mcp/by-hand.md', `---\nname: By hand\n${yaml}\n---\n`)
    const row = server('a.b/c', { ...remote('https://mcp.a.example/mcp'), packages: pack('c-pkg') })
    const result = await content.seed({ from: content.save([row]) })
    expect(result.plan.outcomes).toEqual([
      { key: 'a.b/c', listing: 'mcp.by-hand', outcome: 'merged', rows: 1 },
    ])
    expect(content.listing('listings/mcp/by-hand.md')).toContain('source: mcp_registry')
  })

  test('who names a source does not show in the listing, nor in the hash of its content', async () => {
    const ref = 'https://registry.modelcontextprotocol.io/v0.1/servers/a.b%2Fc/versions/latest'
    const way = 'invoke: [{ kind: mcp, transport: sse, url: "https://mcp.a.example/mcp" }]'
    const words = `---\nname: By hand\nkind: mcp_server\nurl: https://a.dev\nsummary: "Tides."\ncategories: [developer_tools]\n${way}`
    const factsOf = (named: string) => {
      content.write('listings/mcp/by-hand.md', `${words}\n${named}added: 2026-11-20\n---\n`)
      const { content: read } = readContent(content.contentDir, { allowPrivate: false })
      return JSON.stringify(read?.listings[0]?.facts)
    }
    const own = `sources: [{ source: mcp_registry, ref: "${ref}" }]\n`
    factsOf(own)
    const row = server('a.b/c', { ...remote('https://mcp.a.example/mcp'), packages: [] })
    await content.seed({ from: content.save([row]) })
    expect(factsOf('')).toBe(factsOf(own))
    expect(factsOf('')).toContain('mcp_registry')
  })

  test('another service of the same name does not take the row, which waits', async () => {
    const way = '{ kind: mcp, transport: sse, url: "https://else.example/mcp" }'
    content.write('listings/mcp/a.b.c.md', `---\nname: Something else\ninvoke: [${way}]\n---\n`)
    const row = server('a.b/c', remote('https://mcp.a.example/mcp'))
    const result = await content.seed({ from: content.save([row]) })
    expect(result.plan.outcomes).toMatchObject([{ listing: null, outcome: 'added' }])
  })

  test('nothing is read or written through a link', async () => {
    content.write('outside.json', '{"rows":{}}')
    content.write('sources/mcp-registry/.keep', '')
    symlinkSync(
      join(content.contentDir, 'outside.json'),
      join(content.contentDir, 'sources/mcp-registry/rows.json'),
    )
    await content.seed({ from: content.save([server('a.b/c')]) })
    expect(content.read('outside.json')).toBe('{"rows":{}}')
    expect(Object.keys(content.rows('mcp-registry'))).toEqual(['a.b/c'])
  })

  test('of two names for one remote, the one under its domain stays', async () => {
    const rows = [
      server('io.github.thief/copy', { ...remote('https://mcp.a.example/mcp'), packages: [] }),
      server('example.a/mcp', { ...remote('https://mcp.a.example/mcp'), packages: [] }),
    ]
    const result = await content.seed({ from: content.save(rows) })
    expect(result.plan.outcomes.map(({ key }) => key)).toEqual(['example.a/mcp'])
    expect(result.refused).toMatchObject([
      { reason: 'same_endpoints', name: 'io.github.thief/copy' },
    ])
  })
})

describe('hands-off.yaml', () => {
  const rules = (match: string, rule: string) =>
    content.write(
      'sources/hands-off.yaml',
      `- { match: "${match}", rule: ${rule}, reason: the owner asked }\n`,
    )

  test.each([['a.b/c'], ['a.b/*'], ['A.B/C'], ['mcp.a.example'], ['MCP.größe.example']])(
    'never_list %s',
    async (match) => {
      rules(match, 'never_list')
      const host = match.includes('ö') ? 'mcp.xn--gre-6ka8i.example' : 'mcp.a.example'
      const from = content.save([server('a.b/c', remote(`https://${host}/mcp`))])
      expect((await content.seed({ from })).refused).toMatchObject([
        { reason: 'opted_out', detail: 'the owner asked' },
      ])
    },
  )

  test('leave_as_is keeps the importer away from a listing', async () => {
    await content.seed({ from: content.save([server('a.b/c', { title: 'First' })]) })
    rules('a.b/c', 'leave_as_is')
    const result = await content.seed({
      from: content.save([server('a.b/c', { title: 'Second' })]),
    })
    expect(result.plan.outcomes).toMatchObject([{ outcome: 'kept' }])
    expect(content.rows('mcp-registry')['a.b/c']?.facts.name).toBe('First')
  })

  test('a rule that says nothing known stops the run and names its place', async () => {
    rules('a.b/c', 'sometimes')
    await expect(content.seed({})).rejects.toThrow(
      /hands-off\.yaml:1 \[0\]\.rule: expected never_list/,
    )
  })
})
