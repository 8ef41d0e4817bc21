import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { readContent } from '../../src/content/read.ts'
import { contentForEachTest, outcomesOf } from './content-fixture.ts'
import { pack, remote, server } from './registry-rows.ts'

const ROWS = 'sources/mcp-registry/rows.json'
const rules = { allowPrivate: false }

const content = contentForEachTest()

describe('seeding an empty folder', () => {
  test('needs no folder of listings yet', async () => {
    rmSync(join(content.contentDir, 'listings'), { recursive: true })
    const { plan } = await content.seed({})
    expect(outcomesOf(plan)).toContain('added')
    await content.accept()
    expect(Object.keys(content.snapshot()).filter((file) => file.endsWith('.md'))).not.toEqual([])
  })

  test('writes one file of the source, a line for each fact, and no listing', async () => {
    await content.seed({})
    const [forecast] = content.read(ROWS).split('\n},\n')
    expect(forecast).toBe(`{
"taken": 2,
"rows": {
"example.weather/forecast": {
 "id": "mcp.example.weather.forecast",
 "added": "2026-02-03",
 "facts": {
  "kind": "mcp_server",
  "name": "Harbour Weather",
  "url": "https://weather.example/agents",
  "summary": "Weather forecasts for harbours and open water.",
  "categories": ["geo_weather"],
  "invoke": [
   {"kind":"mcp","transport":"streamable-http","url":"https://mcp.weather.example/mcp","headers":[{"name":"Authorization","required":false,"secret":true}]},
   {"kind":"mcp","transport":"streamable-http","url":"https://{tenant}.weather.example/mcp","variables":[{"name":"tenant","required":false,"secret":false}]},
   {"kind":"mcp_package","transport":"stdio","registry":"npm","identifier":"@harbour-weather/mcp"},
   {"kind":"mcp_package","transport":"streamable-http","registry":"npm","identifier":"@harbour-weather/mcp"}
  ],
  "registry_name": "example.weather/forecast",
  "version": "1.0.2",
  "sources": [
   {"source":"mcp_registry","ref":"https://registry.modelcontextprotocol.io/v0.1/servers/example.weather%2Fforecast/versions/latest"}
  ]
 }`)
    const made = Object.keys(content.snapshot()).filter((file) => file.endsWith('.md'))
    expect(made).toEqual([])
  })

  test('a person who takes its rows writes few lines, and the check accepts the listings', async () => {
    await content.seed({})
    await content.accept()
    expect(content.read('listings/mcp/example.weather.forecast.md')).toBe(`---
# yaml-language-server: $schema=../../schema/listing.schema.json
name: Harbour Weather
summary: Weather forecasts for harbours and open water.
categories:
  - geo_weather
---
`)
    const { faults, counts, waiting } = readContent(content.contentDir, rules)
    const errors = faults.filter(({ severity }) => severity === 'error')
    expect(errors.filter(({ file }) => file.startsWith('listings/'))).toEqual([])
    expect([counts.listings, waiting.length]).toEqual([2, 0])
  })

  test('a second run changes nothing, down to the byte', async () => {
    await content.seed({})
    const before = content.snapshot()
    const again = await content.seed({ today: '2027-01-01' })
    expect(again.isChanged).toBe(false)
    expect(outcomesOf(again.plan)).toEqual(['unchanged', 'unchanged'])
    expect(content.snapshot()).toEqual(before)
  })

  test('a dry run writes nothing and says the same as the run', async () => {
    const before = content.snapshot()
    const dry = await content.seed({ dryRun: true })
    expect(content.snapshot()).toEqual(before)
    expect(dry.plan).toEqual((await content.seed({})).plan)
  })

  test('the day of the first run stands where the source tells none', async () => {
    const from = content.save([server('a.b/c')])
    await content.seed({ from, today: '2026-12-24' })
    await content.seed({ from, today: '2026-12-25' })
    expect(content.rows('mcp-registry')['a.b/c']?.added).toBe('2026-12-24')
  })

  test('a limit reads that many rows, and the others stay as they were', async () => {
    const rows = ['a', 'b', 'c'].map((name) => server(`x.y/${name}`))
    await content.seed({ from: content.save(rows) })
    const result = await content.seed({ from: content.save(rows), limit: 2 })
    expect(result.plan.outcomes).toHaveLength(2)
    expect(Object.keys(content.rows('mcp-registry'))).toHaveLength(3)
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

describe('what people write of a listing stands', () => {
  const row = (change: object) =>
    server('a.b/c', { title: 'First', websiteUrl: 'https://a.example/1', ...change })
  const file = 'listings/mcp/a.b.c.md'
  const reseed = (change: object) => content.seed({ from: content.save([row(change)]) })

  beforeEach(async () => {
    await reseed({})
    await content.accept()
  })

  test('no importer writes into it, and what they leave out follows the source', async () => {
    const before = content.read(file)
    await reseed({ title: 'Second', websiteUrl: 'https://a.example/2' })
    expect(content.read(file)).toBe(before)
    expect(content.fields(file).get('name')).toBe('First')
    expect(content.fields(file).get('url')).toBe('https://a.example/2')
  })

  test('a list that they wrote is whole, and its elements take what they lack', async () => {
    const words = content.read(file).replace(/---\n$/, '')
    const way = '{ kind: mcp_package, transport: stdio, registry: npm, identifier: c-pkg }'
    content.write(file, `${words}invoke:\n  - ${way}\n---\n`)
    const [own = {}] = pack('c-pkg')
    const environmentVariables = [{ name: 'C_KEY', isRequired: true, isSecret: true }]
    await reseed({
      ...remote('https://mcp.a.example/mcp'),
      packages: [{ ...own, environmentVariables }],
    })
    expect(content.fields(file).get('invoke')).toMatchObject([
      { identifier: 'c-pkg', env: [{ name: 'C_KEY', required: true, secret: true }] },
    ])
  })

  test('a listing that they deleted is not brought back, nor asked about again', async () => {
    content.remove(file)
    const result = await reseed({ title: 'Second' })
    expect(result.plan.outcomes).toMatchObject([{ listing: null, outcome: 'changed' }])
    await content.accept()
    expect(Object.keys(content.snapshot()).filter((name) => name.endsWith('.md'))).toEqual([])
  })

  test('a server that is refused now stays as it was, and is named', async () => {
    const from = content.save([row({ description: '' }), server('a.b/other')])
    const result = await content.seed({ from })
    expect(result.refused).toMatchObject([{ name: 'a.b/c', reason: 'no_description' }])
    expect(content.fields(file).get('url')).toBe('https://a.example/1')
  })

  test('without the source’s file the check refuses a listing that nobody says anything of', async () => {
    content.remove(ROWS)
    const { faults } = readContent(content.contentDir, rules)
    expect(faults.find((fault) => fault.file === file)?.message).toBe(
      'no facts: expected facts in the file, or a source row for this listing',
    )
  })

  test('a source’s file that is damaged stops the run before anything is written', async () => {
    content.write(ROWS, '{"rows":{"a.b/c":{"id":"../../etc/passwd","facts":{}}}}')
    const before = content.snapshot()
    await expect(content.seed({})).rejects.toThrow(
      /mcp-registry\/rows\.json:1 rows\.a\.b\/c\.id: expected the id of a listing.*restore it/,
    )
    expect(content.snapshot()).toEqual(before)
  })
})
