import { spawnSync } from 'node:child_process'
import { cpSync, readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import ts from 'typescript'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { FIXTURE_ENV } from '../support/fixture-env.ts'
import { IS_LONG } from '../support/long.ts'
import { type RunningService, startService } from '../support/running-service.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { startWorkerd } from './workerd.ts'

const DIR = resolve(FIXTURE_ENV.OUT_DIR, 'current/functions/search')
const BUNDLE = join(DIR, 'search.js')

/** What a module asks its host for, statically or later. */
function findImports(code: string): string[] {
  return ts.preProcessFile(code, true, true).importedFiles.map(({ fileName }) => fileName)
}

interface SearchFunction {
  fetch(request: Request, env: object): Promise<Response>
}

/** A new copy each time: a module of its own has opened no index yet. */
let copies = 0
async function importFunction(): Promise<SearchFunction> {
  copies += 1
  const imported = await import(`${pathToFileURL(BUNDLE).href}?copy=${copies}`)
  return imported.default
}

/** Words of the fixture, alone, in pairs, with slips and filters; and what is refused. */
const WORDS = [
  'weather',
  'tides',
  'search',
  'web',
  'image',
  'agent',
  'postgres',
  'forecast',
  'wether',
  'GPT-4',
]
const EXTRAS = [
  '',
  '&limit=3',
  '&view=compact',
  '&kind=http_api&explain=true',
  '&rail=x402&sort=price',
  '&facets=kind,rail,price',
  '&max_price_usd=0.05&paid_only=true',
  '&offset=2&runs=remote',
  '&limit=none',
]
const COMBINED = [
  ...WORDS.flatMap((word) => EXTRAS.map((extra) => `q=${word}${extra}`)),
  ...WORDS.flatMap((first) => WORDS.map((second) => `q=${first}+${second}`)),
]
const QUERIES = [
  // One in seven meets every word and every extra.
  ...COMBINED.filter((_, place) => IS_LONG || place % 7 === 0),
  '',
  'category=nonsense',
  'q=%F0%9F%98%80',
  'q=x402.weather',
  'sort=newest&limit=50',
  `q=${'long+'.repeat(90)}`,
  'q=weather&q=again',
  'unknown=1',
  'q=free+weather',
  // Names a task, whose row stands above the results.
  'q=weather+in+Oslo',
  'q=%00',
]
const OPERATION_QUERIES = [
  ...WORDS.map((word) => `q=${word}`),
  'q=web&limit=3',
  'limit=21',
  'view=full',
]
const PATHS = [
  ...QUERIES.map((query) => `/api/v1/search?${query}`),
  ...OPERATION_QUERIES.map((query) => `/api/v1/operations?${query}`),
]

test('is a module wherever its folder is copied to', async () => {
  const away = tempFolder('function')
  cpSync(DIR, away, { recursive: true })
  const command = ["import('./search.js').then((m) => console.log(typeof m.default.fetch))"]
  const run = spawnSync(process.execPath, ['--no-experimental-detect-module', '-e', ...command], {
    cwd: away,
    encoding: 'utf8',
  })
  expect(run).toMatchObject({ stdout: 'function\n', stderr: '' })
})

describe('the search function of a release', () => {
  let waypost: RunningService
  let workerd: Awaited<ReturnType<typeof startWorkerd>>
  beforeAll(async () => {
    ;[waypost, workerd] = await Promise.all([startService(), startWorkerd(DIR)])
  })
  afterAll(async () => {
    await workerd?.stop()
    await waypost?.close()
  })

  /** Status, headers that do not depend on the host, and the answer but for its own id. */
  async function read(response: Response) {
    const text = await response.text()
    const id = /"search_id":"([^"]+)"/.exec(text)?.[1]
    const names = [
      'content-type',
      'cache-control',
      'access-control-allow-origin',
      'x-content-type-options',
      'strict-transport-security',
      'allow',
    ]
    return {
      status: response.status,
      headers: names.map((name) => response.headers.get(name)),
      body: id === undefined ? text : text.replaceAll(id, 'id'),
    }
  }

  test('is one file of at most 300 KB that imports nothing', () => {
    expect(statSync(BUNDLE).size).toBeLessThanOrEqual(300_000)
    const left = findImports(readFileSync(BUNDLE, 'utf8'))
    expect(left).toEqual([])
    expect(findImports('import a from "node:fs"; export const b = () => import("./c.js")')).toEqual(
      ['node:fs', './c.js'],
    )
  })

  test('answers as the server does, in Node and in a runtime without Node', async () => {
    const inNode = await importFunction()
    const env = {
      SEARCH_INDEX: () => readFileSync(join(DIR, 'search.index')),
      OPERATIONS_INDEX: () => readFileSync(join(DIR, 'operations.index')),
    }
    let found = 0
    for (const path of PATHS) {
      const plain = { headers: { 'accept-encoding': 'identity' } }
      const server = await read(await fetch(waypost.url + path, plain))
      const node = await read(
        await inNode.fetch(new Request(`https://waypost.example${path}`), env),
      )
      const other = await read(await fetch(workerd.url + path, plain))
      expect(node, path).toEqual(server)
      expect(other, path).toEqual(server)
      if (server.body.includes('"relevance"')) found += 1
    }
    expect(found).toBeGreaterThan(PATHS.length / 2)
  })

  test('stands in the worker for Cloudflare, which leaves the rest to a server', async () => {
    const folder = 'docs/deploy/cloudflare'
    const config = JSON.parse(
      readFileSync(join(folder, 'wrangler.jsonc'), 'utf8').replace(/^\s*\/\/.*$/gm, ''),
    )
    expect(config.assets).toMatchObject({ directory: 'public', binding: 'ASSETS' })
    const program = join(folder, config.main)
    const edge = await startWorkerd(DIR, { program, functions: waypost.url })
    try {
      const path = '/api/v1/search?q=weather'
      expect(await read(await fetch(edge.url + path))).toEqual(
        await read(await fetch(waypost.url + path)),
      )
      const go = await fetch(`${edge.url}/go/x402.weather`, { redirect: 'manual' })
      expect([go.status, go.headers.get('location')]).toEqual([
        302,
        (await fetch(`${waypost.url}/go/x402.weather`, { redirect: 'manual' })).headers.get(
          'location',
        ),
      ])
      const refused = await fetch(`${edge.url}/api/v1/sellers/me`)
      expect(refused.status).toBe(401)
    } finally {
      await edge.stop()
    }
  })

  test('knows the other methods and addresses', async () => {
    const inNode = await importFunction()
    const ask = async (path: string, method: string) => {
      const answer = await inNode.fetch(
        new Request(`https://waypost.example${path}`, { method }),
        {},
      )
      return [answer.status, answer.headers.get('allow')]
    }
    expect(await ask('/api/v1/search', 'POST')).toEqual([405, 'GET, HEAD, OPTIONS'])
    expect(await ask('/api/v1/search', 'OPTIONS')).toEqual([204, 'GET, HEAD, OPTIONS'])
    expect(await ask('/api/v1/stats', 'GET')).toEqual([404, null])
  })

  test('takes its index from bytes, a bucket or assets, and says what is missing', async () => {
    const bytes = readFileSync(join(DIR, 'search.index'))
    const stored = { arrayBuffer: async () => new Uint8Array(bytes).buffer }
    for (const env of [
      { SEARCH_INDEX: bytes },
      { SEARCH_INDEX: new Uint8Array(bytes).buffer },
      { BUCKET: { get: async (key: string) => (key === 'search.index' ? stored : null) } },
      {
        ASSETS: {
          fetch: async (url: string) => new Response(url.endsWith('/search.index') ? bytes : null),
        },
      },
    ]) {
      // Without words: the first ones make a copy read every language.
      const answer = await (await importFunction()).fetch(
        new Request('https://w.example/api/v1/search?limit=50'),
        env,
      )
      expect(answer.status).toBe(200)
      expect(await answer.text()).toContain('x402.weather')
    }
  })

  test('a host that gives no index, or a damaged one, gets a 500, and the next request tries again', async () => {
    const stated: string[] = []
    const { error } = console
    console.error = (line: string) => void stated.push(line)
    try {
      const inNode = await importFunction()
      const request = () => new Request('https://w.example/api/v1/search?limit=50')
      const damaged = new Uint8Array(readFileSync(join(DIR, 'search.index')))
      damaged.fill(7, 5_000, 5_100)
      for (const env of [{}, { BUCKET: { get: async () => null } }, { SEARCH_INDEX: damaged }])
        expect((await inNode.fetch(request(), env)).status).toBe(500)
      expect(stated.join('\n')).toMatch(
        /expected SEARCH_INDEX, ASSETS or BUCKET.*BUCKET has no search\.index.*damaged/s,
      )
      const env = { SEARCH_INDEX: readFileSync(join(DIR, 'search.index')) }
      expect((await inNode.fetch(request(), env)).status).toBe(200)
    } finally {
      console.error = error
    }
  })
})
