import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PAGE_CSP } from '../../src/domain/wire/site-headers.ts'
import { type RunningService, startService } from '../support/running-service.ts'

let waypost: RunningService
beforeAll(async () => {
  waypost = await startService()
})
afterAll(() => waypost?.close())

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

test('the sharing image is there, as large as the page says', async () => {
  const html = await read('/listing/x402.weather')
  const meta = (name: string) => html.match(`<meta property="${name}" content="([^"]*)"`)?.[1]
  expect(meta('og:image')).toBe('https://waypost.example/og.png')
  const image = await fetch(`${waypost.url}/og.png`)
  expect(image.headers.get('content-type')).toBe('image/png')
  // Width and height stand in the first chunk of a PNG.
  const header = new DataView(await image.arrayBuffer())
  expect([header.getUint32(16), header.getUint32(20)].map(String)).toEqual([
    meta('og:image:width'),
    meta('og:image:height'),
  ])
  expect(meta('og:image:alt')).toMatch(/^Waypost/)
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

test('a paid listing has its price in the structured data', async () => {
  const html = await read('/listing/x402.weather')
  const [, json = ''] = /<script type="application\/ld\+json">([^<]*)</.exec(html) ?? []
  expect(JSON.parse(json)).toMatchObject({
    '@type': 'WebAPI',
    offers: { priceCurrency: 'USD', lowPrice: 0.01, highPrice: 0.05 },
  })
})
