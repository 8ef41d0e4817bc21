import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { startWorkerd } from '../edge/workerd.ts'
import { FIXTURE_ENV } from '../support/fixture-env.ts'
import { listen } from '../support/listen.ts'
import { sharePostgres } from '../support/postgres.ts'
import { startService } from '../support/running-service.ts'
import {
  type HostileRequest,
  type RawAnswer,
  SECRETS,
  sendHostile,
  toHostileRequests,
} from './hostile-requests.ts'
import { hasNginx, startNginx } from './nginx.ts'

/** A deployment as its files ship it. A visitor is whom the platform says it saw. */
interface Preset {
  url: string
  /** The request as the platform hands it on, and the address that it comes from. */
  toWire(request: HostileRequest, visitor: Visitor): { request: HostileRequest; from: string }
  /** What the platform's edge refuses before it runs anything of ours. */
  refused?: RegExp
  stop(): Promise<unknown>
}
type Visitor = 'first' | 'second'

/** Three searches a minute: who is counted can then be seen. */
const LIMITS = { RATE_LIMITS: '{"search":"3/60"}' }
const ADDRESSES = { first: '198.51.100.7', second: '203.0.113.9' }
const LOOPBACK = { first: '127.0.0.1', second: '127.0.0.2' }
const portOf = (url: string) => Number(new URL(url).port)

/** A proxy of this machine: it sees the address that a visitor's connection comes from. */
const byConnection: Preset['toWire'] = (request, visitor) => ({ request, from: LOOPBACK[visitor] })

/** @param toHeaders what the platform's edge adds to what a visitor claimed of itself */
function byHeaders(toHeaders: (claimed: string[], address: string) => string[]): Preset['toWire'] {
  return (request, visitor) => {
    const isClaim = (line: string) => /^x-forwarded-for:/i.test(line)
    const given = request.headers ?? []
    const claimed = given.filter(isClaim).map((line) => line.slice(line.indexOf(':') + 1).trim())
    const added = toHeaders(claimed, ADDRESSES[visitor])
    const headers = [...given.filter((line) => !isClaim(line)), ...added]
    return { request: { ...request, headers }, from: LOOPBACK.first }
  }
}

async function startCloudflare(): Promise<Preset> {
  const service = await startService({ TRUST_PROXY: '1', ...LIMITS })
  const edge = await startWorkerd(resolve(FIXTURE_ENV.OUT_DIR, 'current/functions/search'), {
    program: 'docs/deploy/cloudflare/worker.js',
    functions: service.url,
  })
  return {
    url: edge.url,
    // Cloudflare appends the visitor to what it claimed, and names it alone in a field of its own.
    toWire: byHeaders((claimed, address) => [
      `X-Forwarded-For: ${[...claimed, address].join(', ')}`,
      `CF-Connecting-IP: ${address}`,
      'CF-Ray: 230b030023ae2822-SJC',
    ]),
    refused: /^authority form$/,
    stop: () => Promise.all([edge.stop(), service.close()]),
  }
}

async function startBehindNginx(): Promise<Preset> {
  const service = await startService({ TRUST_PROXY: '1', ...LIMITS })
  const nginx = await startNginx(portOf(service.url))
  const stop = () => Promise.all([nginx.stop(), service.close()])
  return { url: nginx.url, toWire: byConnection, stop }
}

async function startCompose(): Promise<Preset> {
  const { services, configs } = parse(readFileSync('compose.yaml', 'utf8'), { merge: true })
  const { TRUST_PROXY } = services.functions.environment
  const DATABASE_URL = await (await sharePostgres()).createDatabase()
  const service = await startService({ TRUST_PROXY, DATABASE_URL, ...LIMITS })
  const nginx = await startNginx(portOf(service.url), configs.nginx.content)
  const stop = () => Promise.all([nginx.stop(), service.close()])
  return { url: nginx.url, toWire: byConnection, stop }
}

async function startFly(): Promise<Preset> {
  const env = readFlyEnv()
  const service = await startService({ ...env, ...LIMITS })
  return {
    url: service.url,
    // https://fly.io/docs/networking/request-headers/: the last entry is the app's own address.
    toWire: byHeaders((claimed, address) => [
      `X-Forwarded-For: ${[...claimed, address, '2a09:8280:1::af:1aa1:0'].join(', ')}`,
      `Fly-Client-IP: ${address}`,
      'Fly-Region: fra',
      'Fly-Forwarded-Port: 443',
      'Via: 2 fly.io',
    ]),
    stop: () => service.close(),
  }
}

function readFlyEnv(): Record<string, string> {
  const [, table = ''] = readFileSync(join('docs/deploy/fly.toml'), 'utf8').split('[env]')
  const pairs = (table.split('\n[')[0] ?? '').matchAll(/(\w+) = "(.*)"/g)
  return Object.fromEntries([...pairs].map(([, name = '', value = '']) => [name, value]))
}

