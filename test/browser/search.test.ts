import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { longTest } from '../support/long.ts'
import { serveFixture } from '../support/running-service.ts'
import { openPage } from './browser.ts'

const waypost = serveFixture()

const namesOn = (page: Page) => page.locator('[data-results] .name-link').allTextContents()
const statusOn = (page: Page) => page.locator('[data-status]')

interface Answer {
  total: number
  notes: string[]
  results: { id: string; name: string }[]
}
async function ask(query: string): Promise<Answer> {
  return (await fetch(`${waypost.url}/api/v1/search?${query}`)).json()
}
const toNames = ({ results }: Answer) => results.map(({ name }) => name)

test('the key / goes to the box, and typing shows what submitting would', async () => {
  const { page, faults, close } = await openPage(waypost.url)
  const requested: { url: string; typing: string | undefined }[] = []
  page.on('request', (request) => {
    if (request.resourceType() === 'fetch' && request.url().includes('/search?'))
      requested.push({ url: request.url(), typing: request.headers()['search-typing'] })
  })
  await page.goto('/search')
  await page.keyboard.press('/')
  await page.keyboard.type('tide tables')
  await page.waitForURL(/q=tide\+tables/)
  const typed = { names: await namesOn(page), status: await statusOn(page).textContent() }
  expect(typed.names[0]).toContain('Tide')
  expect(await page.evaluate(() => document.activeElement?.matches('[data-search]'))).toBe(true)
  expect(await page.locator('[data-search]').inputValue()).toBe('tide tables')
  expect(new Set(requested.map(({ typing }) => typing))).toEqual(new Set(['1']))
  await Promise.all([page.waitForEvent('load'), page.keyboard.press('Enter')])
  expect({ names: await namesOn(page), status: await statusOn(page).textContent() }).toEqual(typed)
  expect(faults).toEqual([])
  await close()
})

test('a filter stays while typing, is a chip, counts its values and can be taken away', async () => {
  const { page, close } = await openPage(waypost.url)
  await page.goto('/search?max_price_usd=0.05&has=x402_manifest')
  await page.locator('[data-search]').pressSequentially('ports')
  await page.waitForURL(/q=ports/)
  const answer = await ask('q=ports&max_price_usd=0.05&has=x402_manifest')
  expect(await namesOn(page)).toEqual(toNames(answer))
  expect(page.url()).toContain('max_price_usd=0.05')
  const chips = page.locator('[data-chips] bdi')
  expect(await chips.allTextContents()).toEqual(['up to $0.05', 'has x402 manifest'])
  const kind = page.locator('[data-facets] a', { hasText: 'HTTP API' })
  expect(await kind.locator('span').textContent()).toBe(String(answer.total))
  await page.locator('[data-chips] a').first().click()
  await page.waitForURL((url) => !url.search.includes('max_price_usd'))
  expect(await page.locator('[data-search]').inputValue()).toBe('ports')
  await close()
})

longTest('sorting orders the whole result and stands in the address', async () => {
  const { page, close } = await openPage(waypost.url)
  await page.goto('/search')
  await page.getByRole('navigation', { name: 'Sort by' }).getByText('Price').click()
  await page.waitForURL('**/search?sort=price')
  expect(await namesOn(page)).toEqual(toNames(await ask('sort=price&limit=20')))
  await close()
})

test('arrow keys walk through the results and Enter opens one', async () => {
  const { page, close } = await openPage(waypost.url)
  await page.goto('/search')
  const [first = '', second = ''] = await namesOn(page)
  await page.locator('[data-search]').focus()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('ArrowDown')
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe(second)
  await page.keyboard.press('ArrowUp')
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe(first)
  await page.keyboard.press('Enter')
  await page.waitForURL('**/listing/*')
  expect(await page.textContent('h1')).toBe(first)
  await close()
})

