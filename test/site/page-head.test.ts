import { describe, expect, test } from 'vitest'
import { PAGE_CSP } from '../../src/domain/wire/published-files.ts'
import { serveFixture } from '../support/running-service.ts'

const waypost = serveFixture()

const read = async (path: string) => (await fetch(waypost.url + path)).text()
const PAGES = ['/', '/search', '/listing/x402.weather', '/kind/http_api', '/trust', '/sellers']

describe('every page', () => {
  test.each(PAGES)('%s carries the policy, and nothing the policy would refuse', async (path) => {
    const response = await fetch(waypost.url + path)
    expect(response.headers.get('content-security-policy')).toBe(PAGE_CSP)
    const html = await response.text()
    expect(html).not.toMatch(/<style|\sstyle="|\son[a-z]+="/)
    const scripts = [...html.matchAll(/<script([^>]*)>/g)].map(([, attributes = '']) => attributes)
    for (const attributes of scripts)
      expect(attributes).toMatch(/\ssrc="\/_astro\/|type="application\/ld\+json"/)
  })

  test.each(PAGES)('%s has one title, one description and its canonical address', async (path) => {
    const html = await read(path)
    expect(html.match(/<title>[^<]+<\/title>/g)?.length).toBe(1)
    expect(html.match(/<meta name="description" content="[^"]{20,}"/g)?.length).toBe(1)
    expect(html).toContain(`<link rel="canonical" href="https://waypost.example${path}"`)
    expect(html).not.toMatch(/href="\/[^"#?]*(?:\.html|[^/]\/)"/)
  })
})

describe('the card of a link', () => {
  const metaOf = async (path: string) => {
    const html = await read(path)
    return (name: string) => html.match(`<meta property="${name}" content="([^"]*)"`)?.[1]
  }
  test.each([
    ['/', '/og.png', /^Waypost/],
    ['/kind/mcp_server', '/og/kind/mcp_server.png', /^MCP servers/],
    ['/category/geo_weather', '/og/category/geo_weather.png', /^Maps/],
    ['/listing/x402.weather', '/og/kind/http_api.png', /^HTTP APIs/],
  ])('of %s is a picture as large as the page says', async (path, picture, alt) => {
    const meta = await metaOf(path)
    expect(meta('og:image')).toBe(`https://waypost.example${picture}`)
    expect(meta('og:image:alt')).toMatch(alt)
    const image = await fetch(waypost.url + picture)
    expect(image.headers.get('content-type')).toBe('image/png')
    expect(image.headers.get('cache-control')).toContain('max-age')
    // Width and height stand in the first chunk of a PNG.
    const header = new DataView(await image.arrayBuffer())
    expect([header.getUint32(16), header.getUint32(20)].map(String)).toEqual([
      meta('og:image:width'),
      meta('og:image:height'),
    ])
  })

  test('is the same bytes again, and none where nothing changed', async () => {
    const picture = `${waypost.url}/og/kind/http_api.png`
    const [first, second] = await Promise.all([fetch(picture), fetch(picture)])
    expect(Buffer.from(await first.arrayBuffer())).toEqual(Buffer.from(await second.arrayBuffer()))
    const etag = first.headers.get('etag') ?? ''
    const again = await fetch(picture, { headers: { 'if-none-match': etag } })
    expect([again.status, (await again.arrayBuffer()).byteLength]).toEqual([304, 0])
    const head = await fetch(picture, { method: 'HEAD' })
    expect(head.headers.get('content-length')).toBe(first.headers.get('content-length'))
  })

  test.each([
    ['GET', '/og/x402.weather.png', 404],
    ['GET', '/og/..%2Fsecret.png', 404],
    ['POST', '/og/kind/http_api.png', 405],
  ])('%s %s is %i', async (method, path, status) => {
    expect((await fetch(waypost.url + path, { method })).status).toBe(status)
  })
})

test('the policy allows no inline code and no other host', () => {
  expect(PAGE_CSP).not.toMatch(/unsafe-inline|'unsafe-eval'|https?:|\*/)
})

test.each([
  ['/compare/thin-page', true],
  ['/search?q=weather', true],
  ['/sellers/sign-in', true],
  ['/compare/weather-and-tides', false],
  ['/listing/x402.weather', false],
])('%s is kept from search engines: %s', async (path, isKept) => {
  expect((await read(path)).includes('<meta name="robots" content="noindex">')).toBe(isKept)
})
