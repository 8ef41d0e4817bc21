import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { readContent } from '../../src/compile/content/read-content.ts'
import { createContentFixture, outcomesOf } from './content-fixture.ts'
import { remote, server } from './registry-rows.ts'

const FORECAST = 'listings/mcp/example.weather.forecast.md'
const LOCK = 'seeds/mcp-registry.json'

let content: ReturnType<typeof createContentFixture>
beforeEach(() => {
  content = createContentFixture()
})
afterEach(() => content.cleanUp())

describe('seeding an empty folder', () => {
  test('writes a file a person would like to edit, and that the check accepts', async () => {
    const result = await content.seed({})
    expect(result.plan.writes.map(({ file }) => file)).toEqual([
      FORECAST,
      expect.stringMatching(/^listings\/mcp\/io\.github\.tide-tables\.tides-[0-9a-f]{8}\.md$/),
    ])
    expect(content.read(FORECAST)).toBe(`---
# yaml-language-server: $schema=../../schema/listing.schema.json
name: "Harbour Weather"
kind: mcp_server
url: "https://weather.example/agents"
summary: "Weather forecasts for harbours and open water."
categories: [geo_weather]
invoke:
  - { kind: mcp, transport: streamable-http, url: "https://mcp.weather.example/mcp", headers: [{ name: "Authorization", required: false, secret: true }] }
  - { kind: mcp_package, transport: stdio, registry: npm, identifier: "@harbour-weather/mcp" }
  - { kind: mcp_package, transport: streamable-http, registry: npm, identifier: "@harbour-weather/mcp" }
registry_name: "example.weather/forecast"
version: "1.0.2"
sources:
  - { source: mcp_registry, ref: "https://registry.modelcontextprotocol.io/v0.1/servers/example.weather%2Fforecast/versions/latest" }
added: 2026-02-03
---
`)
    const { faults, counts } = readContent(content.contentDir, { allowPrivate: false })
    const errors = faults.filter(({ severity }) => severity === 'error')
    expect(errors.filter(({ file }) => file.startsWith('listings/'))).toEqual([])
    expect(counts.listings).toBe(2)
  })

  test('a second run changes nothing, down to the byte', async () => {
    await content.seed({})
    const before = content.snapshot()
    const again = await content.seed({ today: '2027-01-01' })
    expect(again.plan.writes).toEqual([])
    expect(outcomesOf(again.plan)).toEqual(['unchanged', 'unchanged'])
    expect(content.snapshot()).toEqual(before)
  })

  test('a dry run writes nothing and says the same as the run', async () => {
    const before = content.snapshot()
    const dry = await content.seed({ dryRun: true })
    expect(content.snapshot()).toEqual(before)
    expect(dry.plan.writes).toEqual((await content.seed({})).plan.writes)
  })

  test('the day of the run stands where the source tells none', async () => {
    const from = content.save([server('a.b/c')])
    await content.seed({ from, today: '2026-12-24' })
    expect(content.read('listings/mcp/a.b.c.md')).toContain('added: 2026-12-24')
  })

  test('a limit reads that many rows', async () => {
    const from = content.save(['a', 'b', 'c'].map((name) => server(`x.y/${name}`)))
    expect((await content.seed({ from, limit: 2 })).plan.writes).toHaveLength(2)
  })

  test('every row ends in exactly one number', async () => {
    const rows = [
      server('a.b/c'),
      server('a.b/c'),
      server('a.b/d', { description: '' }),
      { odd: 1 },
    ]
    const result = await content.seed({ from: content.save([...rows, 'no object']) })
    expect(result.rows).toBe(5)
    expect(result.plan.outcomes.length + result.refused.length).toBe(5)
    expect(result.refused.map(({ reason }) => reason).sort()).toEqual([
      'duplicate_name',
      'invalid_row',
      'no_description',
      'unreadable_row',
    ])
  })
})

