import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type RunningService, startService } from '../support/running-service.ts'
import { launchBrowser, openPage } from './browser.ts'
import { auditPage } from './page-audit.ts'

let waypost: RunningService
let browser: Browser
const stateDir = mkdtempSync(join(tmpdir(), 'waypost-sellers-'))
beforeAll(async () => {
  waypost = await startService({ STATE_DIR: stateDir })
  browser = await launchBrowser()
})
afterAll(async () => {
  await browser?.close()
  await waypost?.close()
  rmSync(stateDir, { recursive: true, force: true })
})

test('a seller signs in by mail, starts a claim, is told what was seen, and signs out', async () => {
  const { page, faults, close } = await openPage(browser, waypost.url)
  await page.goto('/sellers?listing=x402.weather')
  await page.getByLabel('Email address').fill('owner@shop.example')
  await page.getByRole('button', { name: 'Send the link' }).click()
  await page.getByText('A link is on its way to owner@shop.example').waitFor()

  await page.goto(await readSignInPath('owner@shop.example'))
  expect(page.url()).toBe(`${waypost.url}/sellers/sign-in`)
  await page.getByRole('button', { name: 'Sign in now' }).click()
  await page.waitForURL('**/sellers/dashboard')
  await page.getByText('Signed in as owner@shop.example').waitFor()

  expect(await page.getByLabel('Listing id').inputValue()).toBe('x402.weather')
  await page.getByLabel('Proof').selectOption('contact_email')
  await page.getByRole('button', { name: 'Start the claim' }).click()
  const claim = page.locator('.claim')
  await claim.getByRole('listitem').first().waitFor()
  await claim.getByRole('button', { name: 'Check now' }).click()
  await claim.getByText('What we saw:').waitFor()
  expect(await claim.locator('[data-result]').textContent()).toContain('owner@shop.example')
  expect((await auditPage(page)).accessibility).toEqual([])

  await page.reload()
  await claim.getByText('waiting for proof').waitFor()
  await claim.getByRole('button', { name: 'Show the steps' }).click()
  await claim.getByRole('listitem').first().waitFor()

  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.waitForURL('**/sellers')
  expect(faults).toEqual([])
  await page.goto('/sellers/dashboard')
  await page.getByText('You are not signed in.').waitFor()
  await close()
})

test('an owner proves the domain by mail, embeds the badge and can take the listing out', async () => {
  const listing = await (await fetch(`${waypost.url}/api/v1/listings/x402.tide-tables`)).json()
  const domain = new URL(listing.url).hostname.split('.').slice(-2).join('.')
  const { page, faults, close } = await openPage(browser, waypost.url)
  await page.goto('/sellers?listing=x402.tide-tables')
  await page.getByLabel('Email address').fill(`owner@${domain}`)
  await page.getByRole('button', { name: 'Send the link' }).click()
  await page.getByText('A link is on its way').waitFor()
  await page.goto(await readSignInPath(`owner@${domain}`))
  await page.getByRole('button', { name: 'Sign in now' }).click()
  await page.waitForURL('**/sellers/dashboard')
  await page.getByLabel('Proof').selectOption('contact_email')
  await page.getByRole('button', { name: 'Start the claim' }).click()
  const claim = page.locator('.claim')
  await claim.getByRole('button', { name: 'Check now' }).click()
  await claim.getByText('Proven: this listing is yours.').waitFor()
  await claim.getByRole('button', { name: 'Remove this listing' }).waitFor()
  expect(await claim.locator('[data-badge] code').textContent()).toBe(listing.tiers.embed_markdown)

  await claim.getByRole('button', { name: 'Remove this listing' }).click()
  await claim.getByRole('button', { name: 'Yes, remove it' }).click()
  await claim.getByText('It leaves the directory at the next build').waitFor()
  await claim.getByRole('button', { name: 'Bring it back' }).click()
  await claim.getByText('It stays in the directory').waitFor()
  expect((await auditPage(page)).accessibility).toEqual([])
  expect(faults).toEqual([])
  await close()
})

test('a link that is used up says so and offers a new one', async () => {
  const { page, close } = await openPage(browser, waypost.url)
  await page.goto('/sellers/sign-in?token=used-up-long-ago')
  await page.getByRole('button', { name: 'Sign in now' }).click()
  await page.getByRole('link', { name: 'Ask for a new link' }).waitFor()
  expect(page.url()).toBe(`${waypost.url}/sellers/sign-in`)
  await close()
})

/** Path and token of the link mailed to an address; the link's own host is the public one. */
async function readSignInPath(address: string): Promise<string> {
  const outbox = join(stateDir, 'outbox')
  for (let tries = 0; tries < 50; tries++) {
    const mails = listFiles(outbox).map((name) => readFileSync(join(outbox, name), 'utf8'))
    const text = mails.find((mail) => mail.includes(address)) ?? ''
    // Quoted-printable breaks long lines with "=" and writes "=" as "=3D".
    const link = /\/sellers\/sign-in\?token=[\w-]+/.exec(
      text.replace(/=\r?\n/g, '').replaceAll('=3D', '='),
    )
    if (link !== null) return link[0]
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error(`no sign-in mail in ${outbox}`)
}

function listFiles(folder: string): string[] {
  try {
    return readdirSync(folder).sort()
  } catch {
    return []
  }
}
