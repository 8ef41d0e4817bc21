import { execFileSync } from 'node:child_process'
import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseConfig } from '../../functions/ports/config.ts'
import { createSecret, hashSecret } from '../../functions/sellers/sign-in.ts'
import { findUrlFault } from '../../src/domain/listing/target-url.ts'
import { judgeAddress } from '../../src/domain/relay/address-verdict.ts'
import { toUrlPath } from '../../src/domain/wire/published-files.ts'
import { ON_DEMAND_PAGES, PROTOCOL_ENDPOINTS, ROUTES } from '../../src/domain/wire/routes.ts'
import { FILES } from '../deploy/released-files.ts'
import { FIXTURE_ENV } from '../support/fixture-env.ts'
import { forAllTests } from '../support/for-tests.ts'
import { IS_LONG } from '../support/long.ts'
import { askRaw } from '../support/raw-answer.ts'
import { type RunningService, startService } from '../support/running-service.ts'
import { startSite } from '../support/site.ts'
import { tempFolder } from '../support/temp-folder.ts'

const CLOSED = 'private, no-store'
const OPEN = /^\/(?:_astro\/.*|sellers\/sign-in|favicon\.svg|colours\.css)$/
let stateDir: string
let closed: RunningService
let token: string
const access = (...args: string[]) =>
  execFileSync(process.execPath, ['functions/commands/ledger/access.ts', ...args], {
    env: { ...process.env, ...FIXTURE_ENV, STATE_DIR: stateDir },
    stdio: ['ignore', 'pipe', 'pipe'],
    encoding: 'utf8',
  }).trim()

beforeAll(async () => {
  stateDir = tempFolder('closed')
  closed = await startService({
    READ_ACCESS: 'token',
    STATE_DIR: stateDir,
    UNSAFE_ALLOW_PRIVATE_TARGETS: 'true',
  })
  token = await addToken('build agents')
})
afterAll(() => closed?.close())

/** As `npm run access -- add` does it, a second of a core faster. */
async function addToken(name: string, expires_at: number | null = null): Promise<string> {
  const secret = createSecret()
  const row = { name, token_hash: hashSecret(secret), created_at: Date.now(), expires_at }
  await closed.service.parts.ledger.store.db.insertInto('access_token').values(row).execute()
  return secret
}

async function ask(path: string, headers: Record<string, string> = {}, method = 'GET') {
  const { bytes, ...answer } = await askRaw(closed.url, { path, method, headers })
  return { ...answer, text: String(bytes) }
}

const files = FILES.map(({ file }) => toUrlPath(file))

const filled = (path: string) =>
  path.replace(':listing_id', 'x402.weather').replace(/:\w+/g, 'something')
const addresses = [
  ...files.map((path) => ['GET', path] as const),
  ...[...Object.values(ROUTES), ...Object.values(PROTOCOL_ENDPOINTS)].flatMap(({ methods, path }) =>
    methods.map((method) => [method, filled(path)] as const),
  ),
  ...[
    '/readyz',
    '/metrics',
    ...Object.values(ON_DEMAND_PAGES),
    '/og/kind/http_api.png',
    '/nothing-here',
    '/compare?ids=x402.weather,mcp.harbour',
    '/api/v1/search?q=weather',
  ].map((path) => ['GET', path] as const),
].filter(
  // A seller's wall asks for the key of probes, and has no token.
  ([, path]) =>
    ![ROUTES.login.path, ROUTES.session_start.path, ROUTES.probe_keys.path].some(
      (open) => open === path,
    ),
)

