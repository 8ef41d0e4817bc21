import { expect, test } from 'vitest'
import { serveFixture } from '../support/running-service.ts'

const waypost = serveFixture()

const BASE_URL = 'https://waypost.example'
/** More than the fixture has; a loop of links ends here. */
const MAX_PAGES = 500

/** Addresses of our own that a page links to, without fragments. */
function linksOf(html: string): string[] {
  const found = [...html.matchAll(/\s(?:href|src|action)="([^"]+)"/g)].map(([, link = '']) =>
    link.replaceAll('&amp;', '&'),
  )
  return found
    .map((link) => link.replace(BASE_URL, ''))
    .filter((link) => link.startsWith('/') && !link.startsWith('//'))
    .map((link) => link.replace(/#.*$/, ''))
}

test('every link from every page of our own leads somewhere, without a redirect', async () => {
  const seen = new Set(['/'])
  const queue = ['/']
  const broken: string[] = []
  for (
    let path = queue.shift();
    path !== undefined && seen.size < MAX_PAGES;
    path = queue.shift()
  ) {
    const response = await fetch(waypost.url + path, { redirect: 'manual' })
    const isClick = path.startsWith('/go/')
    if (response.status !== (isClick ? 302 : 200)) broken.push(`${path} → ${response.status}`)
    if (!response.headers.get('content-type')?.startsWith('text/html')) continue
    // A search page links to searches with one more or one less of its filters, without end.
    if (path.startsWith('/search?')) continue
    for (const link of linksOf(await response.text())) {
      if (seen.has(link)) continue
      seen.add(link)
      queue.push(link)
    }
  }
  expect(broken).toEqual([])
  expect(seen.size).toBeGreaterThan(50)
  expect(seen.size).toBeLessThan(MAX_PAGES)
})

test('every link a search result hands out is answered', async () => {
  const { results } = await (await fetch(`${waypost.url}/api/v1/search?limit=50`)).json()
  for (const { links } of results)
    for (const [name, path] of Object.entries<string>(links)) {
      const response = await fetch(`${waypost.url}${path}${name === 'call' ? '?relay_info' : ''}`, {
        redirect: 'manual',
      })
      expect([path, response.status]).toEqual([path, name === 'go' ? 302 : 200])
    }
})
