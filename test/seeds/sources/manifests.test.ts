import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { countSeeding } from '../../../seeds/commands/seed.ts'
import type { SellerReader } from '../../../seeds/fetch/read-sellers.ts'
import { manifests } from '../../../seeds/sources/manifests.ts'
import { contentForEachTest } from '../content-fixture.ts'

const PACKAGE = {
  name: '@harbour/mcp',
  description: 'Finds ships and docks.',
  repository: { type: 'git', url: 'git+https://github.com/harbour/mcp.git', directory: 'server' },
  bin: { 'harbour-mcp': 'dist/index.js' },
  mcpName: 'io.github.harbour/mcp',
}
const SERVER = {
  $schema: 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json',
  name: 'io.github.harbour/mcp',
  title: 'Harbour',
  description: 'Ships and docks for agents.',
  version: '1.2.0',
  packages: [
    {
      registryType: 'npm',
      identifier: '@harbour/mcp',
      transport: { type: 'stdio' },
      environmentVariables: [{ name: 'HARBOUR_KEY', isRequired: true, isSecret: true }],
    },
    { registryType: 'npm', identifier: 'a-stranger', transport: { type: 'stdio' } },
  ],
  remotes: [{ type: 'streamable-http', url: 'https://mcp.stranger.dev/mcp' }],
}
const BUNDLE = {
  manifest_version: '0.3',
  name: 'harbour',
  display_name: 'Harbour Desk',
  description: 'Ships.',
  server: {
    type: 'node',
    entry_point: 'dist/index.js',
    mcp_config: {
      command: 'node',
      args: [`\${__dirname}/dist/index.js`],
      env: { HARBOUR_KEY: `\${user_config.key}`, PORT_NAME: `\${user_config.port}`, FIXED: '1' },
    },
  },
  user_config: {
    key: {
      type: 'string',
      title: 'Key',
      description: 'Your key.',
      sensitive: true,
      required: true,
    },
    port: { type: 'string', title: 'Port', required: true, default: 'Rotterdam' },
  },
  compatibility: { platforms: ['darwin'] },
  tools: [
    { name: 'find_ship', description: 'The best finder of ships!' },
    { name: 'dock_ship', description: 'Docks.' },
  ],
  _meta: {
    'com.microsoft.windows': {
      static_responses: {
        'tools/list': {
          tools: [
            {
              name: 'find_ship',
              inputSchema: {
                type: 'object',
                properties: { ship: { type: 'string', description: 'Which.' } },
                required: ['ship'],
              },
              annotations: { readOnlyHint: true },
            },
          ],
        },
      },
    },
  },
}

const content = contentForEachTest()

/** Files of a folder, as somebody fetched them. */
function seedFolder(files: Record<string, unknown>) {
  const folder = join(content.root, 'fetched')
  for (const [name, value] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    writeFileSync(join(folder, name), text)
  }
  return content.seed({ importer: 'manifests', from: folder })
}

const LISTING = 'listings/mcp/npm.harbour.mcp.md'

test('the three manifests of one package are one listing, with its keys and its tools', async () => {
  const result = await seedFolder({
    'harbour/package.json': PACKAGE,
    'harbour/server.json': SERVER,
    'harbour/manifest.json': BUNDLE,
  })
  expect(countSeeding(result)).toMatchObject({ read: 3, rows: { added: 1, merged: 2, refused: 0 } })
  const fields = content.fields(LISTING)
  expect(Object.fromEntries(fields ?? [])).toMatchObject({
    name: 'Harbour Desk',
    url: 'https://github.com/harbour/mcp',
    summary: 'Ships and docks for agents.',
    tags: ['macos'],
    auth: { type: 'api_key' },
    sources: [{ source: 'package_manifests', ref: 'https://www.npmjs.com/package/@harbour/mcp' }],
  })
  expect(fields?.has('registry_name')).toBe(false)
  const { interface: seen } = content.evidence('listings/mcp/npm.harbour.mcp.md')
  expect(seen).toEqual({
    at: '2026-11-20T00:00:00.000Z',
    from: 'catalog',
    tools: [
      { name: 'dock_ship', description: 'dock_ship', input_schema: { type: 'object' } },
      {
        name: 'find_ship',
        description: 'find_ship',
        input_schema: {
          type: 'object',
          properties: { ship: { type: 'string' } },
          required: ['ship'],
        },
        read_only: true,
      },
    ],
  })
})

test('a package vouches for itself alone: strangers that its server.json names are left out', async () => {
  await seedFolder({ 'package.json': PACKAGE, 'server.json': SERVER })
  const invoke = content.fields(LISTING).get('invoke')
  expect(invoke).toEqual([
    {
      kind: 'mcp_package',
      transport: 'stdio',
      registry: 'npm',
      identifier: '@harbour/mcp',
      env: [{ name: 'HARBOUR_KEY', required: true, secret: true }],
    },
  ])
})

test('what a bundle asks its user for becomes the variables of the package', async () => {
  await seedFolder({ 'package.json': PACKAGE, 'manifest.json': BUNDLE })
  const invoke = content.fields(LISTING).get('invoke')
  expect(invoke).toMatchObject([
    {
      env: [
        { name: 'HARBOUR_KEY', description: 'Your key.', required: true, secret: true },
        {
          name: 'PORT_NAME',
          description: 'Port',
          required: false,
          secret: false,
          example: 'Rotterdam',
        },
      ],
    },
  ])
})