describe('a directory that is closed', () => {
  test('answers nothing without a token, whatever is asked for', async () => {
    expect(addresses.length).toBeGreaterThan(200)
    const reported: string[] = []
    for (const [place, [method, path]] of addresses.entries()) {
      // A page for each refusal takes ten times as long as a problem.
      const accept = IS_LONG || place % 10 === 0 ? 'text/html' : '*/*'
      const { status, headers, text } = await ask(path, { accept }, method)
      if (OPEN.test(path)) continue
      const isShut = status === 401 && headers['cache-control'] === CLOSED
      if (!isShut || /weather|harbour/i.test(text)) reported.push(`${method} ${path} ${status}`)
    }
    expect(reported).toEqual([])
  })

  test.each(
    ['..', '%2e%2e', '.%2e', './..', 'x/../..'].flatMap((up) =>
      ['api/v1/search?q=weather', 'api/v1/changes', 'mcp', 'search', ''].map(
        (target) => `/_astro/${up}/${target}`,
      ),
    ),
  )('%s leads nowhere', async (path) => {
    expect(await ask(path)).toMatchObject({ status: 401, headers: { 'cache-control': CLOSED } })
  })

  test('says so to HEAD and OPTIONS, and to a wrong token as to none', async () => {
    for (const method of ['HEAD', 'OPTIONS', 'DELETE'])
      expect((await ask('/api/v1/stats', {}, method)).status).toBe(401)
    const wrong = 'A'.repeat(43)
    for (const authorization of [
      `Bearer ${wrong}`,
      'Bearer x',
      `Basic ${btoa(`a:${wrong}`)}`,
      `bearer  ${token}x`,
    ])
      expect((await ask('/', { authorization })).status).toBe(401)
    const { headers, text } = await ask('/api/v1/stats')
    expect(headers['www-authenticate']).toMatch(/^Bearer realm="Waypost", Basic /)
    const browser = await ask('/', { accept: 'text/html' })
    expect(browser.headers['www-authenticate']).toMatch(/^Basic realm=/)
    expect(JSON.parse(text)).toMatchObject({ code: 'token-required', status: 401 })
    expect(JSON.parse((await ask('/v0.1/servers')).text)).toEqual({ error: expect.any(String) })
    expect(JSON.parse((await ask('/ard/search', {}, 'POST')).text)).toEqual({
      errorCode: 'UNAUTHENTICATED',
      message: expect.any(String),
    })
  })

  test('shows a browser its page, and answers JSON under /api/ as everywhere', async () => {
    const requested = async (path: string, method = 'GET') =>
      (await ask(path, { accept: 'text/html,*/*;q=0.8' }, method)).headers['content-type']
    expect(await requested('/docs')).toBe('text/html; charset=utf-8')
    expect(await requested('/sellers')).toBe('text/html; charset=utf-8')
    for (const path of ['/api/v1/stats', '/api/v1/listings/x402.weather/kit.json', '/go/x402.a'])
      expect(await requested(path), path).toBe('application/problem+json')
  })

  test('opens to its token in three places, and no cache may hold what it gives', async () => {
    const ways = [
      { authorization: `Bearer ${token}` },
      { authorization: `Basic ${btoa(`anybody:${token}`)}` },
      { 'proxy-authorization': `Bearer ${token}` },
    ]
    for (const way of ways)
      expect(await ask('/listing/x402.weather', way)).toMatchObject({
        status: 200,
        headers: { 'cache-control': CLOSED },
      })
    const kept: string[] = []
    for (const [place, [method, path]] of addresses.entries()) {
      if (!IS_LONG && place % 5 > 0) continue
      if (method !== 'GET' || OPEN.test(path)) continue
      const { headers, status } = await ask(path, { authorization: `Bearer ${token}` })
      if (headers['cache-control'] !== CLOSED || status === 401) kept.push(`${path} ${status}`)
    }
    // Sellers' routes want a session on top.
    expect(kept.filter((line) => !line.startsWith('/api/v1/sellers/'))).toEqual([])
  })

  test('leaves sign-in and health open', async () => {
    expect((await ask('/healthz')).status).toBe(200)
    const page = await ask('/sellers/sign-in')
    expect(page.status).toBe(200)
    const sheet = /href="(\/_astro\/[^"]+\.css)"/.exec(page.text)?.[1] ?? ''
    expect((await ask(sheet)).status).toBe(200)
  })

  test('knows no token of another directory, and none whose day is over', async () => {
    const foreign = createSecret()
    const ended = await addToken('ended', Date.now() - 1)
    for (const secret of [foreign, ended])
      for (const path of ['/', '/api/v1/search?q=weather', '/api/v1/call/x402.weather', '/mcp'])
        expect((await ask(path, { authorization: `Bearer ${secret}` })).status, path).toBe(401)
  })

  test('shows the badges that were marked public, and nothing else of their listings', async () => {
    const { site } = closed.service.parts.release()
    site.public_badges = ['x402.weather']
    try {
      for (const path of ['/badge/x402.weather.svg', '/badge/x402.weather.json'])
        expect((await ask(path)).status, path).toBe(200)
      for (const path of [
        '/badge/mcp.harbour.svg',
        '/badge/x402.weather.svg/../../api/v1/stats',
        '/badge/x402.weather',
        '/listing/x402.weather',
        '/api/v1/listings/x402.weather',
        '/og/kind/http_api.png',
        '/go/x402.weather',
      ])
        expect((await ask(path)).status, path).toBe(401)
    } finally {
      site.public_badges = []
    }
  })

  test('answers no question of a cache, and says that it speaks over TLS alone', async () => {
    const { headers } = await ask('/listing/x402.weather', { authorization: `Bearer ${token}` })
    const kept = { 'if-none-match': String(headers.etag) }
    const again = await ask('/listing/x402.weather', kept)
    expect(again).toMatchObject({ status: 401, headers: { 'cache-control': CLOSED } })
    expect(again.headers.etag).toBeUndefined()
    expect(again.headers['strict-transport-security']).toMatch(/^max-age=/)
    const same = await ask('/listing/x402.weather', { ...kept, authorization: `Bearer ${token}` })
    expect(same).toMatchObject({ status: 304, headers: { 'cache-control': CLOSED } })
  })

  test('forgets a token that has ended or was taken away', async () => {
    const short = access('add', 'for a while', '--days', '1')
    const headers = { authorization: `Bearer ${short}` }
    expect((await ask('/', headers)).status).toBe(200)
    if (IS_LONG) {
      expect(access('list')).toContain('for a while')
      expect(() => access('add', 'for a while')).toThrow(/already has a token/)
    }
    access('remove', 'for a while')
    await expect.poll(async () => (await ask('/', headers)).status).toBe(401)
  })
})

