import { expect, test } from 'vitest'
import { serveFixture } from '../support/running-service.ts'

const waypost = serveFixture()

const BASE = 'https://waypost.example'
const read = async (path: string) => (await fetch(waypost.url + path)).text()

test('the Atom feed lists outside listings newest first, markup escaped', async () => {
  const response = await fetch(`${waypost.url}/feed.atom`)
  expect(response.headers.get('content-type')).toBe('application/atom+xml')
  const xml = await response.text()
  const dates = [...xml.matchAll(/<entry>[\s\S]*?<updated>([^<]+)/g)].map(([, date]) => date)
  expect(dates.length).toBeGreaterThan(5)
  expect(dates).toEqual(dates.toSorted().reverse())
  expect(xml).toContain(`${BASE}/listing/api.hostile-text`)
  expect(xml).not.toContain('/listing/kit.')
  expect(xml).not.toMatch(/<(?:script|img|b|i)\b/)
  expect(xml).not.toMatch(/&(?!(?:amp|lt|gt|quot|#39);)/)
})

test('the JSON feed has the same entries', async () => {
  const feed = JSON.parse(await read('/feed.json'))
  const atom = await read('/feed.atom')
  expect(feed.version).toBe('https://jsonfeed.org/version/1.1')
  expect(feed.items.length).toBe(atom.match(/<entry>/g)?.length)
  for (const { url } of feed.items) expect(atom).toContain(url)
})

test('the sitemap leads to every page, and every address in it answers', async () => {
  const index = await read('/sitemap.xml')
  const shards = addressesOf(index)
  expect(shards).toEqual([`${BASE}/sitemap/1.xml`])
  const pages = (
    await Promise.all(shards.map(async (url) => addressesOf(await read(url.replace(BASE, '')))))
  ).flat()
  expect(pages).toContain(`${BASE}/listing/x402.weather`)
  expect(pages).toContain(`${BASE}/compare/weather-and-tides`)
  expect(await read('/sitemap/1.xml')).toMatch(
    /<loc>[^<]*\/listing\/x402\.weather<\/loc><lastmod>\d{4}-\d\d-\d\d<\/lastmod>/,
  )
  // Thin pages are not offered.
  expect(pages).not.toContain(`${BASE}/compare/thin-page`)
  for (const page of pages) {
    const response = await fetch(page.replace(BASE, waypost.url), { redirect: 'manual' })
    expect([page, response.status]).toEqual([page, 200])
    expect(await response.text()).toContain(`<link rel="canonical" href="${page}"`)
  }
})

test('robots and OpenSearch name our own addresses', async () => {
  expect(await read('/robots.txt')).toContain(`Sitemap: ${BASE}/sitemap.xml`)
  expect(await read('/opensearch.xml')).toContain(`template="${BASE}/search?q={searchTerms}"`)
})

function addressesOf(xml: string): string[] {
  return [...xml.matchAll(/<loc>([^<]+)<\/loc>/g)].map(([, url = '']) => url)
}