const PRESETS: [name: string, start: () => Promise<Preset>, isHere: boolean][] = [
  ['the Cloudflare worker', startCloudflare, true],
  ['nginx', startBehindNginx, hasNginx],
  ['compose', startCompose, hasNginx],
  ['Fly', startFly, true],
]
if (!hasNginx) console.log('nginx is not installed: the presets with nginx are skipped')

/** What a front refuses by itself (400, 405, or the connection ends) never was a request for us. */
function isOurs({ status }: RawAnswer): boolean {
  return ![0, 400, 405].includes(status)
}

function findFaults(answer: RawAnswer): string[] {
  const { status, headers, text } = answer
  const everything = `${text} ${[...headers].join('\n')}`
  const hasBody = status < 300 || status >= 400
  const faults: [isSo: boolean, what: string][] = [
    [/planted|root:x:0|stolen/.test(everything), 'the answer holds what it should not'],
    [/127\.0\.0\.1:\d+/.test(headers.get('location') ?? ''), 'it leads to another host'],
    [headers.has('set-cookie'), 'it sets a cookie'],
    [status >= 500, `it is answered with ${status}`],
    [isOurs(answer) && !headers.has('strict-transport-security'), 'it may be asked by plain http'],
    [
      isOurs(answer) && hasBody && headers.get('x-content-type-options') !== 'nosniff',
      'browsers may guess its type',
    ],
  ]
  return faults.flatMap(([isSo, what]) => (isSo ? [what] : []))
}

describe.each(PRESETS)('%s', (_, start, isHere) => {
  describe.skipIf(!isHere)('under hostile requests', () => {
    let preset: Preset
    let elsewhere: Server
    let called: string[]
    let requests: HostileRequest[]
    beforeAll(async () => {
      called = []
      elsewhere = createServer((req, res) => {
        called.push(`${req.method} ${req.url} ${JSON.stringify(req.headers)}`)
        res.setHeader('set-cookie', '__Host-session=planted')
        res.end('<h1>planted page</h1>')
      })
      requests = toHostileRequests(`127.0.0.1:${await listen(elsewhere)}`)
      preset = await start()
    }, 120_000)
    afterAll(async () => {
      await preset?.stop()
      elsewhere?.close()
    })
    const send = (hostile: HostileRequest, visitor: Visitor = 'first') => {
      const { request, from } = preset.toWire(hostile, visitor)
      return sendHostile(preset.url, request, from)
    }

    test('no other host is asked, named or shown, and every answer of ours has our headers', async () => {
      const wrong: string[] = []
      let answered = 0
      for (const request of requests) {
        if (preset.refused?.test(request.name)) continue
        const answer = await send(request)
        if (isOurs(answer)) answered += 1
        const reached = called.splice(0).map((call) => `it reached another host: ${call}`)
        for (const fault of [...reached, ...findFaults(answer)])
          wrong.push(`${request.name}: ${fault}`)
      }
      expect(wrong).toEqual([])
      expect(answered).toBeGreaterThan(100)
    })

    test('a visitor is counted as the platform saw it, whatever it says of itself', async () => {
      const search = (claims: string[], visitor: Visitor) =>
        send(
          { name: '', line: 'GET /discovery/resources?limit=1 HTTP/1.1', headers: claims },
          visitor,
        )
      const statuses: number[] = []
      for (const claimed of ['1.2.3.4', '5.6.7.8', '127.0.0.1', '9.9.9.9'])
        statuses.push((await search([`X-Forwarded-For: ${claimed}`], 'first')).status)
      expect(statuses).toEqual([200, 200, 200, 429])
      // Somebody else has a count of its own.
      expect((await search([`X-Forwarded-For: ${ADDRESSES.first}`], 'second')).status).toBe(200)
    })
  })
})

test('the worker answers for a server that is away, and has searches alone without one', async () => {
  const functionDir = resolve(FIXTURE_ENV.OUT_DIR, 'current/functions/search')
  const program = 'docs/deploy/cloudflare/worker.js'
  const away = await startWorkerd(functionDir, { program, functions: 'http://127.0.0.1:9' })
  const alone = await startWorkerd(functionDir, { program, functions: '' })
  try {
    for (const [url, path, status] of [
      [away.url, '/healthz', 502],
      [away.url, '/api/v1/search?q=weather', 200],
      [alone.url, '//127.0.0.1:9/x', 404],
    ] as const) {
      const answer = await sendHostile(url, { name: path, line: `GET ${path} HTTP/1.1` })
      expect([answer.status, answer.headers.get('x-content-type-options')]).toEqual([
        status,
        'nosniff',
      ])
      expect(answer.headers.get('strict-transport-security')).toBe('max-age=63072000')
    }
  } finally {
    await away.stop()
    await alone.stop()
  }
})

test('the corpus brings what may be stolen', () => {
  expect(toHostileRequests('127.0.0.1:1').length).toBeGreaterThan(150)
  expect(Object.values(SECRETS).join()).toMatch(/stolen-session.*stolen-payment/)
})
