import type { RequestListener } from 'node:http'
import { describe, expect, test } from 'vitest'
import { probeHandshake } from '../../functions/probes/handshake.ts'
import {
  readNamedMetadata,
  readResourceMetadata,
  readServerMetadata,
  toResourceMetadataUrls,
  toServerMetadataUrls,
} from '../../functions/probes/sign-in.ts'
import { withSeenSignIn } from '../../src/domain/derived/derived-listing.ts'
import { registrationOf } from '../../src/domain/kit/client-setup.ts'
import { mergeFinding } from '../../src/domain/probe/merge.ts'
import { NOTHING_DECLARED, openClient, openSite, type Site } from './probe-world.ts'

const PUBLIC = { allowPrivate: false }

interface Endpoint {
  /** Of the refusal; the server's own address stands for `ORIGIN`. */
  challenge?: string
  /** What stands at each path: text as it is, all else as JSON. */
  files: Record<string, unknown>
}

/** An MCP server that wants a token, and its authorization server, on one port. */
async function startEndpoint({ challenge, files }: Endpoint) {
  const requested: string[] = []
  const answer: RequestListener = (req, res) => {
    requested.push(`${req.method} ${req.url}`)
    const at = (text: string) => text.replaceAll('ORIGIN', `http://${req.headers.host}`)
    if (req.method === 'POST') {
      res.writeHead(401, challenge === undefined ? {} : { 'www-authenticate': at(challenge) })
      res.end()
      return
    }
    const file = files[req.url ?? '']
    if (file === undefined) {
      res.writeHead(404).end()
      return
    }
    res.writeHead(200, { 'content-type': 'application/json' })
    res.end(at(typeof file === 'string' ? file : JSON.stringify(file)))
  }
  return { ...(await openSite(answer)), requested }
}

const probe = ({ url }: Site) =>
  probeHandshake({ kind: 'mcp', url: `${url}/mcp` }, openClient(), Date.now)

const RESOURCE = {
  resource: 'ORIGIN/mcp',
  authorization_servers: ['ORIGIN/tenant'],
  scopes_supported: ['ships:read', 'ships:write'],
}
const SERVER = {
  issuer: 'ORIGIN/tenant',
  authorization_endpoint: 'ORIGIN/tenant/authorize',
  token_endpoint: 'ORIGIN/tenant/token',
  registration_endpoint: 'ORIGIN/tenant/register',
  grant_types_supported: ['authorization_code', 'refresh_token'],
  code_challenge_methods_supported: ['S256'],
  client_id_metadata_document_supported: true,
}
const CHALLENGE = 'Bearer error="invalid_token", resource_metadata="ORIGIN/about/mcp"'

describe('an MCP server that wants a token', () => {
  test('names its metadata, and its authorization server is read after it', async () => {
    const site = await startEndpoint({
      challenge: CHALLENGE,
      files: {
        '/about/mcp': RESOURCE,
        '/.well-known/oauth-authorization-server/tenant': SERVER,
      },
    })
    const finding = await probe(site)
    expect(finding).toMatchObject({ outcome: 'gated', status: 401 })
    const { issuer: _, ...endpoints } = JSON.parse(
      JSON.stringify(SERVER).replaceAll('ORIGIN', site.url),
    )
    expect(finding.signIn).toEqual({
      ...endpoints,
      resource: `${site.url}/mcp`,
      authorization_server: `${site.url}/tenant`,
      scopes_supported: ['ships:read', 'ships:write'],
    })
    expect(site.requested).toEqual([
      'POST /mcp',
      'GET /about/mcp',
      'GET /.well-known/oauth-authorization-server/tenant',
    ])
  })

  test('and names none is looked for at the known places, as OpenID Connect has it at the last', async () => {
    const site = await startEndpoint({
      files: {
        '/.well-known/oauth-protected-resource': { ...RESOURCE, resource: 'ORIGIN' },
        '/tenant/.well-known/openid-configuration': SERVER,
      },
    })
    const { signIn } = await probe(site)
    expect(signIn).toMatchObject({ resource: site.url, token_endpoint: `${site.url}/tenant/token` })
    expect(site.requested.slice(1)).toEqual([
      'GET /.well-known/oauth-protected-resource/mcp',
      'GET /.well-known/oauth-protected-resource',
      'GET /.well-known/oauth-authorization-server/tenant',
      'GET /.well-known/openid-configuration/tenant',
      'GET /tenant/.well-known/openid-configuration',
    ])
  })

  test('whose authorization server speaks for another issuer is known by name alone', async () => {
    const site = await startEndpoint({
      challenge: CHALLENGE,
      files: {
        '/about/mcp': RESOURCE,
        '/.well-known/oauth-authorization-server/tenant': { ...SERVER, issuer: 'ORIGIN/other' },
      },
    })
    const { signIn } = await probe(site)
    expect(signIn).toEqual({
      resource: `${site.url}/mcp`,
      authorization_server: `${site.url}/tenant`,
      scopes_supported: ['ships:read', 'ships:write'],
    })
    expect(signIn && registrationOf(signIn)).toBe('unknown')
  })

  const lies: [string, unknown][] = [
    ['is for another host', { ...RESOURCE, resource: 'https://api.example.com/mcp' }],
    ['is for a path beside it', { ...RESOURCE, resource: 'ORIGIN/mc' }],
    ['names no authorization server', { resource: 'ORIGIN/mcp' }],
    ['names addresses that are none', { ...RESOURCE, authorization_servers: ['javascript:a', 7] }],
    ['is a list', [RESOURCE]],
    ['is not JSON', '<html>'],
    ['is too deep', `${'{"a":'.repeat(3000)}1${'}'.repeat(3000)}`],
    ['is too long', { ...RESOURCE, padding: 'x'.repeat(400_000) }],
  ]
  test.each(lies)('tells nothing where its metadata %s', async (_, file) => {
    const site = await startEndpoint({ challenge: CHALLENGE, files: { '/about/mcp': file } })
    const finding = await probe(site)
    expect(finding).toMatchObject({ outcome: 'gated' })
    expect(finding.signIn).toBeUndefined()
  })

  test('gives its evidence where to sign in, and its tools stay as they were seen', async () => {
    const site = await startEndpoint({ challenge: CHALLENGE, files: { '/about/mcp': RESOURCE } })
    const finding = await probe(site)
    const at = '2026-11-24T10:00:00Z'
    const tools = [{ name: 'find_ship', description: 'By name.', input_schema: {} }]
    const before = { interface: { at, from: 'mcp' as const, tools } }
    const merged = mergeFinding(before, finding, { declared: NOTHING_DECLARED }, at)
    expect(merged).toMatchObject({ ...before, sign_in: { at, resource: `${site.url}/mcp` } })
  })
})

