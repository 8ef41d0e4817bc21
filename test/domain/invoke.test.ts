import { describe, expect, test, vi } from 'vitest'
import { createInvokeSchema, findIdentifierFault } from '../../src/domain/listing/invoke.ts'
import { toInvokeView } from '../../src/domain/views/listing-view.ts'
import { guardHang } from '../support/hang-guard.ts'
import { findFaults, PUBLIC, toFacts } from './listing-samples.ts'

const REMOTE = {
  kind: 'mcp',
  transport: 'streamable-http',
  url: 'https://mcp.weather.example/mcp',
}
const PACKAGE = { kind: 'mcp_package', transport: 'stdio', registry: 'npm', identifier: '@a/b' }
const DIGEST = `sha256:${'0a'.repeat(32)}`

describe('identifiers of packages', () => {
  test.each([
    ['npm', 'weather'],
    ['npm', '@weather/mcp-server'],
    ['npm', '@weather/mcp.server_2~x'],
    ['npm', 'JSONStream'],
    ['npm', 'a'.repeat(214)],
    ['pypi', 'mcp-server-fetch'],
    ['pypi', 'Weather.MCP_2'],
    ['oci', 'mcp/weather'],
    ['oci', 'redis:7'],
    ['oci', 'mcp_remote_use'],
    ['oci', 'ghcr.io/owner/image'],
    ['oci', 'ghcr.io/owner/deep/image-name__x:v1.2.3'],
    ['oci', 'registry.example:5000/owner/image:latest'],
    ['oci', `docker.io/owner/image@${DIGEST}`],
    ['oci', `docker.io/owner/image:1@${DIGEST}`],
    ['nuget', 'Vendor.Server'],
    ['mcpb', 'https://code.example/owner/repo/releases/download/v1/weather.mcpb'],
  ] as const)('%s has %s', (registry, identifier) => {
    expect(findIdentifierFault(registry, identifier)).toBeNull()
  })

  test.each([
    ['npm', ''],
    ['npm', '@mcp-mongodb-atlas'],
    ['npm', '@Owner/server'],
    ['npm', '@owner/Server'],
    ['npm', '@owner/'],
    ['npm', '@/server'],
    ['npm', 'daipendency-(public-api-docs)'],
    ['npm', 'google-drive-&-sheets'],
    ['npm', 'africa’s-talking-sms'],
    ['npm', "africa's-talking-sms"],
    ['npm', 'tl;dv'],
    ['npm', 'a b'],
    ['npm', 'a$(id)'],
    ['npm', 'a`id`'],
    ['npm', '--call=id'],
    ['npm', '-y'],
    ['npm', '.hidden'],
    ['npm', '_private'],
    ['npm', '../up'],
    ['npm', 'weather@1.2.3'],
    ['npm', 'git+https://code.example/x'],
    ['npm', 'a'.repeat(215)],
    ['npm', 'weather\n'],
    ['pypi', '-r requirements.txt'],
    ['pypi', 'weather-'],
    ['pypi', 'weather[all]'],
    ['pypi', 'weather==1.0'],
    ['oci', 'Owner/Image'],
    ['oci', '--privileged'],
    ['oci', 'owner/../image'],
    ['oci', 'owner//image'],
    ['oci', 'https://ghcr.io/owner/image'],
    ['oci', 'ghcr.io/owner/image@sha256:abc'],
    ['oci', 'owner/image:tag:tag'],
    ['oci', 'owner/image latest'],
    ['nuget', 'Vendor Server'],
    ['nuget', 'Vendor.'],
    ['mcpb', 'weather.mcpb'],
    ['mcpb', 'http://code.example/weather.mcpb'],
    ['mcpb', 'https://127.0.0.1/weather.mcpb'],
  ] as const)('%s has no %j', (registry, identifier) => {
    expect(findIdentifierFault(registry, identifier)).toMatch(/^expected .*(?:got|archive)/)
  })

  const LONGEST = [
    ['npm', 214],
    ['pypi', 214],
    ['oci', 500],
    ['nuget', 100],
  ] as const
  test.each(LONGEST)('past the longest name of %s (%i) no pattern is asked', (registry, most) => {
    const { mock, mockRestore } = vi.spyOn(RegExp.prototype, 'test')
    const tried = [most, most + 1].map((length) => {
      const before = mock.calls.length
      const fault = findIdentifierFault(registry, 'a'.repeat(length))
      return { fault, requested: mock.calls.length - before }
    })
    mockRestore()
    const tooLong = `expected at most ${most} characters, got ${most + 1}`
    expect(tried).toEqual([
      { fault: null, requested: 1 },
      { fault: tooLong, requested: 0 },
    ])
  })

  test.each(LONGEST)('no repetition is a trap for %s', (registry, most) => {
    for (const unit of ['a', 'a-', 'a.', 'a/', 'a_', '__', 'a__b', ':1', '@a/'])
      guardHang(() => {
        const name = `${unit.repeat(most).slice(0, most - 1)}!`
        expect(findIdentifierFault(registry, name)).toMatch(/^expected a name/)
      })
  })
})

describe('entries', () => {
  const schema = createInvokeSchema(PUBLIC)
  test.each([
    [REMOTE, []],
    [{ ...REMOTE, transport: 'sse' }, []],
    [PACKAGE, []],
    [{ ...PACKAGE, registry: 'oci', identifier: 'a/b' }, []],
    [{ ...REMOTE, transport: 'stdio' }, ['transport: expected streamable-http or sse']],
    [
      { ...REMOTE, url: 'http://mcp.weather.example/mcp' },
      ['url: expected an https URL, got http'],
    ],
    [
      { ...PACKAGE, identifier: 'tl;dv' },
      ['identifier: expected a name in the npm registry such as @scope/name, got "tl;dv"'],
    ],
    [{ ...PACKAGE, registry: 'cargo' }, ['registry: expected one of npm, oci, mcpb, pypi, nuget']],
    [{ kind: 'web' }, ['kind: expected kind mcp or mcp_package']],
  ])('%j', (entry, faults) => {
    expect(findFaults(schema, entry)).toEqual(faults)
  })

  test.each([
    ['a remote has no identifier', { ...REMOTE, identifier: '@a/b' }],
    ['a package has no URL', { ...PACKAGE, url: 'https://mcp.weather.example/mcp' }],
    ['a remote has a URL', { kind: 'mcp', transport: 'sse' }],
    ['a package has an identifier', { kind: 'mcp_package', transport: 'stdio', registry: 'npm' }],
  ])('%s', (_, entry) => {
    expect(findFaults(schema, entry)).toHaveLength(1)
  })

  test('stand on the wire as in the file', () => {
    const { invoke } = toFacts({ kind: 'mcp_server', invoke: [REMOTE, PACKAGE] })
    expect(toInvokeView(invoke)).toEqual([REMOTE, PACKAGE])
  })
})
