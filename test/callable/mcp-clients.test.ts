import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { toMcpSnippets } from '../../src/domain/kit/client-setup.ts'
import { toKitInvoke } from '../../src/domain/kit/kit-entries.ts'
import { toFacts } from '../domain/listing-samples.ts'

const run = promisify(execFile)

/** The rules of each client's own documentation, so strict that a key it doesn't know fails. */
const named = v.record(v.string(), v.string())
const stdio = { command: v.string(), args: v.array(v.string()), env: v.optional(named) }
const servers = (entries: v.GenericSchema[]) => v.record(v.string(), v.union(entries))
const typed = servers([
  v.strictObject({ type: v.literal('stdio'), ...stdio }),
  v.strictObject({
    type: v.picklist(['http', 'sse']),
    url: v.string(),
    headers: v.optional(named),
  }),
])
const under = (key: string, schema: v.GenericSchema) => v.strictObject({ [key]: schema })
const reached = (key: string) => v.strictObject({ [key]: v.string(), headers: v.optional(named) })

const RULES = {
  claude_code: under('mcpServers', typed),
  claude_desktop: under('mcpServers', servers([v.strictObject(stdio)])),
  cursor: under('mcpServers', servers([v.strictObject(stdio), reached('url')])),
  vscode: under('servers', typed),
  devin_desktop: under(
    'mcpServers',
    servers([
      v.strictObject(stdio),
      v.strictObject({ ...reached('url').entries, transport: v.optional(v.literal('sse')) }),
    ]),
  ),
  gemini_cli: under(
    'mcpServers',
    servers([v.strictObject(stdio), reached('httpUrl'), reached('url')]),
  ),
  codex: under(
    'mcp_servers',
    servers([
      v.strictObject(stdio),
      v.strictObject({ url: v.string(), http_headers: v.optional(named) }),
    ]),
  ),
} satisfies Record<string, v.GenericSchema>

const REMOTE = { kind: 'mcp', transport: 'streamable-http', url: 'https://mcp.example.com/mcp' }
const KEY = { name: 'Authorization', required: true, secret: true, example: 'Bearer …' }
const PACKAGE = { kind: 'mcp_package', transport: 'stdio', registry: 'npm', identifier: '@x/mcp' }
const DATABASE = {
  name: 'DATABASE_URL',
  required: true,
  secret: true,
  example: 'postgres://user@host/db',
}
const REGION = { name: 'REGION', required: true, example: 'eu-1' }
const OPTIONAL = { name: 'LOG_LEVEL', example: 'debug' }

function snippetsOf(invoke: object[], auth: object = { type: 'unknown' }): Record<string, string> {
  const facts = toFacts({ kind: 'mcp_server', pricing: { model: 'unknown' }, invoke, auth })
  return toMcpSnippets('mcp.example', toKitInvoke(facts.invoke, facts.auth))
}

async function parse(client: string, text: string): Promise<unknown> {
  if (client !== 'codex') return JSON.parse(text)
  const code = 'import sys, tomllib, json; print(json.dumps(tomllib.loads(sys.argv[1])))'
  return JSON.parse((await run('python3', ['-c', code, text])).stdout)
}

describe.each(Object.entries(RULES))('%s takes', (client, rules) => {
  test.each([
    ['a remote', [REMOTE]],
    ['a remote with a key', [{ ...REMOTE, headers: [KEY] }]],
    ['a remote over SSE', [{ ...REMOTE, transport: 'sse', headers: [KEY] }]],
    ['a package', [PACKAGE]],
    ['a package with settings', [{ ...PACKAGE, env: [DATABASE, REGION], args: ['--read-only'] }]],
    ['an image', [{ ...PACKAGE, registry: 'oci', identifier: 'mcp/x', env: [DATABASE] }]],
    ['a name with quotes in a value', [{ ...PACKAGE, args: ['it\'s "x" \\ y'] }]],
  ])('%s', async (_, invoke) => {
    const config = await parse(client, snippetsOf(invoke)[client] ?? '')
    expect(v.safeParse(rules, config).issues).toBeUndefined()
    expect(JSON.stringify(config)).toContain('"example"')
  })
})

test.each([
  [[REMOTE], 'claude mcp add --transport http example https://mcp.example.com/mcp'],
  [
    [{ ...REMOTE, transport: 'sse', headers: [KEY] }],
    "claude mcp add --transport sse example https://mcp.example.com/mcp --header 'Authorization: Bearer <TOKEN>'",
  ],
  [
    [{ ...PACKAGE, env: [DATABASE], args: ["it's"] }],
    "claude mcp add --env 'DATABASE_URL=<DATABASE_URL>' --transport stdio example -- npx -y @x/mcp 'it'\\''s'",
  ],
])('the first snippet of %j is the one line for Claude Code', (invoke, line) => {
  const [[name, code] = []] = Object.entries(snippetsOf(invoke))
  expect([name, code]).toEqual(['claude_code_add', `${line}\n`])
})

describe('what a caller must bring', () => {
  const server = (snippet: string | undefined) =>
    Object.values(JSON.parse(snippet ?? '').mcpServers)[0]

  test('stands as a placeholder, what is not a secret as it is, what is optional not at all', () => {
    const { cursor } = snippetsOf([{ ...PACKAGE, env: [DATABASE, REGION, OPTIONAL] }])
    expect(server(cursor)).toEqual({
      command: 'npx',
      args: ['-y', '@x/mcp'],
      env: { DATABASE_URL: '<DATABASE_URL>', REGION: 'eu-1' },
    })
  })

  test('is handed into a container by name', () => {
    const { cursor } = snippetsOf([
      { ...PACKAGE, registry: 'oci', identifier: 'mcp/x', env: [DATABASE], args: ['--read-only'] },
    ])
    expect(server(cursor)).toEqual({
      command: 'docker',
      args: ['run', '-i', '--rm', '-e', 'DATABASE_URL', 'mcp/x', '--read-only'],
      env: { DATABASE_URL: '<DATABASE_URL>' },
    })
  })

  test.each([
    [{ type: 'bearer' }, { Authorization: 'Bearer <TOKEN>' }],
    [{ type: 'api_key', in: 'header', name: 'X-API-Key' }, { 'X-API-Key': '<X_API_KEY>' }],
    [{ type: 'oauth' }, undefined],
  ])('by %j goes into the headers; clients sign in by OAuth themselves', (auth, headers) => {
    const { cursor, claude_desktop } = snippetsOf([REMOTE], auth)
    expect(server(cursor)).toEqual({ url: REMOTE.url, ...(headers && { headers }) })
    const [[name, value] = []] = Object.entries(headers ?? {})
    const variable = name === 'Authorization' ? 'AUTHORIZATION_HEADER' : 'X_API_KEY_HEADER'
    const passed = name === undefined ? [] : ['--header', `${name}:\${${variable}}`]
    expect(server(claude_desktop)).toEqual({
      command: 'npx',
      args: ['-y', 'mcp-remote', REMOTE.url, ...passed],
      ...(headers && { env: { [variable]: value } }),
    })
  })

  test('goes through a program where a client starts programs alone or knows no SSE', async () => {
    const snippets = snippetsOf([{ ...REMOTE, transport: 'sse' }])
    const bridge = { command: 'npx', args: ['-y', 'mcp-remote', REMOTE.url] }
    expect(server(snippets.claude_desktop)).toEqual(bridge)
    expect(await parse('codex', snippets.codex ?? '')).toEqual({ mcp_servers: { example: bridge } })
    expect(server(snippets.devin_desktop)).toEqual({ url: REMOTE.url, transport: 'sse' })
  })
})