describe('a call through the relay of a closed directory', () => {
  const seller = forAllTests(startSite)
  let heard: string[][]
  beforeAll(() => {
    seller.answer = (req, res) => {
      heard.push(req.rawHeaders)
      res.end('ok')
    }
    closed.list('api.seller', `${seller.url}/`)
  })
  /** @returns what the seller got as `Authorization` and `Proxy-Authorization`; null where nothing came */
  async function call(lines: readonly (readonly [name: string, value: string])[]) {
    heard = []
    const { promise, resolve: done, reject } = Promise.withResolvers<number>()
    const path = '/api/v1/call/api.seller'
    const headers = ['Host', 'waypost.example', 'Connection', 'close', ...lines.flat()]
    const { hostname, port } = new URL(closed.url)
    const req = request({ hostname, port, path, headers, agent: false }, (res) => {
      res.resume().once('end', () => done(res.statusCode ?? 0))
    })
    req.on('error', reject).end()
    const status = await promise
    const raw = heard[0]?.join('\n') ?? null
    return { status, raw, isLeaked: raw?.includes(token) || raw?.includes(btoa(`a:${token}`)) }
  }
  const bearer = () => `Bearer ${token}`
  const basic = () => `Basic ${btoa(`a:${token}`)}`

  test.each([
    ['alone', () => [['Authorization', bearer()]]],
    ['as a password', () => [['Authorization', basic()]]],
    [
      'beside itself',
      () => [
        ['Proxy-Authorization', bearer()],
        ['Authorization', bearer()],
      ],
    ],
    [
      'beside itself, as a password',
      () => [
        ['Proxy-Authorization', bearer()],
        ['Authorization', basic()],
      ],
    ],
    [
      'in two lines',
      () => [
        ['authorization', bearer()],
        ['AUTHORIZATION', bearer()],
      ],
    ],
    [
      'behind a key of the seller',
      () => [
        ['Proxy-Authorization', bearer()],
        ['Authorization', 'Bearer key-of-seller'],
        ['Authorization', bearer()],
      ],
    ],
    [
      'in a list',
      () => [
        ['Proxy-Authorization', bearer()],
        ['Authorization', `Bearer key, ${bearer()}`],
      ],
    ],
  ] as [string, () => [string, string][]][])(
    'keeps our token from the seller: %s',
    async (_, lines) => {
      expect(await call(lines())).toMatchObject({ status: 200, isLeaked: false })
    },
  )

  test('brings the seller its own key where our token comes as Proxy-Authorization', async () => {
    const lines = [
      ['Proxy-Authorization', bearer()],
      ['Authorization', 'Bearer key-of-seller'],
    ] as const
    const { raw, isLeaked } = await call(lines)
    expect(raw).toContain('Authorization\nBearer key-of-seller')
    expect(isLeaked).toBe(false)
  })
})

describe('hosts inside', () => {
  const inside = parseConfig({
    PRIVATE_HOSTS: '*.corp.example, wiki.internal,10.0.0.0/8',
  }).PRIVATE_TARGETS
  test.each([
    ['http://api.corp.example:8080/v1', null],
    ['https://wiki.internal/x', null],
    ['http://10.1.2.3/', null],
    ['https://other.internal/x', 'public host'],
    ['http://corp.example/', 'https URL'],
    ['http://192.168.1.1/', 'https URL'],
  ])('%s may stand in a listing: %s', (url, fault) => {
    const found = findUrlFault(url, { allowPrivate: inside })
    if (fault === null) expect(found).toBeNull()
    else expect(found).toContain(fault)
  })
  test.each([
    ['10.1.2.3', 'anything.example', true],
    ['192.168.1.1', 'api.corp.example', true],
    ['192.168.1.1', 'stranger.example', false],
    ['169.254.169.254', 'api.corp.example', false],
    ['127.0.0.1', 'stranger.example', false],
    ['93.184.215.14', 'stranger.example', true],
  ])('%s for %s is dialled: %s', (address, hostname, allowed) => {
    expect(judgeAddress(address, { allowPrivate: inside, hostname }).allowed).toBe(allowed)
  })
  test.each(['0.0.0.0/0', '10.0.0.0/33', '*', 'a b', 'https://x.example'])(
    '%s is refused',
    (text) => {
      expect(() => parseConfig({ PRIVATE_HOSTS: text })).toThrow(
        /PRIVATE_HOSTS.*expected a comma-separated list/,
      )
    },
  )
})