test('foreign names and first-party kits: text is text, and kits never stand among the results', async () => {
  const { page, faults, close } = await openPage(waypost.url)
  await page.goto('/search')
  await page.locator('[data-search]').fill('quotes tags')
  await page.waitForURL(/q=quotes/)
  expect((await namesOn(page))[0]).toContain('<b>')
  await page.locator('[data-search]').fill('first steps')
  await page.waitForURL(/q=first/)
  const links = await page.locator('[data-results] .name-link').all()
  const paths = await Promise.all(links.map((link) => link.getAttribute('href')))
  expect(paths.filter((path) => path?.includes('/kit.'))).toEqual([])
  const own = page.locator('[data-own]')
  const typed = { isShown: await own.isVisible(), rows: await own.locator('li').allTextContents() }
  expect(typed.isShown).toBe(true)
  expect(await own.locator('a').first().getAttribute('href')).toBe('/listing/kit.first-steps')
  await Promise.all([page.waitForEvent('load'), page.keyboard.press('Enter')])
  expect({
    isShown: await own.isVisible(),
    rows: await own.locator('li').allTextContents(),
  }).toEqual(typed)
  await page.locator('[data-search]').fill('zzzz')
  await page.waitForURL(/q=zzzz/)
  expect(await own.isVisible()).toBe(false)
  expect(faults).toEqual([])
  await close()
})

longTest(
  'without JavaScript the form answers as the API does, and says what it refuses',
  async () => {
    const { page, close } = await openPage(waypost.url, { javaScriptEnabled: false })
    await page.goto('/search?kind=http_api')
    await page.locator('[data-search]').fill('weather')
    await page.getByRole('button', { name: 'Search' }).click()
    expect(page.url()).toContain('kind=http_api')
    expect(await namesOn(page)).toEqual(toNames(await ask('q=weather&kind=http_api&limit=20')))
    const refused = await page.goto('/search?kind=banana')
    expect(refused?.status()).toBe(400)
    expect(await page.locator('[data-notes]').textContent()).toContain('kind')
    await page.goto('/search?offset=9999')
    expect(await statusOn(page).textContent()).toContain('none from 10000 on')
    expect(await page.locator('[data-empty]').textContent()).toContain('past the last result')
    await page.getByRole('link', { name: 'Previous' }).click()
    expect((await namesOn(page)).length).toBeGreaterThan(0)
    await close()
  },
)

longTest('a slip is put right and said while typing too', async () => {
  const { page, faults, close } = await openPage(waypost.url)
  await page.goto('/search')
  await page.locator('[data-search]').fill('tbales')
  await page.getByText('Showing results for “tables”.').waitFor()
  expect((await namesOn(page))[0]).toContain('Tide')
  expect(faults).toEqual([])
  await close()
})

test('what is ticked stays ticked through other searches and pages, and is compared', async () => {
  const { page, faults, close } = await openPage(waypost.url)
  const tray = page.locator('[data-tray]')
  await page.goto('/search')
  expect(await tray.isVisible()).toBe(false)
  const [first = '', second = ''] = await namesOn(page)
  await page.getByLabel(`Compare ${first}`).check()
  await page.locator('[data-search]').fill('zzzz')
  await page.waitForURL(/q=zzzz/)
  await page.goto('/search')
  expect(await page.getByLabel(`Compare ${first}`).isChecked()).toBe(true)
  await page.getByLabel(`Compare ${second}`).check()
  await tray.getByRole('button', { name: 'Compare (2)' }).click()
  await page.waitForURL('**/compare?ids=*,*')
  expect(await page.locator('.versus-table thead a').allTextContents()).toEqual([first, second])
  await page.getByLabel('Only differences').check()
  expect(await page.locator('tr:not(.differs):visible th[scope="row"]').count()).toBe(1)
  expect(faults).toEqual([])
  await close()
})

longTest('without JavaScript the boxes and the bar are a plain form', async () => {
  const { page, close } = await openPage(waypost.url, { javaScriptEnabled: false })
  await page.goto('/kind/http_api')
  await page.locator('[name="ids"]').nth(0).check()
  await page.locator('[name="ids"]').nth(1).check()
  await page.locator('[data-tray-go]').click()
  await page.waitForURL('**/compare?ids=*&ids=*')
  expect(await page.locator('.versus-table thead a').count()).toBe(2)
  await close()
})
