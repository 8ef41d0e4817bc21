import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { divideByIndex, indexPages, toSearchPage } from '../../src/build/page-search.ts'
import type { ListingView } from '../../src/domain/views/listing-view.ts'
import { FIXTURE_ENV } from '../support/fixture-env.ts'
import { longTest } from '../support/long.ts'
import { serveFixture } from '../support/running-service.ts'
import { startStaticHost } from '../support/static-host.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { openPage } from './browser.ts'
import { auditPage } from './page-audit.ts'

const waypost = serveFixture()
let files: Awaited<ReturnType<typeof startStaticHost>>
beforeAll(async () => {
  files = await startStaticHost()
})
afterAll(() => files?.close())

test('the home page shows the first results while somebody types, in the order of all', async () => {
  const { page, faults, close } = await openPage(waypost.url)
  const requested: (string | undefined)[] = []
  page.on('request', (request) => {
    if (request.resourceType() === 'fetch' && request.url().includes('/search?'))
      requested.push(request.headers()['search-typing'])
  })
  await page.goto('/')
  const suggest = page.locator('[data-suggest]')
  expect(await suggest.isVisible()).toBe(false)
  await page.keyboard.press('/')
  await page.keyboard.type('weather')
  // Whoever types slowly is shown the rows of the letters so far, too.
  await suggest.locator('[data-all][href$="q=weather"]').waitFor()
  const names = await suggest.locator('.name-link').allTextContents()
  expect(await page.evaluate(() => document.activeElement?.matches('[data-search]'))).toBe(true)
  await page.keyboard.press('Escape')
  expect(await suggest.isVisible()).toBe(false)
  await Promise.all([page.waitForURL('**/search?q=weather'), page.keyboard.press('Enter')])
  const all = await page.locator('[data-results] .name-link').allTextContents()
  expect(names).toEqual(all.slice(0, 6))
  expect(new Set(requested)).toEqual(new Set(['1']))
  expect(faults).toEqual([])
  await close()
})

test('of two answers the later question wins, however late the earlier one is answered', async () => {
  const { page, close } = await openPage(waypost.url)
  await page.goto('/search')
  const shownLater = Promise.withResolvers<void>()
  const release = Promise.withResolvers<void>()
  await page.route('**/search?*', async (route) => {
    const isEarlier = /q=tide(?:&|$)/.test(route.request().url())
    if (isEarlier) await shownLater.promise
    await route.continue().catch(() => undefined)
    if (isEarlier) release.resolve()
  })
  const box = page.locator('[data-search]')
  const isRequested = page.waitForRequest(/q=tide/)
  await box.fill('tide')
  await isRequested
  await box.fill('weather')
  await page.waitForURL(/q=weather/)
  const shown = () => page.locator('[data-results] .name-link').allTextContents()
  const names = await shown()
  shownLater.resolve()
  await release.promise
  await page.waitForTimeout(300)
  expect(await shown()).toEqual(names)
  await close()
})

test('a refusal is said in words, and what was found before stays', async () => {
  const { page, close } = await openPage(waypost.url)
  await page.goto('/search?min_trust=200')
  await page.locator('[data-search]').fill('weather')
  await page.locator('[data-notes]', { hasText: 'min_trust' }).waitFor()
  expect(await page.locator('[data-search]').inputValue()).toBe('weather')
  await close()
})

test('where no function stands, the index in the browser answers and says so', async () => {
  const { page, close } = await openPage(files.url)
  const loaded: string[] = []
  page.on('request', (request) => loaded.push(new URL(request.url()).pathname))
  await page.goto('/')
  await page.locator('[data-search]').fill('weather')
  expect(loaded.filter((path) => path.startsWith('/pagefind'))).toEqual([])
  await Promise.all([page.waitForURL('**/search?q=weather'), page.keyboard.press('Enter')])
  const found = page.locator('[data-index] .pagefind-ui__result-link')
  await found.first().waitFor()
  expect(await page.locator('.task-line a').getAttribute('href')).toBe('/tasks/weather')
  expect(await found.first().getAttribute('href')).toMatch(/^\/listing\//)
  await page.locator('[data-index]', { hasText: 'HTTP API' }).waitFor()
  expect((await auditPage(page)).accessibility).toEqual([])
  await page.goto('/search?q=weather&kind=http_api')
  await found.first().waitFor()
  expect(
    await page
      .locator('[data-index] label', { hasText: 'HTTP API' })
      .locator('..')
      .locator(':checked')
      .count(),
  ).toBe(1)
  await page.goto('/compare?ids=x402.weather,mcp.tenki')
  expect(await page.locator('[data-no-function]').isVisible()).toBe(true)
  await close()
})

longTest('several indexes answer as one', async () => {
  const pagefind = tempFolder('indexes')
  const listings = readListingViews()
  const pages = listings.map((listing) => ({
    id: listing.view.id,
    row: Buffer.from(JSON.stringify(toSearchPage(listing))),
  }))
  const indexes = divideByIndex(pages, Math.ceil(listings.length / 3))
  expect(indexes.filter((rows) => rows.length > 0)).toHaveLength(3)
  for (const [place, group] of indexes.entries()) {
    const rows = group.map(({ row }) => row)
    for (const { path, content } of await indexPages(rows, place === 0)) {
      const to = join(pagefind, 'pagefind', String(place), path)
      mkdirSync(dirname(to), { recursive: true })
      writeFileSync(to, content)
    }
  }
  writeFileSync(join(pagefind, 'pagefind/indexes.json'), '{"count":3}')
  const several = await startStaticHost(pagefind)
  const { page, close } = await openPage(several.url)
  const messageOf = async (query: string) => {
    await page.goto(`/search?q=${query}`)
    const message = page.locator('.pagefind-ui__message', { hasText: /\d+ result/ })
    return Number.parseInt((await message.textContent()) ?? '', 10)
  }
  const holding = listings.filter(({ view }) =>
    JSON.stringify([view.name, view.summary, view.tags]).toLowerCase().includes('weather'),
  )
  expect(await messageOf('weather')).toBeGreaterThanOrEqual(holding.length)
  await close()
  await several.close()
})

/** What the release says of each listing, as far as an index of them is made of it. */
function readListingViews(): { view: ListingView; description_html: string }[] {
  const folder = join(FIXTURE_ENV.OUT_DIR, 'current/public/api/v1/listings')
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => {
      const view: ListingView = JSON.parse(readFileSync(join(folder, name, 'index.json'), 'utf8'))
      return { view, description_html: '' }
    })
}