describe('what people did to a seeded listing stays', () => {
  const row = (change: object) =>
    server('a.b/c', { title: 'First', websiteUrl: 'https://a.example/1', ...change })
  const file = 'listings/mcp/a.b.c.md'
  const reseed = (change: object) => content.seed({ from: content.save([row(change)]) })
  const edit = (from: string | RegExp, to: string) => {
    const before = content.read(file)
    const after = before.replace(from, to)
    expect(after).not.toBe(before)
    content.write(file, after)
  }

  beforeEach(() => reseed({}))

  test('untouched fields follow the source', async () => {
    await reseed({ title: 'Second', websiteUrl: 'https://a.example/2' })
    expect(content.read(file)).toContain('name: "Second"')
    expect(content.read(file)).toContain('url: "https://a.example/2"')
  })

  test('an edited field is kept while the others follow', async () => {
    edit(/^summary: .*$/m, 'summary: Said better by a person.')
    const result = await reseed({ title: 'Second', description: 'Other words.' })
    expect(content.read(file)).toContain('summary: Said better by a person.\n')
    expect(content.read(file)).toContain('name: "Second"')
    expect(result.plan.editedFields).toMatchObject([{ fields: ['summary'] }])
  })

  test('keys, remarks, order and the description that people wrote are kept to the byte', async () => {
    edit('kind: mcp_server', '# checked by hand\nkind:   mcp_server # yes\ntags: [ weather ,sea ]')
    edit(/---\n$/, '---\n\nA description with $& and ---\n\n---\n')
    const before = content.read(file)
    await reseed({ title: 'Second' })
    expect(content.read(file)).toBe(before.replace('name: "First"', 'name: "Second"'))
  })

  test('another style of the same value is no edit, and a removed field stays removed', async () => {
    edit('name: "First"', "name: 'First'")
    edit(/^categories: .*\n/m, '')
    await reseed({ title: 'Second' })
    expect(content.read(file)).toContain('name: "Second"')
    expect(content.read(file)).not.toContain('categories')
  })

  test('a value with a remark inside is kept', async () => {
    edit('invoke:\n', 'invoke:\n  # the vendor says to prefer this one\n')
    const result = await reseed(remote('https://mcp.a.example/mcp'))
    expect(content.read(file)).toContain('# the vendor says')
    expect(result.plan.editedFields).toMatchObject([{ fields: ['invoke'] }])
  })

  test('an edit that the source takes over follows the source again', async () => {
    edit('name: "First"', 'name: Second')
    await reseed({ title: 'Second' })
    await reseed({ title: 'Third' })
    expect(content.read(file)).toContain('name: "Third"')
  })

  test('a deleted listing is not brought back', async () => {
    content.remove(file)
    const result = await reseed({ title: 'Second' })
    expect(result.plan.kept).toEqual([{ key: 'a.b/c', file, why: 'removed_by_people' }])
    expect((await reseed({})).plan.writes).toEqual([])
  })

  test('a renamed listing is followed', async () => {
    const text = content.read(file)
    content.remove(file)
    content.write('listings/mcp/better-name.md', text)
    await reseed({ title: 'Second' })
    expect(content.read('listings/mcp/better-name.md')).toContain('name: "Second"')
    const again = await reseed({ title: 'Second' })
    expect(again.plan.writes).toEqual([])
    expect(outcomesOf(again.plan)).toEqual(['unchanged'])
  })

  test('a file that cannot be read any more is left as it is', async () => {
    content.write(file, '---\nname: [broken\n---\n')
    const result = await reseed({ title: 'Second' })
    expect(result.plan.kept).toMatchObject([{ why: 'left_as_is' }])
    expect(content.read(file)).toBe('---\nname: [broken\n---\n')
  })

  test('a server that is refused now stays until a person removes it, and is named', async () => {
    const from = content.save([row({ description: '' }), server('a.b/other')])
    const result = await content.seed({ from })
    expect(result.refusedNow).toMatchObject([{ file, refusal: { reason: 'no_description' } }])
    expect(content.read(file)).toContain('First')
  })

  test('without its lock nothing that exists is touched, and nothing is doubled', async () => {
    edit('name: "First"', 'name: Edited')
    content.remove(LOCK)
    const before = content.read(file)
    const result = await reseed({ title: 'Second' })
    expect(outcomesOf(result.plan)).toEqual(['merged'])
    expect(content.read(file)).toBe(before)
  })

  test('a file that is the importer’s to the byte is taken up without its memory', async () => {
    content.remove(LOCK)
    expect(outcomesOf((await reseed({})).plan)).toEqual(['unchanged'])
    await reseed({ title: 'Second' })
    expect(content.read(file)).toContain('name: "Second"')
  })
})
