import { describe, expect, test } from 'vitest'
import { normalizeIdentifier } from '../../seeds/facts/server-json.ts'
import { mapRow, official, pack, WEATHER } from './map-row.ts'

describe('what a server becomes', () => {
  test('every field of a listing', () => {
    const result = mapRow({
      server: {
        ...WEATHER,
        title: '**Weather** API',
        websiteUrl: 'https://weather.example/',
        repository: { url: 'https://github.com/user/weather.git', source: 'github' },
        remotes: [{ type: 'streamable-http', url: 'https://mcp.weather.example/mcp' }],
      },
      _meta: official({ publishedAt: '2026-03-04T05:06:07Z' }),
    })
    expect(result).toEqual({
      seed: {
        dropped: [],
        key: 'io.github.user/weather',
        id: 'mcp.io.github.user.weather',
        published: '2026-03-04',
        rows: 1,
        facts: {
          name: 'Weather API',
          kind: 'mcp_server',
          url: 'https://weather.example/',
          summary: 'Weather forecasts for any place.',
          categories: ['geo_weather'],
          invoke: [
            { kind: 'mcp', transport: 'streamable-http', url: 'https://mcp.weather.example/mcp' },
            {
              kind: 'mcp_package',
              transport: 'stdio',
              registry: 'npm',
              identifier: '@user/weather',
            },
          ],
          registry_name: 'io.github.user/weather',
          sources: [
            {
              source: 'mcp_registry',
              ref: 'https://registry.modelcontextprotocol.io/v0.1/servers/io.github.user%2Fweather/versions/latest',
            },
          ],
        },
      },
    })
  })

  test.each([
    [
      'the website',
      { websiteUrl: 'https://weather.example/a', repository: { url: 'https://github.com/u/w' } },
      'https://weather.example/a',
    ],
    [
      'the repository',
      { repository: { url: 'git+https://github.com/u/w.git' } },
      'https://github.com/u/w',
    ],
    [
      'the repository by ssh',
      { repository: { url: 'git@github.com:u/w.git' } },
      'https://github.com/u/w',
    ],
    [
      'no website of a private host',
      { websiteUrl: 'http://localhost:3000', repository: { url: 'https://github.com/u/w' } },
      'https://github.com/u/w',
    ],
    [
      'the remote',
      { packages: [], remotes: [{ type: 'sse', url: 'https://w.example/sse' }] },
      'https://w.example/sse',
    ],
    ['the npm page', {}, 'https://www.npmjs.com/package/@user/weather'],
    ['the PyPI page', pack('pypi', 'weather-mcp'), 'https://pypi.org/project/weather-mcp/'],
    ['the NuGet page', pack('nuget', 'Weather.Mcp'), 'https://www.nuget.org/packages/Weather.Mcp'],
    [
      'the image at its own registry',
      pack('oci', 'ghcr.io/user/weather:1.0'),
      'https://ghcr.io/user/weather',
    ],
    [
      'the image on the hub',
      pack('oci', 'docker.io/mcp/weather'),
      'https://hub.docker.com/r/mcp/weather',
    ],
    [
      'the archive',
      pack('mcpb', 'https://weather.example/w.mcpb'),
      'https://weather.example/w.mcpb',
    ],
  ])('points at %s', (_what, change, url) => {
    expect(mapRow({ ...WEATHER, ...change })).toMatchObject({ seed: { facts: { url } } })
  })

  test.each([
    ['without a title its own name', {}, 'weather'],
    [
      'a title of at most 80 characters',
      { title: 'long '.repeat(30) },
      `${'long '.repeat(15)}long…`,
    ],
    ['no HTML', { title: '<b>Weather</b>' }, 'Weather'],
  ])('is called %s', (_what, change, name) => {
    expect(mapRow({ ...WEATHER, ...change })).toMatchObject({ seed: { facts: { name } } })
  })

  test('places what no word places among developer tools', () => {
    const result = mapRow({ ...WEATHER, name: 'a.b/zzz', description: 'Zzz zzz zzz.' })
    expect(result).toMatchObject({ seed: { facts: { categories: ['developer_tools'] } } })
  })

  test('names the list it was found in, never one whose terms keep its text', () => {
    const closed = 'https://lists.example/closed/1'
    const open = 'https://lists.example/open/1'
    expect(mapRow({ server: WEATHER, found_at: [closed, open] })).toMatchObject({
      seed: { facts: { sources: [{ source: 'open_list', ref: open }] } },
    })
    expect(mapRow({ server: WEATHER, found_at: [closed] })).toMatchObject({
      refusal: { reason: 'source_terms' },
    })
  })

  test('keeps what can be called and says what was left out', () => {
    const result = mapRow({
      ...WEATHER,
      remotes: [{ type: 'streamable-http', url: 'https://{tenant}.weather.example/mcp' }],
    })
    expect(result).toMatchObject({
      seed: {
        facts: { invoke: [{ kind: 'mcp_package' }] },
        dropped: [{ reason: 'template_url', name: 'io.github.user/weather' }],
      },
    })
  })
})

describe('a package identifier names no version', () => {
  test.each([
    ['npm', '@scope/name@1.2.3', '@scope/name'],
    ['npm', 'name@latest', 'name'],
    ['npm', '@scope/name', '@scope/name'],
    ['pypi', 'name==1.2.3', 'name'],
    ['pypi', 'name[extra]>=2', 'name'],
    ['pypi', 'name', 'name'],
    ['oci', 'docker.io/mcp/time:1.0', 'mcp/time'],
    ['oci', `ghcr.io/user/image:1.0@sha256:${'a'.repeat(64)}`, 'ghcr.io/user/image'],
    ['oci', 'localhost:5000/image', 'localhost:5000/image'],
    ['nuget', 'Vendor.Server@1.0', 'Vendor.Server'],
    ['mcpb', 'https://x.example/releases/1.0/w.mcpb', 'https://x.example/releases/1.0/w.mcpb'],
  ] as const)('%s %s is %s', (registry, identifier, normal) => {
    expect(normalizeIdentifier(registry, identifier)).toBe(normal)
  })
})
