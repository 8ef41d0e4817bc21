import { createServer, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HELP } from '../../packages/client/cli/command-line.ts'
import { clientHere } from '../support/client-here.ts'
import { listen } from '../support/listen.ts'
import { tempFolder } from '../support/temp-folder.ts'

/** Whatever a directory or a seller writes, no command lets it move a terminal's cursor. */
/** C0 and C1 controls, directions, zero width, separators, tags, and what is half a character. */
const EVIL = 'EVIL\u0007\u001b[2J\u0085\u009b31m\u202e\u2066\u200b\u00ad\u2028\u2029\ufeff\u{e0041}'
const MOVES = /[\p{Cc}\p{Cf}\p{Co}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u

const operation = {
  ...{ method: 'GET', url: 'https://seller.example/a', description: EVIL, digest: EVIL },
  example: { method: 'GET', url: 'https://seller.example/a', headers: {}, body: { q: EVIL } },
}
const price = { min_usd: 1, max_usd: 2 }
const schema = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }
const problem = { code: 'not-found', detail: EVIL, errors: [{ name: EVIL, detail: EVIL }] }

/** What each address answers, in the shapes of the interface. */
const answersAt = (base: string): Record<string, unknown> => ({
  '/api/v1/search': {
    ...{ total: 1, notes: [EVIL] },
    results: [{ id: EVIL, name: EVIL, summary: EVIL, price, rails: [EVIL], auth: EVIL, trust: 1 }],
  },
  '/api/v1/operations': {
    ...{ total: 1, notes: [EVIL] },
    results: [{ listing: { id: EVIL, name: EVIL, auth: EVIL }, operation: { name: EVIL } }],
  },
  '/api/v1/listings/x402.a': {
    ...{
      id: EVIL,
      name: EVIL,
      summary: EVIL,
      url: EVIL,
      kind: EVIL,
      cost: EVIL,
      buy: 'relay_x402',
    },
    ...{
      trust: { score: null, evidence: EVIL },
      pricing: { model: 'unknown' },
      auth: { type: EVIL },
    },
    operations: [operation],
    tools: [{ name: EVIL, description: EVIL }],
    ...{ skills: [], notices: [{ id: EVIL, note: EVIL }] },
  },
  '/api/v1/listings/x402.a/kit.json': {
    ...{ id: EVIL, name: EVIL, url: 'https://seller.example/', digest: EVIL, auth: { type: EVIL } },
    ...{ payees: [EVIL], payment: { rails: [EVIL], relay: null }, snippets: { curl: EVIL } },
    ...{ operations: [operation], invoke: [{ transport: EVIL }], tools: [], skills: [], price },
    pricing: { model: 'unknown' },
  },
  '/api/v1/call/x402.a': { stated: EVIL, relayable: true },
  '/api/v1/tasks': {
    tasks: [{ id: EVIL, name: EVIL, sellers: 1, example: { q: EVIL }, plan: EVIL }],
  },
  '/api/v1/tasks/t': { output: schema },
  '/api/v1/tasks/t/plan': {
    ...{ total: 1, notes: [EVIL] },
    rows: [
      {
        ...{ seller: { id: EVIL }, request: { method: 'GET', url: `${base}/seller` }, usd: 0 },
        output: { text: 'stated' },
      },
    ],
  },
  '/seller': { stated: EVIL },
  '/api/v1/lint': {
    ...{ target: EVIL, took_for: 'mcp', saw: EVIL, asked: [], right: [EVIL], verdict: 'clean' },
    problems: [{ what: EVIL, change: EVIL }],
  },
  '/api/v1/reports': { status: 'waiting', id: EVIL, page: EVIL },
  '/api/v1/trust/payees.json': { as_of: null, payees: [], seeds: [] },
  '/api/v1/trust/payments.ndjson': '',
})

/** Each command of the help, as it is called; those after `fails` are answered with an error. */
const CALLS: Record<string, string[][]> = {
  search: [['x'], ['x', '--all']],
  find: [['x']],
  show: [['x402.a'], ['x402.a', '--kit'], ['x402.a', '--snippet', 'curl']],
  call: [
    ['x402.a', '--endpoint', '/a'],
    ['x402.a', '--info'],
  ],
  tasks: [[]],
  plan: [['t', '{}']],
  do: [['t', '{}']],
  pin: [['x402.a', '--lock', 'new.lock']],
  check: [['--lock', 'old.lock']],
  lint: [['https://a.example'], ['https://a.example', '--format', 'github']],
  recompute: [['x402.a']],
  verify: [['r'.repeat(22)]],
  add: [['https://a.example']],
}
/** They print no words of others. */
const SILENT = ['verify', 'recompute', 'pin', 'check']

const folder = tempFolder('terminal')
let base = ''
const server = createServer((req, res) => {
  const { pathname } = new URL(req.url ?? '', 'http://directory.example')
  const answer = answersAt(base)[pathname]
  const send = (status: number, body: unknown): ServerResponse =>
    res
      .writeHead(status, { 'content-type': 'application/json' })
      .end(typeof body === 'string' ? body : JSON.stringify(body))
  return answer === undefined ? send(404, problem) : send(200, answer)
})
beforeAll(async () => {
  base = `http://127.0.0.1:${await listen(server)}`
})
afterAll(() => server.close())

const waypost = (args: readonly string[]) =>
  clientHere(
    args.map((arg) => (arg.endsWith('.lock') ? join(folder, arg) : arg)),
    { env: { WAYPOST_URL: base }, isTerminal: true },
  )

test('every command of the help is called here', () => {
  const named = [...HELP.matchAll(/^ {2}([a-z]+) /gm)].map(([, name]) => name)
  expect(Object.keys(CALLS).sort()).toEqual([...new Set(named)].sort())
})

describe.each(Object.entries(CALLS))('%s', (name, calls) => {
  test.each(calls.map((args) => [args.join(' '), args] as const))('%s', async (_, args) => {
    const [text, json] = await Promise.all([
      waypost([name, ...args]),
      waypost([name, ...args, '--json']),
    ])
    for (const { stdout, stderr } of [text, json])
      expect(`${stdout}${stderr}`.replaceAll(/[\n\t]/g, '')).not.toMatch(MOVES)
    if (!SILENT.includes(name)) expect(`${text.stdout}${text.stderr}`).toContain('EVIL')
  })
})

test('JSON says the same with escapes', async () => {
  for (const args of [
    ['show', 'x402.a', '--json'],
    ['do', 't', '{}'],
    ['do', 't', '{}', '--json'],
    ['call', 'x402.a', '--endpoint', '/a'],
    ['search', 'x', '--all', '--json'],
  ]) {
    const { stdout } = await waypost(args)
    expect(JSON.stringify(JSON.parse(stdout)), args.join(' ')).toContain(
      JSON.stringify(EVIL).slice(1, -1),
    )
  }
})
