import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readCurrentFiles } from '../support/fixture-release.ts'
import type { RunningService } from '../support/running-service.ts'
import { createOwnDirectory, type OwnDirectory } from './own-directory.ts'

const SOFTWARE = /waypost/i
let own: OwnDirectory
let acme: RunningService
beforeAll(async () => {
  own = createOwnDirectory(
    'colours: { light: "#1d4ed8", dark: "#93b4ff" }\nmark: mark.svg\ncontact: platform@acme.example\nlegal: [{ title: Imprint, text: Acme Inc. }]\n',
  )
  cpSync('src/assets/favicon.svg', join(own.content, 'tables/mark.svg'))
  addListings(own.content)
  own.build()
  acme = await own.start()
})
afterAll(async () => {
  await acme?.close()
  own?.remove()
})

test('no byte of a release names the software, and none of our rows are in it', () => {
  const files = readCurrentFiles(own.outDir)
    .filter(({ path }) => !path.endsWith('.br'))
    .map(({ path, bytes }) => ({ path, text: textOf(path, bytes) }))
  expect(files.length).toBeGreaterThan(100)
  expect(files.filter(({ text }) => SOFTWARE.test(text)).map(({ path }) => path)).toEqual([])
  const rows = /402index|x402scan|search-waypost/i
  const data = files.filter(({ path }) => path.startsWith('data/'))
  expect(data.filter(({ text }) => rows.test(text)).map(({ path }) => path)).toEqual([])
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
