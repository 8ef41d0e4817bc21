import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { hashSecret } from '../../functions/sellers/sign-in.ts'
import { formatFault } from '../../src/content/faults.ts'
import { readContent } from '../../src/content/read.ts'
import type { Policy } from '../../src/domain/derived/tables.ts'
import { judgePolicy } from '../../src/domain/protocols/registry-entry.ts'
import { toListing, toSold } from '../domain/listing-samples.ts'
import { readAsEditor } from '../protocols/registry-shape.ts'
import { readCurrentFiles } from '../support/fixture-release.ts'
import { IS_LONG } from '../support/long.ts'
import type { RunningService } from '../support/running-service.ts'
import { createOwnDirectory, type OwnDirectory, readPages } from './own-directory.ts'

const SOFTWARE = /waypost/i
const BADGE_SIGN = '#8fe0b8'
const POLICY: Policy = { id: 'p', name: 'P', note: '', verified: false, no_notices: false }
/** In `npm run test:long` these have their pages here, and `switched-off.test.ts` has pages too. */
const SWITCHED_OFF = IS_LONG ? '' : 'switches: { business_model: false, roadmap: false }\n'
let own: OwnDirectory
let acme: RunningService
beforeAll(async () => {
  own = await createOwnDirectory(
    `colours: { light: "#1d4ed8", dark: "#93b4ff" }\nmark: mark.svg\ncontact: platform@acme.example\nlegal: [{ title: Imprint, text: Acme Inc. }]\n${SWITCHED_OFF}`,
  )
  cpSync('src/assets/favicon.svg', join(own.content, 'tables/mark.svg'))
  addListings(own.content)
  const policies = join(own.content, 'tables/policies.yaml')
  writeFileSync(
    policies,
    `${readFileSync(policies, 'utf8').replace(/# allow: .*/, 'allow: [mcp.example-notes]')}- { id: proved, name: Proved, verified: true, min_trust: 50, no_notices: true }\n`,
  )
  await own.build()
  acme = await own.start()
})
afterAll(() => acme?.close())

test('no byte of a release names the software, and none of our rows are in it', () => {
  const files = readCurrentFiles(own.outDir)
    .filter(({ path }) => !path.endsWith('.br'))
    .map(({ path, bytes }) => ({ path, text: textOf(path, bytes) }))
  expect(files.length).toBeGreaterThan(100)
  expect(files.filter(({ text }) => SOFTWARE.test(text)).map(({ path }) => path)).toEqual([])
  expect(files.filter(({ text }) => text.includes(BADGE_SIGN)).map(({ path }) => path)).toEqual([])
  const rows = /402index|x402scan|search-waypost/i
  const data = files.filter(({ path }) => path.startsWith('data/'))
  expect(data.filter(({ text }) => rows.test(text)).map(({ path }) => path)).toEqual([])
})

test.skipIf(IS_LONG)('what is switched off has no page, and no page has a word of it', async () => {
  for (const path of ['/roadmap', '/business-model'])
    expect((await fetch(acme.url + path, { headers: { accept: 'text/html' } })).status).toBe(404)
  const pages = [...readPages(own)]
  expect(pages.length).toBeGreaterThan(20)
  const naming = pages.filter(([, html]) => /roadmap|business[ -]model/i.test(html))
  expect(naming.map(([path]) => path)).toEqual([])
})

