import type { Browser } from 'playwright-core'
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

test.each(['/sellers', '/sellers/sign-in?token=abc', '/sellers/dashboard', '/search', '/trust'])(
  'without JavaScript %s offers nothing that needs it, and sends no form into an address',
  async (path) => {
    const { page, close } = await openPage(browser, waypost.url, { javaScriptEnabled: false })
    await page.goto(path)
    const offered = page.locator('.needs-script')
    // The search page works whole without a script: nothing of it needs hiding.
    if (path !== '/search') expect(await offered.count()).toBeGreaterThan(0)
    for (const element of await offered.all()) expect(await element.isVisible()).toBe(false)
    for (const form of await page.locator('form:has(input[type=email], #listing)').all())
      expect(await form.getAttribute('method')).toBe('post')
    await close()
  },
)
