import { expect, test } from 'vitest'
import { scoreTrust } from '../../src/domain/trust/trust.ts'
import { serveFixture } from '../support/running-service.ts'
import { openPage } from './browser.ts'

const waypost = serveFixture()

test('foreign markup is text on the page and in its structured data', async () => {
  const listing = await (await fetch(`${waypost.url}/api/v1/listings/api.hostile-text`)).json()
  const { page, faults, close } = await openPage(waypost.url)
  await page.goto('/listing/api.hostile-text')
  expect(await page.textContent('h1')).toBe(listing.name)
  expect(await page.textContent('.listing-head .lede')).toBe(listing.summary)
  const data = await page.textContent('script[type="application/ld+json"]')
  expect(JSON.parse(data ?? '')).toMatchObject({
    name: listing.name,
    description: listing.summary,
  })
  expect(
    await page.locator('main script:not([src^="/_astro/"]), main iframe, main [onerror]').count(),
  ).toBe(0)
  expect(faults).toEqual([])
  await close()
})

test('a button copies the snippet it stands beside', async () => {
  const { page, close } = await openPage(waypost.url, {
    permissions: ['clipboard-read', 'clipboard-write'],
  })
  await page.goto('/listing/x402.weather')
  const block = page.locator('.connect .copy').first()
  const code = await block.locator('code').textContent()
  // The word stands for a moment only: it is caught as it comes.
  const stated = page.evaluate(() => {
    const button = document.querySelector('.connect [data-copy]')
    const { promise, resolve } = Promise.withResolvers<string | undefined>()
    const watch = new MutationObserver(() => resolve(button?.textContent))
    if (button !== null) watch.observe(button, { childList: true })
    return promise
  })
  await block.locator('[data-copy]').click()
  expect(await stated).toBe('Copied')
  const read = () => page.evaluate(() => navigator.clipboard.readText())
  expect(await read()).toBe(code)
  // The one above the facts copies the way that is chosen.
  await page.getByText('Python', { exact: true }).click()
  await page.getByRole('button', { name: 'Copy the call' }).click()
  await expect.poll(read).toBe(await page.locator('.connect .copy:visible code').textContent())
  await close()
})

test('why a score is what it is: the parts add up', async () => {
  const { trust } = await (await fetch(`${waypost.url}/api/v1/listings/x402.weather`)).json()
  const { page, close } = await openPage(waypost.url)
  await page.goto('/listing/x402.weather')
  const panel = page.getByRole('region', { name: `Why ${trust.score}` })
  const parts = await panel.locator('dd').allTextContents()
  const sum = parts.reduce((all, text) => all + Number(text.replace('−', '-')), 0)
  expect(parts.length).toBe(6)
  expect(sum).toBeCloseTo(trust.score, 5)
  const seen = page.getByRole('region', { name: 'What we saw' })
  expect(await seen.textContent()).toMatch(
    new RegExp(`(?:Counted|Verified) buyers\\s*${trust.verified_buyers_30d}`),
  )
  await close()
})

test('the tab somebody chose is the one they find on the next listing', async () => {
  const { page, close } = await openPage(waypost.url)
  await page.goto('/listing/x402.weather')
  await page.getByText('Python', { exact: true }).click()
  await page.goto('/listing/x402.tide-tables')
  expect(await page.getByLabel('Python', { exact: true }).isChecked()).toBe(true)
  expect(await page.locator('.connect .copy:visible').count()).toBe(1)
  await close()
})

test('a list of a kind is offered in other orders, all of it, without JavaScript', async () => {
  const { page, close } = await openPage(waypost.url, { javaScriptEnabled: false })
  await page.goto('/kind/http_api')
  const orders = page.getByRole('navigation', { name: 'Sort by' }).getByRole('link')
  expect(await orders.allTextContents()).toEqual(['Usual order', 'Price', 'Most paid', 'Newest'])
  await orders.filter({ hasText: 'Newest' }).click()
  await page.waitForURL('**/search?kind=http_api&sort=newest')
  expect(await page.locator('[data-sorts] [aria-current]').textContent()).toBe('Newest')
  expect(await page.locator('[data-results] .item').count()).toBeGreaterThan(2)
  await close()
})

test('the calculator gives the score the method gives', async () => {
  const { page, close } = await openPage(waypost.url)
  // Opens what is folded.
  await page.goto('/trust#calculator')
  await page.getByLabel('Verified buyers').fill('55')
  await page.getByLabel('Largest buyer, %').fill('10')
  const score = scoreTrust({
    buyers: 55,
    settlements: 340,
    volumeUsd: 12.5,
    topBuyerShare: 0.1,
    daysSinceLast: 1,
    sharers: 1,
  })
  expect(await page.locator('output').textContent()).toBe(String(score))
  await page.getByLabel('Verified buyers').fill('0')
  expect(await page.locator('output').textContent()).toBe('none')
  await close()
})
