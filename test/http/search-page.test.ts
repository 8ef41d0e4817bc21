import { expect, test } from 'vitest'
import { serveFixture } from '../support/running-service.ts'

const waypost = serveFixture()

/** Pages of the listings found, in order, as the page links them. */
async function onThePage(query: string): Promise<string[]> {
  const html = await (await fetch(`${waypost.url}/search?${query}`)).text()
  const links = [...html.matchAll(/<a[^>]*class="[^"]*\bname-link\b[^>]*>/g)]
  return links.map(([tag]) => /href="([^"]+)"/.exec(tag)?.[1] ?? '').filter((path) => path !== '')
}

async function inTheApi(query: string): Promise<string[]> {
  const response = await fetch(`${waypost.url}/api/v1/search?${query}`)
  const { results }: { results: { links: { page: string } }[] } = await response.json()
  return results.map(({ links }) => new URL(links.page, waypost.url).pathname)
}

test.each([
  ['runs=remote&q=notes', 'runs=remote&q=notes'],
  ['runs=remote', 'runs=remote'],
  ['runs=local', 'runs=local'],
])('the page finds with %s what the API finds with %s', async (page, api) => {
  const found = await inTheApi(api)
  expect(await onThePage(page)).toEqual(found)
  expect(found).not.toEqual(await inTheApi(page.replace(/runs=\w+/, '')))
})
