import { expect, test } from 'vitest'
import { parsePage } from '../../../seeds/fetch/read-source.ts'
import { docker } from '../../../seeds/sources/mcp-catalogs.ts'
import { contentForEachTest } from '../content-fixture.ts'

const DOCKER = {
  name: 'harbour',
  image: 'mcp/harbour',
  about: { title: 'Harbour', description: 'Finds ships and docks.' },
  source: { project: 'https://github.com/harbour/mcp' },
  config: { secrets: [{ name: 'harbour.key', env: 'HARBOUR_KEY' }] },
  tools: [
    {
      name: 'find_ship',
      description: 'The best finder of ships!',
      arguments: [{ name: 'ship', type: 'string', desc: 'Which.', optional: false }],
    },
  ],
}
const TOOLHIVE = {
  name: 'harbour-mcp',
  image: 'docker.io/mcp/harbour:latest',
  description: 'Ships and docks.',
  repository_url: 'https://github.com/harbour/mcp',
  transport: 'stdio',
  tools: ['find_ship', 'dock_ship', 'set_during_runtime'],
  metadata: { stars: 42, pulls: 900, last_updated: '2025-08-22T09:42:38Z' },
}
const ROWS = { docker: DOCKER, toolhive: TOOLHIVE }

const content = contentForEachTest()

const seed = (importer: keyof typeof ROWS, rows: unknown[] = [ROWS[importer]]) =>
  content.seed({ importer, from: content.save(rows) })

test('a server of a catalogue becomes a listing with its tools, and none of its sentences', async () => {
  await seed('docker')
  const text = content.listing('listings/mcp/docker.harbour.md')
  expect(text).toContain('identifier: mcp/harbour')
  expect(text).toContain('HARBOUR_KEY')
  expect(text).toContain('source: docker_mcp_registry')
  const { interface: seen } = content.evidence('listings/mcp/docker.harbour.md')
  expect(seen).toMatchObject({
    from: 'catalog',
    tools: [
      {
        name: 'find_ship',
        description: 'find_ship',
        input_schema: {
          type: 'object',
          properties: { ship: { type: 'string' } },
          required: ['ship'],
        },
      },
    ],
  })
  expect(JSON.stringify(seen)).not.toContain('best finder')
})

test.each([[['docker', 'toolhive']], [['toolhive', 'docker']]] as const)(
  'tools of %s add up in whatever order they are read',
  async (order) => {
    for (const importer of order) await seed(importer)
    await content.accept()
    const files = Object.keys(content.snapshot()).filter((file) => file.endsWith('.md'))
    expect(files).toHaveLength(1)
    const [file = ''] = files.map((name) => name.slice(content.contentDir.length + 1))
    const { tools = [] } = content.evidence(file).interface ?? {}
    expect(tools.map(({ name }) => name)).toEqual(['dock_ship', 'find_ship'])
    expect(tools[1]?.input_schema.required).toEqual(['ship'])
  },
)

test('what ToolHive counted of stars and pulls is kept with its day', async () => {
  await seed('toolhive')
  const { reported_use } = content.evidence('listings/mcp/toolhive.harbour-mcp.md')
  const by = { source: 'toolhive_registry', as_of: '2025-08-22T09:42:38Z' }
  expect(reported_use).toEqual([
    { ...by, what: 'downloads', value: 900 },
    { ...by, what: 'stars', value: 42 },
  ])
})

test.each([
  [{ stars: 42 }],
  [{ stars: 42, last_updated: 'yesterday' }],
  [{ stars: -1, pulls: 1.5, last_updated: '2025-08-22T09:42:38Z' }],
])('a count %j without a day or a number is left out', async (metadata) => {
  await seed('toolhive', [{ ...TOOLHIVE, metadata }])
  expect(content.evidence('listings/mcp/toolhive.harbour-mcp.md').reported_use).toBeUndefined()
})

test('a row that is none is refused by name', async () => {
  const result = await seed('toolhive', [TOOLHIVE, { name: 7 }])
  expect(result.refused).toMatchObject([{ reason: 'invalid_row' }])
})

test('a catalogue in YAML is read by its names, and an error page is not a catalogue', () => {
  const yaml = 'registry:\n  harbour:\n    image: mcp/harbour\n    tools: [{ name: find_ship }]\n'
  expect(parsePage(yaml, null, docker).values).toEqual([
    { name: 'harbour', image: 'mcp/harbour', tools: [{ name: 'find_ship' }] },
  ])
  const page = '<html>Not found</html>'
  expect(() => parsePage(page, null, docker)).toThrow('expected a catalogue')
})
