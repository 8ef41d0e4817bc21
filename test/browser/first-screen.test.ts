import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Demo, startDemo } from '../support/demo.ts'
import { openPage, PHONE, shareBrowser } from './browser.ts'
import { readOverflow } from './page-audit.ts'

/**
 * What people open a page for is in the first window of it, on a phone and on a small desktop: what it
 * costs, how it is paid, what comes back, whether it can be trusted, and the command that calls it.
 */
const REQUESTED: readonly [path: string, ...texts: string[]][] = [
  ['/', '.task-cards .money'],
  ['/kind/http_api', 'tbody th a'],
  [
    '/listing/x402.brightwell-search',
    ...['Price from', 'Last answered', 'Pays with', 'You get', 'Trust'].map(
      (label) => `.strip dt:text-is("${label}")`,
    ),
    '.listing-meta a[href^="/go/"]',
  ],
  ['/listing/x402.northlight-llm', '.strip dt:text-is("Pays with")', '.connect code'],
  ['/listing/mcp.spreadsheets', '.strip dt:text-is("You get")', '.connect code'],
]
const WINDOWS = [PHONE, { width: 1280, height: 800 }]

let demo: Demo
let browser: Browser
beforeAll(async () => {
  demo = await startDemo()
  browser = await shareBrowser()
})
afterAll(async () => {
  await demo?.close()
})

test.each(WINDOWS)(
  'what people ask is answered in a first window of $width pixels',
  async (size) => {
    const { page, close } = await openPage(browser, demo.url, { viewport: size })
    const below: string[] = []
    for (const [path, ...texts] of REQUESTED) {
      await page.goto(path)
      for (const text of texts) {
        const box = await page.locator(`${text}:visible`).first().boundingBox({ timeout: 5_000 })
        if (box === null || box.y + Math.min(box.height, LINE) > size.height)
          below.push(`${path} ${text}: ${box?.y ?? 'not there'}`)
      }
    }
    expect(below).toEqual([])
    // Its host is longer than a phone is wide.
    await page.goto('/listing/x402.pneumonoultramicroscopic')
    expect(await readOverflow(page)).toBe(0)
    await close()
  },
)

test('the form of a seller of a task opens under its row, as wide as the row', async () => {
  const { page, close } = await openPage(browser, demo.url, { viewport: PHONE })
  await page.route('**/api/v1/call/**', (route) => route.fulfill({ status: 402, body: '{}' }))
  await page.goto('/tasks/web_search')
  const row = page.locator('.offer').filter({ hasText: 'Brightwell' })
  const link = row.getByRole('link')
  const before = await link.boundingBox()
  await row.getByRole('button', { name: 'Ask the price' }).click()
  await row.locator('form.try').waitFor()
  expect((await link.boundingBox())?.x).toBe(before?.x)
  expect((await row.locator('form.try').boundingBox())?.width).toBeGreaterThan(PHONE.width / 2)
  await close()
})

/** Of what is taller, its first line must be seen (pixels). */
const LINE = 40