test('places between host and path, with the path and without', () => {
  expect(toResourceMetadataUrls('https://a.example/x/mcp?y=1')).toEqual([
    'https://a.example/.well-known/oauth-protected-resource/x/mcp?y=1',
    'https://a.example/.well-known/oauth-protected-resource',
  ])
  expect(toServerMetadataUrls('https://a.example/')).toEqual([
    'https://a.example/.well-known/oauth-authorization-server',
    'https://a.example/.well-known/openid-configuration',
  ])
})

test('a challenge of any scheme may name the metadata, and a long one is read to a bound', () => {
  const headers = (line: string) => ({ headers: new Map([['www-authenticate', [line]]]) })
  const named = 'DPoP realm="x", resource_metadata="https://a.example/m"'
  expect(readNamedMetadata(headers(named))).toBe('https://a.example/m')
  expect(readNamedMetadata(headers(`Bearer x="${'y'.repeat(20_000)}", ${named}`))).toBeNull()
  expect(readNamedMetadata(headers('Bearer realm="x"'))).toBeNull()
})

test('of a public server private addresses, scripts and words with spaces are left out', () => {
  const resource = {
    resource: 'https://api.harbour.dev/mcp',
    authorization_servers: [
      'http://127.0.0.1/',
      'https://169.254.169.254/',
      'https://id.harbour.dev',
    ],
    scopes_supported: ['read', 'two words', 'a\u0007b', 9],
  }
  const read = readResourceMetadata(JSON.stringify(resource), 'https://api.harbour.dev/mcp', PUBLIC)
  expect(read).toEqual({
    resource: 'https://api.harbour.dev/mcp',
    authorization_servers: ['https://id.harbour.dev'],
    scopes_supported: ['read'],
  })
  const server = {
    issuer: 'https://id.harbour.dev/',
    authorization_endpoint: 'javascript:alert(1)',
    token_endpoint: 'https://10.0.0.1/token',
    registration_endpoint: 'https://id.harbour.dev/register',
    grant_types_supported: Array.from({ length: 500 }, (_, n) => `grant_${n}`),
  }
  const reported = readServerMetadata(JSON.stringify(server), 'https://id.harbour.dev', PUBLIC)
  expect(Object.keys(reported ?? {})).toEqual(['registration_endpoint', 'grant_types_supported'])
  expect(reported?.grant_types_supported).toHaveLength(50)
})

test('what people wrote wins, member by member, and never over another way in', () => {
  const at = '2026-11-24T10:00:00Z'
  const seen = {
    at,
    authorization_server: 'https://a.harbour.dev',
    token_endpoint: 'https://a.harbour.dev/t',
  }
  const written = { authorization_server: 'https://b.harbour.dev' }
  const joined = withSeenSignIn({ type: 'oauth', sign_in: written }, { sign_in: seen }, PUBLIC)
  expect(joined).toEqual({
    type: 'oauth',
    sign_in: { ...written, token_endpoint: 'https://a.harbour.dev/t' },
  })
  const { at: _, ...rest } = seen
  const unknown = withSeenSignIn({ type: 'unknown' }, { sign_in: seen }, PUBLIC)
  expect(unknown).toEqual({ type: 'oauth', sign_in: rest })
  expect(withSeenSignIn({ type: 'bearer' }, { sign_in: seen }, PUBLIC)).toEqual({ type: 'bearer' })
})
