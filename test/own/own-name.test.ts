import { cpSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { RunningService } from '../support/running-service.ts'
import { createOwnDirectory, type OwnDirectory } from './own-directory.ts'

const SOFTWARE = /waypost/i
let own: OwnDirectory
let acme: RunningService
beforeAll(async () => {
  own = createOwnDirectory(
    'colours: { light: "#1d4ed8", dark: "#93b4ff" }\nmark: mark.svg\ncontact: platform@acme.example\nlegal: [{ title: Imprint, text: Acme Inc. }]\n',
  )
  cpSync('src/site/frame/favicon.svg', join(own.content, 'tables/mark.svg'))
  own.build()
  acme = await own.start()
})
afterAll(async () => {
  await acme?.close()
  own?.remove()
})

test('no byte of a release names the software, and none of our rows are in it', () => {
  const release = join(own.outDir, 'current')
  const files = readdirSync(release, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
  expect(files.length).toBeGreaterThan(100)
  expect(files.filter((file) => SOFTWARE.test(textOf(file)))).toEqual([])
  const rows = /402index|x402scan|search-waypost/i
  expect(files.filter((file) => file.includes('/data/') && rows.test(textOf(file)))).toEqual([])
})

test.each([
  ['GET', '/', 'Acme Services: Services our agents can call'],
  ['GET', '/search?q=status', 'Acme Services'],
  ['GET', '/sellers/check', 'Acme Services'],
  ['GET', '/propose', 'Acme Services'],
  ['GET', '/dispute?listing=mcp.example-notes', 'Acme Services'],
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

test('a mail comes from it', async () => {
  const sent = await fetch(`${acme.url}/api/v1/sellers/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"email":"a@b.example"}',
  })
  expect(sent.status).toBe(200)
  const outbox = join(own.stateDir, 'outbox')
  const mails = () => {
    try {
      return readdirSync(outbox).filter((name) => name.endsWith('.eml'))
    } catch {
      return []
    }
  }
  await expect.poll(mails).toHaveLength(1)
  const mail = readFileSync(join(outbox, mails()[0] ?? ''), 'utf8')
  expect(mail).toContain('Your Acme Services sign-in link')
  expect(withoutAddress(mail)).not.toMatch(SOFTWARE)
})

/**
 * The address of the trial is the software's example host, and one request header is the protocol of
 * the published client, whoever's directory it asks.
 */
function withoutAddress(text: string): string {
  return text.replaceAll(/waypost\.example|example\.waypost|waypost-expect/gi, '')
}

/** Unpacked, without the trial's address; the footer's line is code, whoever leaves it out. */
function textOf(file: string): string {
  const bytes = readFileSync(file)
  const whole = file.endsWith('.br')
    ? brotliDecompressSync(bytes)
    : bytes[0] === 0x1f && bytes[1] === 0x8b
      ? gunzipSync(bytes)
      : bytes
  const text = withoutAddress(whole.toString('latin1'))
  return file.includes('/server/') ? text.replaceAll('Made with Waypost.', '') : text
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