test('a server.json by itself is a listing with all that it names', async () => {
  await seedFolder({ 'server.json': { ...SERVER, repository: { url: PACKAGE.repository.url } } })
  const invoke = content.fields('listings/mcp/io.github.harbour.mcp.md')
  expect(invoke?.get('invoke')).toMatchObject([
    { kind: 'mcp', url: 'https://mcp.stranger.dev/mcp' },
    { identifier: '@harbour/mcp' },
    { identifier: 'a-stranger' },
  ])
})

test.each([
  ['a package that starts nothing', { ...PACKAGE, bin: undefined }, 'no_invoke'],
  ['a bundle of no known package', BUNDLE, 'no_invoke'],
  [
    'the manifest of a web page',
    { name: 'Tides', manifest_version: 3, icons: [], description: 'Tides.' },
    'no_invoke',
  ],
  ['a server.json without a name', { packages: [], name: 7, server: {} }, 'invalid_row'],
  ['a page that is not a manifest', '<html>Not found</html>', 'unreadable_row'],
  ['a list', [7], 'unreadable_row'],
])('%s is refused by name', async (_, file, reason) => {
  const { refused, plan } = await seedFolder({ 'a/file.json': file, 'b/package.json': PACKAGE })
  expect(refused).toMatchObject([{ reason }])
  expect(plan.outcomes).toHaveLength(1)
})

test('hostile names of tools are left out, and the evidence says so', async () => {
  const tools = [{ name: 'a\u202eb' }, { name: 'x'.repeat(500) }, { name: 7 }, { name: 'fine' }]
  await seedFolder({ 'package.json': PACKAGE, 'manifest.json': { ...BUNDLE, tools, _meta: null } })
  const seen = content.evidence('listings/mcp/npm.harbour.mcp.md').interface
  expect(seen?.tools?.map(({ name }) => name)).toEqual(['fine'])
  expect(seen?.truncated).toBe(true)
})

const answering = (answers: Record<string, unknown>, requested: string[]): SellerReader => ({
  async read(url) {
    requested.push(url)
    return url in answers
      ? { ok: true, text: JSON.stringify(answers[url]) }
      : { ok: false, detail: 'expected status 200, got 404' }
  },
  find: () => Promise.reject(new Error('expected no origin to be read')),
  each: (items, work) => Promise.all(items.map(work)),
  close: async () => {},
})

test('packages that are listed are read in their registry, then in their repository', async () => {
  const entry = {
    kind: 'mcp_package' as const,
    transport: 'stdio' as const,
    registry: 'npm' as const,
    identifier: '@harbour/mcp',
  }
  const listed = { id: 'mcp.harbour', facts: { invoke: [entry] } }
  const address = 'https://registry.npmjs.org/@harbour%2Fmcp/latest'
  expect(manifests.fromContent?.([listed, listed])).toEqual([address])
  const requested: string[] = []
  const root = 'https://raw.githubusercontent.com/harbour/mcp/HEAD/server'
  const answers = { [address]: PACKAGE, [`${root}/manifest.json`]: BUNDLE }
  const read = await manifests.follow?.(
    [address, 'https://gone.dev/'],
    answering(answers, requested),
  )
  expect(requested.sort()).toEqual(
    ['https://gone.dev/', `${root}/manifest.json`, `${root}/server.json`, address].sort(),
  )
  expect(read?.refused).toMatchObject([{ reason: 'unreadable_seller', name: 'https://gone.dev/' }])
  const rules = {
    allowPlaceholders: false,
    now: '2026-11-20T00:00:00.000Z',
    categories: new Set(['developer_tools']),
    sources: [],
  }
  const table = [{ id: 'package_manifests', decision: 'used' }] as never
  const [seed] = manifests.choose(read?.values ?? [], { ...rules, sources: table }).seeds
  expect(seed).toMatchObject({
    key: 'npm.harbour/mcp',
    evidence: { interface: { tools: [{}, {}] } },
  })
  expect(manifests.choose(read?.values ?? [], rules).refused).toMatchObject([
    { reason: 'source_terms' },
  ])
})

test.each([
  ['https://github.com/harbour/mcp/../../else', '', []],
  ['https://gitlab.com/harbour/mcp', '', []],
  ['harbour/mcp', '', ['harbour/mcp/HEAD/server.json', 'harbour/mcp/HEAD/manifest.json']],
  [
    'git+https://github.com/harbour/mcp.git',
    '../..',
    ['harbour/mcp/HEAD/server.json', 'harbour/mcp/HEAD/manifest.json'],
  ],
])('a repository at %s below "%s" leads to %j', async (url, directory, expected) => {
  const requested: string[] = []
  const own = { ...PACKAGE, repository: directory === '' ? url : { url, directory } }
  await manifests.follow?.(['https://a.dev/'], answering({ 'https://a.dev/': own }, requested))
  expect(requested.slice(1)).toEqual(
    expected.map((path) => `https://raw.githubusercontent.com/${path}`),
  )
})