test.each([
  ['GET', '/', 'Acme Services: Services our agents can call'],
  ['GET', '/robots.txt', 'Agentmap'],
  ['GET', '/feed.atom', 'Acme Services'],
  ['GET', '/search.atom?q=status', 'Acme Services'],
  ['GET', '/listing/mcp.tool-3.json', 'Example notes'],
  ['GET', '/policies/approved', 'Approved MCP servers'],
  ['GET', '/policies/approved/v0.1/servers?limit=50&version=latest', 'example-notes'],
  ['GET', '/compare/tools', 'Tools of ours'],
  ['GET', '/category/internal_tools.md', 'Example lookup'],
  ['GET', '/listing/api.retired', 'retired'],
  ['GET', '/api/v1/listings/x402.tool-3/kit.json', 'lookup'],
  ['GET', '/api/v1/call/x402.tool-3?relay_info', 'x402.tool-3'],
  ['GET', '/api/v1/changes', 'mcp.tool-3'],
  ['GET', '/llms-full.txt', 'tool-3'],
  ['GET', '/openapi.json', 'Acme Services'],
  ['GET', '/sitemap.xml', 'sitemap'],
  ['GET', '/search?q=status', 'Acme Services'],
  ['GET', '/sellers/check', 'Acme Services'],
  ['GET', '/report', 'Acme Services'],
  ['GET', '/report?kind=dispute&about=mcp.example-notes', 'Acme Services'],
  ['GET', '/compare?ids=mcp.example-notes,api.example-status', 'Acme Services'],
  ['GET', '/listing/mcp.nobody', ''],
  ['GET', '/privacy', 'Imprint'],
  ['GET', '/colours.css', '#1d4ed8'],
  ['GET', '/api/v1/search?q=status', '"also_search":[]'],
  ['GET', '/api/v1/search?limit=0', 'limit'],
  ['GET', '/api/v1/operations?q=status', 'api.example-status'],
  ['GET', '/api/v1/call/api.example-status', 'not-relayable'],
  ['GET', '/badge/api.example-status.json', '"Acme"'],
  ['GET', '/listing/mcp.example-notes.md', 'Example notes'],
  ['GET', '/v0.1/servers', 'example-notes'],
  ['GET', '/discovery/resources', 'lookup'],
  ['GET', '/.well-known/agent-card.json', 'Acme Services'],
  ['GET', '/.well-known/security.txt', 'Contact'],
  ['POST', '/ard/search', 'urn:air', { query: { text: 'notes' } }],
  ['POST', '/a2a', 'result', toA2aMessage()],
  [
    'POST',
    '/mcp',
    '"acme"',
    toMcpMessage('initialize', {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'x', version: '1' },
    }),
  ],
  ['POST', '/mcp', 'call_listing', toMcpMessage('tools/list', {})],
  ['POST', '/mcp', 'directory://', toMcpMessage('resources/templates/list', {})],
  ['POST', '/mcp', 'find_and_call', toMcpMessage('prompts/list', {})],
] as const)('%s %s speaks in its own name', async (method, path, part, body?: object) => {
  const response = await fetch(acme.url + path, {
    method,
    headers: {
      accept: body ? 'application/json, text/event-stream' : 'text/html',
      'content-type': 'application/json',
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const answer = `${JSON.stringify([...response.headers])}\n${await response.text()}`
  expect(answer).toContain(part)
  expect(withoutAddress(answer)).not.toMatch(SOFTWARE)
})

test('its mails come from it', async () => {
  const sent = await fetch(`${acme.url}/api/v1/sellers/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"email":"a@b.example"}',
  })
  expect(sent.status).toBe(200)
  const outbox = join(own.stateDir, 'outbox')
  const mails = () => {
    try {
      const names = readdirSync(outbox).filter((name) => name.endsWith('.eml'))
      return names.map((name) => readFileSync(join(outbox, name), 'utf8')).join('\n')
    } catch {
      return ''
    }
  }
  await expect.poll(mails).toContain('Your Acme Services sign-in link')
  expect(withoutAddress(mails())).not.toMatch(SOFTWARE)
})

const read = async (path: string) => {
  const response = await fetch(acme.url + path)
  return { status: response.status, text: await response.text() }
}

test('each policy is a registry that holds what fits it', async () => {
  const { servers } = JSON.parse((await read('/policies/approved/v0.1/servers?limit=10')).text)
  expect(servers).toMatchObject([{ server: { title: 'Example notes' } }])
  const name = encodeURIComponent(servers[0].server.name)
  const versions = await read(`/policies/approved/v0.1/servers/${name}/versions`)
  expect(JSON.parse(versions.text).servers).toEqual(servers)
  const latest = await read(`/policies/approved/v0.1/servers/${name}/versions/latest`)
  expect(JSON.parse(latest.text)).toEqual(servers[0])
  expect(JSON.parse((await read('/policies/proved/v0.1/servers')).text).servers).toEqual([])
  expect((await read(`/policies/proved/v0.1/servers/${name}/versions/latest`)).status).toBe(404)
})

test('an editor reads it as the registry it was given', async () => {
  const approved = `${acme.url}/policies/approved`
  const { found, requested } = await readAsEditor(`${approved}/`)
  expect(found.map(({ server }) => server.title)).toEqual(['Example notes'])
  expect(requested.map((address) => address.replace(approved, ''))).toEqual([
    '/v0.1/servers?limit=1',
    '/v0.1/servers?limit=50&version=latest',
    `/v0.1/servers/${encodeURIComponent(found[0]?.server.name ?? '')}/versions/latest`,
  ])
  expect((await readAsEditor(approved, { text: 'Team' })).found).toEqual(found)
  expect((await readAsEditor(approved, { text: 'a/b?&' })).found).toEqual([])
  expect((await readAsEditor(`${acme.url}/policies/proved`)).found).toEqual([])
  await expect(readAsEditor(`${acme.url}/policies/nobody`)).rejects.toThrow('Server returned 404')
})

test('a closed one is read by who sends a token', async () => {
  const [state, token] = [`${own.stateDir}-closed`, 'x'.repeat(43)]
  const closed = await own.start({ READ_ACCESS: 'token', STATE_DIR: state })
  try {
    const row = { name: 'editors', token_hash: hashSecret(token), created_at: 0, expires_at: null }
    await closed.service.parts.ledger.store.db.insertInto('access_token').values(row).execute()
    const headers = { authorization: `Bearer ${token}` }
    const { found } = await readAsEditor(`${closed.url}/policies/approved`, { headers })
    expect(found).toHaveLength(1)
    const refused = readAsEditor(`${closed.url}/policies/approved`)
    await expect(refused).rejects.toThrow('Server returned 401')
  } finally {
    await closed.close()
    rmSync(state, { recursive: true, force: true })
  }
})

test('its page names what is in, and why others are out', async () => {
  expect((await read('/policies/approved')).text).toMatch(/Example notes/)
  expect((await read('/policies/proved')).text).toContain(
    'no trust score; not claimed with proof of its domain',
  )
})

test('a policy that nobody wrote is not a registry', async () => {
  for (const id of ['nobody', '..%2Fapproved', 'approved%00'])
    expect((await read(`/policies/${id}/v0.1/servers`)).status).toBe(404)
})

test('a policy that names what is not there is a fault, with its place', () => {
  const file = join(own.content, 'tables/policies.yaml')
  const faultOf = (text: string) => {
    writeFileSync(file, text)
    return readContent(own.content, { allowPrivate: false })
      .faults.filter(({ severity }) => severity === 'error')
      .map((fault) => formatFault(fault, 'content'))
  }
  expect(faultOf('- { id: a, name: A, min_score: 5 }\n')).toEqual([
    expect.stringMatching(/policies\.yaml:1 .*min_score: expected one of the known keys/),
  ])
  expect(faultOf('- { id: a, name: A, allow: [mcp.nobody] }\n')).toEqual([
    expect.stringContaining('a.allow: expected ids of listings that exist, got mcp.nobody'),
  ])
})

test('each rule says why', () => {
  const listing = toListing()
  expect(judgePolicy(POLICY, listing)).toEqual([])
  expect(judgePolicy({ ...POLICY, allow: [] }, listing)).toEqual(['not on the list'])
  expect(judgePolicy({ ...POLICY, min_trust: 1 }, listing)).toEqual(['no trust score'])
  const [below] = judgePolicy({ ...POLICY, min_trust: 101 }, toSold('x402.tides', 12))
  expect(below).toMatch(/^trust \d+, below 101$/)
  const notices = [{ id: 'disputed' as const, note: '', at: '2026-11-01' }]
  expect(judgePolicy({ ...POLICY, no_notices: true }, { ...listing, notices })).toEqual([
    'open: disputed',
  ])
})

/** The address of the trial is the software's example host. */
function withoutAddress(text: string): string {
  return text.replaceAll(/waypost\.example|example\.waypost/gi, '')
}

/** Unpacked, without the trial's address; the footer's line is code, whoever leaves it out. */
function textOf(path: string, bytes: Buffer): string {
  const whole = bytes[0] === 0x1f && bytes[1] === 0x8b ? gunzipSync(bytes) : bytes
  const text = withoutAddress(whole.toString('latin1'))
  return path.startsWith('server/') ? text.replaceAll('Made with Waypost.', '') : text
}

function toMcpMessage(method: string, params: object): object {
  return { jsonrpc: '2.0', id: 1, method, params }
}

function toA2aMessage(): object {
  const message = {
    kind: 'message',
    messageId: '1',
    role: 'user',
    parts: [{ kind: 'text', text: 'notes' }],
  }
  return { jsonrpc: '2.0', id: 1, method: 'message/send', params: { message } }
}

/** Twenty more, four of each kind there is, with what stands around listings: evidence, a page, one that left. */
function addListings(content: string): void {
  const folder = join(content, 'listings')
  const examples = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  for (const example of examples.filter((name) => name.endsWith('.md'))) {
    const text = readFileSync(join(folder, example), 'utf8')
    const [prefix = ''] = example.split('/')
    for (const number of [1, 2, 3, 4]) {
      const changed = text
        .replace(/^name: (.*)$/m, `name: $1 ${number}`)
        .replaceAll(/https:\/\/(\w+)\.acme\.example/g, `https://$1-${number}.acme.example`)
        .replaceAll('{base_url}/docs', `{base_url}/docs?${number}`)
      writeFileSync(join(folder, prefix, `tool-${number}.md`), changed)
    }
  }
  const write = (file: string, text: string) => {
    mkdirSync(dirname(join(content, file)), { recursive: true })
    writeFileSync(join(content, file), text)
  }
  write(
    'compare/tools.yaml',
    'title: Tools of ours\nupdated: 2026-11-20\nsections:\n  - { id: tools, title: Tools, note: Ours., rows: [{ id: mcp.tool-1, focus: broad }, { id: mcp.tool-2, focus: broad }] }\n',
  )
  write(
    'tombstones/api/retired.json',
    '{"id":"api.retired","at":"2026-11-20T00:00:00Z","reason":"dead","by":"editor"}\n',
  )
}
