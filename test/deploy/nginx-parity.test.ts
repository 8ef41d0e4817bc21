import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { toUrlPath } from '../../src/domain/wire/published-files.ts'
import { copyRelease, switchRelease } from '../support/fixture-release.ts'
import { IS_LONG } from '../support/long.ts'
import { askRaw } from '../support/raw-answer.ts'
import { serveFixture } from '../support/running-service.ts'
import { hasBrotli, hasNginx, startNginx } from './nginx.ts'
import { FILES } from './released-files.ts'

if (!hasNginx)
  console.log('nginx is not installed: the comparison of its answers with ours is skipped')
if (!hasBrotli) console.log('nginx has no Brotli module: the test of its copies is skipped')

/** What must not depend on who answers. Coding and validators are each server's own. */
const COMPARED = [
  'content-type',
  'cache-control',
  'content-security-policy',
  'strict-transport-security',
  'x-content-type-options',
  'referrer-policy',
  'cross-origin-opener-policy',
  'cross-origin-resource-policy',
  'permissions-policy',
  'access-control-allow-origin',
  'access-control-allow-methods',
  'allow',
  'location',
  'link',
]

interface Requested {
  path: string
  method?: string
  headers?: Record<string, string>
}

/** One of each kind of file, and every file at the root. */
const ADDRESSES = [
  ...new Map(
    FILES.map(({ file, type }) => {
      const address = toUrlPath(file)
      const [folder, ...rest] = file.split('/')
      return [rest.length === 0 ? file : `${folder}/${rest.length} ${type} ${rest.at(-1)}`, address]
    }),
  ).values(),
]

/** Of what is compared for many addresses; `npm test` asks by HEAD as people do. */
const METHODS = IS_LONG ? ['GET', 'HEAD'] : ['GET']

const BROWSER = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }
const MARKDOWN = { accept: 'text/markdown, text/html;q=0.5' }

