import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type RunningService, startService } from '../support/running-service.ts'
import { launchBrowser, openPage } from './browser.ts'

let waypost: RunningService
let browser: Browser
beforeAll(async () => {
  waypost = await startService()
  browser = await launchBrowser()
})
afterAll(async () => {
  await browser?.close()
  await waypost?.close()
})

const namesOn = (page: Page) => page.locator('[data-results] .item-name').allTextContents()
const statusOn = (page: Page) => page.locator('[data-status]')

/** The pages of the server's answer go away when the index in the browser answers. */
const answeredInBrowser = (page: Page) =>
  page.locator('[data-pager]').waitFor({ state: 'detached' })

test('the key / goes to the search box, and results come while typing', async () => {
  const { page, faults, close } = await openPage(browser, waypost.url)
  await page.goto('/search')
  await page.keyboard.press('/')
  await page.keyboard.type('tide tables')
  await page.waitForURL(/q=tide\+tables/)
  await answeredInBrowser(page)
  await page.locator('[data-results] .item-name', { hasText: 'Tide' }).first().waitFor()
  expect(await statusOn(page).textContent()).toMatch(/^\d+ results?$/)
  expect((await namesOn(page))[0]).toContain('Tide')
  expect(faults).toEqual([])
  await close()
})

test('filters narrow the results, count what is left and stand in the address', async () => {
  const { page, close } = await openPage(browser, waypost.url)
  await page.goto('/search')
  await page.getByLabel('Kind').selectOption('mcp_server')
  await page.waitForURL('**/search?kind=mcp_server')
  await page
    .getByLabel('Payment rail')
    .locator('option', { hasText: '(0)' })
    .first()
    .waitFor({ state: 'attached' })
  const servers = await namesOn(page)
  const answer = await (await fetch(`${waypost.url}/api/v1/search?kind=mcp_server`)).json()
  expect(servers.toSorted()).toEqual(
    answer.results.map(({ name }: { name: string }) => name).toSorted(),
  )
  // A filter's own counts say what another choice would give.
  expect(
    await page.getByLabel('Kind').locator('option[value=http_api]').textContent(),
  ).not.toContain('(0)')
  await close()
})

test('arrow keys walk through the results and Enter opens one', async () => {
  const { page, close } = await openPage(browser, waypost.url)
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

test('first-party kits never stand among the results', async () => {
  const { page, close } = await openPage(browser, waypost.url)
  await page.goto('/search')
  await page.locator('[data-search]').fill('waypost steps')
  await page.waitForURL(/q=waypost/)
  await answeredInBrowser(page)
  const kits = await page.locator('[data-results] .id', { hasText: /^kit\./ }).count()
  expect(kits).toBe(0)
  await close()
})

test('a filter the index in the browser does not know is answered by the server', async () => {
  const { page, close } = await openPage(browser, waypost.url)
  await page.goto('/search?max_price_usd=0.05')
  expect(await page.getByLabel('Price per call').inputValue()).toBe('0.05')
  await page.getByLabel('Payment rail').selectOption('x402')
  await page.waitForURL(/max_price_usd=0.05&/)
  const answer = await (
    await fetch(`${waypost.url}/api/v1/search?max_price_usd=0.05&rail=x402`)
  ).json()
  expect(await statusOn(page).textContent()).toContain(`${answer.total} result`)
  await close()
})

test('without JavaScript the form answers as the API does, and says what it refuses', async () => {
  const { page, close } = await openPage(browser, waypost.url, { javaScriptEnabled: false })
  await page.goto('/search')
  await page.locator('[data-search]').fill('weather')
  await page.getByLabel('Kind').selectOption('http_api')
  await page.getByRole('button', { name: 'Apply' }).click()
  const answer = await (
    await fetch(`${waypost.url}/api/v1/search?q=weather&kind=http_api&limit=20`)
  ).json()
  expect(await namesOn(page)).toEqual(answer.results.map(({ name }: { name: string }) => name))
  const refused = await page.goto('/search?kind=banana')
  expect(refused?.status()).toBe(400)
  expect(await page.locator('[data-notice]').textContent()).toContain('kind')
  await close()
})

test('a slip is said and put right by the server, and typing leads there', async () => {
  const { page, faults, close } = await openPage(browser, waypost.url)
  await page.goto('/search')
  await page.locator('[data-search]').fill('tbales')
  await page.locator('[data-status]', { hasText: 'Nothing matches as typed' }).waitFor()
  await page.locator('[data-search]').press('Enter')
  await page.getByText('Showing results for “tables”.').waitFor()
  expect((await namesOn(page))[0]).toContain('Tide')
  expect(faults).toEqual([])
  await close()
})
