import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type RunningService, startService } from '../support/running-service.ts'
import { DESKTOP, launchBrowser, openPage, PHONE, type WatchedPage } from './browser.ts'
import { auditPage } from './page-audit.ts'

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

const PAGES = [
  '/',
  '/search',
  '/search?q=weather&kind=http_api',
  '/listing/x402.weather',
  '/listing/mcp.harbour',
  '/listing/api.hostile-text',
  '/kind/http_api',
  '/category/geo_weather',
  '/compare',
  '/compare/weather-and-tides',
  '/compare/thin-page',
  '/badges',
  '/trust',
  '/docs',
  '/sources',
  '/roadmap',
  '/business-model',
  '/privacy',
  '/problems',
  '/problems/rate-limited',
  '/sellers',
  '/sellers/sign-in?token=abc',
]

describe.each([
  ['a phone in the dark', { viewport: PHONE, colorScheme: 'dark' }],
  ['a desktop in the light', { viewport: DESKTOP, colorScheme: 'light' }],
] as const)('on %s', (_, options) => {
  let watched: WatchedPage
  beforeAll(async () => {
    watched = await openPage(browser, waypost.url, options)
  })
  afterAll(() => watched?.close())

  test.each(PAGES)(
    '%s is accessible, fits, stands still and needs nothing from elsewhere',
    async (path) => {
      const { page, faults } = watched
      faults.length = 0
      const response = await page.goto(path, { waitUntil: 'load' })
      expect(response?.status()).toBe(200)
      expect(await auditPage(page)).toEqual({
        accessibility: [],
        overflow: 0,
        layoutShift: 0,
        headings: 1,
      })
      expect(faults).toEqual([])
    },
  )
})

test('a page that does not exist says so in HTML', async () => {
  const { page, close } = await openPage(browser, waypost.url)
  const response = await page.goto('/nothing-here')
  expect(response?.status()).toBe(404)
  expect(await page.textContent('h1')).toBe('Nothing here')
  expect((await auditPage(page)).accessibility).toEqual([])
  await close()
})

test('every page says the same without JavaScript, and offers nothing that needs it', async () => {
  const { page, close } = await openPage(browser, waypost.url, { javaScriptEnabled: false })
  for (const path of PAGES.filter((page) => !page.startsWith('/sellers'))) {
    await page.goto(path)
    expect((await page.textContent('h1'))?.trim(), path).toBeTruthy()
    expect(await page.locator('main').textContent(), path).not.toContain('need JavaScript')
    expect(await page.locator('[data-copy]:visible').count(), path).toBe(0)
  }
  await close()
})