describe.skipIf(!hasNginx)(
  'nginx with the rules of a release answers as our own server does',
  () => {
    const waypost = serveFixture({ TRUST_PROXY: '1' })
    let nginx: { url: string; stop(): Promise<void> }
    beforeAll(async () => {
      nginx = await startNginx(Number(new URL(waypost.url).port))
    })
    afterAll(() => nginx?.stop())

    const both = async (requested: Requested) => [
      await ask(nginx.url, requested),
      await ask(waypost.url, {
        ...requested,
        headers: { ...requested.headers, 'x-forwarded-for': '1.2.3.4' },
      }),
    ]
    async function expectSame(requested: Requested) {
      const [theirs, ours] = (await both(requested)).map(({ body: _, etag: __, ...head }) => head)
      expect(theirs, `${requested.method ?? 'GET'} ${requested.path}`).toEqual(ours)
      return ours?.status
    }

    test('files of every kind, at each address they answer on', async () => {
      for (const path of ADDRESSES)
        for (const method of METHODS)
          expect(await expectSame({ path, method })).toBe(
            !path.startsWith('/gone/') ? 200 : path.endsWith('-weather') ? 308 : 410,
          )
    })

    test('methods that files do not take, and preflights', async () => {
      for (const path of ['/', '/docs', '/openapi.json', '/listing/x402.weather', '/feed.atom'])
        for (const [method, status] of [
          ['POST', 405],
          ['DELETE', 405],
          ['OPTIONS', 204],
        ] as const)
          expect(await expectSame({ path, method })).toBe(status)
    })

    test('slashes at the end, escapes, what lies in a folder, and compressed copies', async () => {
      const odd = ADDRESSES.filter((path) => !path.includes('.')).slice(0, IS_LONG ? 30 : 6)
      for (const path of odd)
        if (path !== '/') expect(await expectSame({ path: `${path}/` })).toBe(301)
      for (const path of [
        '/index.html',
        '/docs/index.html',
        '/docs/index.html?x=1',
        '/api/v1/stats/index.json',
        '/listing/x402.weather/index.html',
        '/openapi.json.gz',
        '/docs/index.html.br',
        '/%64ocs',
        '/docs%2f',
        '//docs',
        '/docs//',
        '/_astro/none.js',
        '/pagefind/0/index/none.pf_index',
        '/badge/none.svg',
        '/.well-known/none',
      ])
        expect(await expectSame({ path, headers: BROWSER })).toBe(404)
    })

    test('what is gone, what does not exist, and queries', async () => {
      expect(await expectSame({ path: '/listing/x402.former-tides', headers: BROWSER })).toBe(410)
      expect(await expectSame({ path: '/api/v1/listings/x402.former-tides' })).toBe(410)
      expect(await expectSame({ path: '/nowhere', headers: BROWSER })).toBe(404)
      expect(await expectSame({ path: '/api/v1/nowhere' })).toBe(404)
      expect(await expectSame({ path: '/docs?utm=1' })).toBe(200)
      expect(await expectSame({ path: '/api/v1/compare?ids=x402.weather' })).toBe(400)
      expect(await expectSame({ path: '/api/v1/search?limit=none' })).toBe(400)
      expect(await expectSame({ path: '/search?q=weather', headers: BROWSER })).toBe(200)
      expect(await expectSame({ path: '/api/v1/sellers/me' })).toBe(401)
    })

    test('a page is Markdown for who asks for it, in folders and out of them', async () => {
      for (const path of [
        '/listing/x402.weather',
        '/category/web_search',
        '/compare/weather-and-tides',
      ]) {
        expect(await expectSame({ path, headers: MARKDOWN })).toBe(200)
        const [theirs] = await both({ path, headers: MARKDOWN })
        expect(theirs?.headers['content-type']).toContain('text/markdown')
        expect(theirs?.vary).toContain('accept')
        expect(await expectSame({ path: `${path}.md` })).toBe(200)
      }
      expect(await expectSame({ path: '/docs', headers: MARKDOWN })).toBe(200)
    })

    test('other protocols', async () => {
      for (const path of ['/mcp', '/a2a', '/v0.1/servers', '/discovery/resources', '/ard/search'])
        await expectSame({ path })
    })

    const FILES_REQUESTED = [
      '/docs',
      '/api/v1/listings/x402.weather',
      '/badge/x402.weather.svg',
      '/badge/x402.weather.json',
    ]

    test('which coding is sent, and how long the answer is', async () => {
      for (const path of FILES_REQUESTED)
        for (const accepted of [
          ...[undefined, 'gzip', 'GZIP', 'deflate, gzip', 'gzip;q=0.5', 'gzip; q=0.001'],
          ...['gzip;q=0', 'gzip;q=0.000', 'identity', 'deflate', 'x-gzip2', 'identity;q=0.5, gzip'],
        ])
          for (const method of METHODS) {
            const headers = accepted === undefined ? {} : { 'accept-encoding': accepted }
            const [theirs, ours] = await both({ path, method, headers })
            expect(theirs?.body, `${method} ${path} for ${accepted}`).toEqual(ours?.body)
          }
    })

    test('a file that did not change is not sent again, however its strong tag is listed', async () => {
      for (const path of FILES_REQUESTED)
        for (const coding of ['gzip', 'identity']) {
          const requested = { path, headers: { 'accept-encoding': coding } }
          const statuses = await Promise.all(
            [nginx.url, waypost.url].map(async (base) => {
              const { etag } = await ask(base, requested)
              expect(etag).toMatch(/^"[\w-]+"$/)
              const tags = [etag, `"other", ${etag}`, `W/${etag}`, '*', '"other"', etag.slice(1)]
              const headers = tags.map((tag) => ({ ...requested.headers, 'if-none-match': tag }))
              return Promise.all(
                headers.map(async (each) => (await ask(base, { path, headers: each })).status),
              )
            }),
          )
          expect(statuses[0], path).toEqual([304, 304, 304, 304, 200, 200])
          expect(statuses[1], path).toEqual(statuses[0])
        }
    })

    test('while releases are switched it answers from one after the other', async () => {
      const outDir = mkdtempSync(join(tmpdir(), 'waypost-switched-'))
      chmodSync(outDir, 0o755)
      const place = (number: number) => {
        const files = ['listing/mcp.harbour/index.html', 'api/v1/listings/mcp.harbour/index.json']
        const edited = files.map((file) => [`public/${file}`, `${number}`])
        copyRelease(outDir, `release-${number}`, Object.fromEntries(edited))
        switchRelease(outDir, `release-${number}`)
      }
      place(0)
      const switched = await startNginx(Number(new URL(waypost.url).port), undefined, outDir)
      const seen: number[] = []
      const headers = { 'accept-encoding': 'identity' }
      let isSwitching = true
      const reading = (async () => {
        for (let read = 0; isSwitching; read += 1) {
          const path = ['/listing/mcp.harbour', '/api/v1/listings/mcp.harbour'][read % 2]
          seen.push(Number(await (await fetch(`${switched.url}${path}`, { headers })).text()))
        }
      })()
      const switches = IS_LONG ? 200 : 5
      for (let number = 1; number <= switches; number += 1) {
        place(number)
        await vi.waitFor(() => expect(seen.at(-1)).toBe(number))
      }
      isSwitching = false
      await reading
      await switched.stop()
      rmSync(outDir, { recursive: true })
      expect(seen).toEqual(seen.toSorted((a, b) => a - b))
    }, 300_000)

    test.skipIf(!hasBrotli)('a Brotli copy goes to who takes one', async () => {
      for (const path of ['/docs', '/api/v1/listings/x402.weather']) {
        const headers = { 'accept-encoding': 'br, gzip' }
        const page = await fetch(`${nginx.url}${path}`, { headers })
        expect(page.headers.get('content-encoding')).toBe('br')
        expect(page.headers.get('vary')?.toLowerCase()).toContain('accept-encoding')
        expect(await page.text()).toBe(await (await fetch(`${waypost.url}${path}`)).text())
        expect(await expectSame({ path, headers })).toBe(200)
      }
    })
  },
)

interface Answered {
  status: number
  headers: Record<string, string | undefined>
  vary: string[]
  etag: string
  body: { coding: string | undefined; length: string | undefined; bytes: number }
}

async function ask(
  base: string,
  { path, method = 'GET', headers: sent = {} }: Requested,
): Promise<Answered> {
  const { status, headers, bytes } = await askRaw(base, { path, method, headers: sent })
  const vary = (headers.vary ?? '').toLowerCase().split(/, */).filter(isOwn).toSorted()
  return {
    status,
    headers: Object.fromEntries(
      COMPARED.map((name) => [name, [headers[name]].flat().join(', ') || undefined]),
    ),
    vary: [...new Set(vary)],
    etag: headers.etag ?? '',
    body: {
      ...{ coding: headers['content-encoding'], bytes: bytes.length },
      length: headers['content-length'],
    },
  }
}

/** nginx names the coding only for files that have a compressed copy and were asked for it. */
function isOwn(name: string): boolean {
  return name !== '' && name !== 'accept-encoding'
}
