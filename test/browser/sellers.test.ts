import { join } from 'node:path'
import type { Locator, Page } from 'playwright-core'
import type { Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import { toBadgeEmbeds } from '../../src/components/sellers/owner-words.ts'
import { readSignInPath } from '../support/demo.ts'
import { IS_LONG, longTest } from '../support/long.ts'
import { serveFixture } from '../support/running-service.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { openPage } from './browser.ts'
import { auditPage } from './page-audit.ts'

const stateDir = tempFolder('sellers')
const waypost = serveFixture({ STATE_DIR: stateDir })

async function signIn(page: Page, listing: string, email: string): Promise<void> {
  await page.goto(`/sellers/dashboard?listing=${listing}`)
  await page.getByLabel('Email address').fill(email)
  await page.getByRole('button', { name: 'Send the link' }).click()
  await page.getByText(`A link is on its way to ${email}`).waitFor()
  await page.goto(await readSignInPath(join(stateDir, 'outbox'), email))
  await page.getByRole('button', { name: 'Sign in now' }).click()
  await page.waitForURL(`**/sellers/dashboard?listing=${listing}#claim-new`)
  await page.getByText(`Signed in as ${email}`).waitFor()
}

longTest(
  'a seller signs in by mail, starts a claim, is told what was seen, and signs out, all without JavaScript',
  async () => {
    const { page, faults, close } = await openPage(waypost.url, { javaScriptEnabled: false })
    await signIn(page, 'x402.weather', 'owner@shop.example')
    const proofsOf = async (listing: string) => {
      await page.goto(`/sellers/dashboard?listing=${listing}`)
      const proofs = page.locator('#claim-new input[name=method]')
      return proofs.evaluateAll((all) => all.map((each) => each.getAttribute('value')))
    }
    expect(await proofsOf('mcp.notebook')).toEqual(['oidc'])
    expect(await proofsOf('x402.weather')).toEqual(['well_known', 'dns_txt'])
    // An address elsewhere proves nothing: the page says which one would, before anything is sent.
    await page.getByText('An address ending in @weather.example proves the claim at once').waitFor()
    await page.getByRole('button', { name: 'Use a file' }).click()
    const claim = page.locator('.claim')
    await claim.getByRole('listitem').first().waitFor()
    await claim.getByRole('button', { name: 'Check now' }).click()
    await claim.getByText('What we saw').waitFor()
    const seen = await claim.locator('.notice').textContent()
    expect(seen).toContain('api.weather.example/.well-known/listing-claim.txt')

    await page.goto('/sellers/dashboard')
    await claim.getByText('waiting for proof').waitFor()
    expect(await claim.locator('.notice').textContent()).toBe(seen)
    await claim.getByText('Prove it another way').click()
    await claim.getByRole('button', { name: 'Use a DNS record' }).click()
    await claim.getByText('A DNS record, started').waitFor()
    // One listing is one claim.
    expect(await claim.count()).toBe(1)
    const codes = await claim.locator('.fact-list code').allTextContents()
    expect(codes).toEqual([
      expect.stringMatching(/^listing-claim=/),
      expect.stringMatching(/ IN TXT "listing-claim=/),
      expect.stringMatching(/^dig \+short TXT _listing-claim\./),
    ])
    await page.goto('/sellers/dashboard')
    await claim.getByRole('button', { name: 'Show the steps' }).click()
    await claim.locator('.fact-list').waitFor()
    expect(await claim.locator('.fact-list code').allTextContents()).toEqual(codes)

    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.waitForURL('**/sellers')
    await page.goto('/sellers/dashboard')
    await page.getByText('You are not signed in.').waitFor()
    expect(await page.context().cookies()).toEqual([])
    expect(faults).toEqual([])
    await close()
  },
)

test('an owner proves the domain by mail and a payout by a wallet, embeds the badge and can take the listing out', async () => {
  const listing = await (await fetch(`${waypost.url}/api/v1/listings/x402.tide-tables`)).json()
  const domain = new URL(listing.url).hostname.split('.').slice(-2).join('.')
  const { page, faults, close } = await openPage(waypost.url, {})
  await addWallet(page)
  await signIn(page, 'x402.tide-tables', `owner@${domain}`)
  expect((await auditPage(page)).accessibility).toEqual([])
  // The proof that is nearest is the first one, and one press.
  const [nearest = ''] = await page.locator('#claim-new button').allTextContents()
  expect(nearest).toBe(`Use owner@${domain}`)
  await page.getByRole('button', { name: nearest }).click()
  await page.getByText('The listing is yours and shows as claimed from the next build.').waitFor()
  const owned = page.getByRole('region', { name: listing.name })
  await owned.getByText('Proven: this listing is yours.').waitFor()
  await owned.getByText('The listing shows as claimed after the next build.').waitFor()
  expect(await page.locator('.claim').count()).toBe(0)
  const embeds = toBadgeEmbeds(listing.tiers).map(({ code }) => code)
  expect(await owned.locator('[data-badge] code').allTextContents()).toEqual(embeds)
  expect(await owned.getByRole('link', { name: 'Correct this listing' }).getAttribute('href')).toBe(
    'https://code.example/waypost/edit/main/content/listings/x402/tide-tables.md',
  )
  await owned.getByText('No clicks in 30 days.').waitFor()
  await lookAgain(page)

  await provePayout(page, owned)

  await owned.getByText('Remove this listing').click()
  await owned.getByRole('button', { name: 'Yes, remove it' }).click()
  await owned.getByText('It leaves the directory with the next build').first().waitFor()
  await page.reload()
  await owned.getByRole('button', { name: 'Keep it listed' }).click()
  await owned.getByText('The listing is kept.').waitFor()
  await owned.getByText('Remove this listing').waitFor()
  await lookAgain(page)
  expect(faults).toEqual([])
  await close()
})

/** Each state of the page stands axe's rules in `npm run test:long`. */
async function lookAgain(page: Page): Promise<void> {
  if (IS_LONG) expect((await auditPage(page)).accessibility).toEqual([])
}

/** A wallet of the browser (EIP-1193), held by another library. */
const WALLET = privateKeyToAccount(`0x${'5e'.repeat(32)}`)

async function addWallet(page: Page): Promise<void> {
  await page.exposeFunction('signInWallet', (raw: Hex) => WALLET.signMessage({ message: { raw } }))
  await page.addInitScript((address: string) => {
    let accounts = ['0x00000000000000000000000000000000000000aa']
    const provider = {
      async request({ method, params = [] }: { method: string; params?: string[] }) {
        if (method === 'eth_requestAccounts') return accounts
        if (params[1]?.toLowerCase() !== address.toLowerCase()) throw new Error('not my address')
        if (!confirm('Sign?')) throw Object.assign(new Error('no'), { code: 4001 })
        return Reflect.get(window, 'signInWallet')(params[0])
      },
    }
    Reflect.set(window, 'confirm', () => Reflect.get(window, 'isWilling') === true)
    Reflect.set(window, 'chooseAccount', () => {
      accounts = [address]
    })
    Reflect.set(window, 'ethereum', provider)
  }, WALLET.address)
}

/** The wrong account, an owner who declines, a signature of something else; then the right one. */
async function provePayout(page: Page, owned: Locator): Promise<void> {
  const payouts = owned.locator('[data-payouts]')
  const payout = `eip155:8453:${WALLET.address}`
  await payouts.getByText('Prove an address').click()
  await payouts.getByLabel('Address with its chain').fill(payout)
  await payouts.getByRole('button', { name: 'Prove it' }).last().click()
  const item = payouts.locator('li', { hasText: WALLET.address }).first()
  const sign = item.getByRole('button', { name: 'Sign it with this browser’s wallet' })
  await sign.click()
  await item.getByText('Choose that account in the wallet').waitFor()
  await page.evaluate(() => Reflect.get(window, 'chooseAccount')())
  await sign.click()
  await item.getByText('You declined in the wallet.').waitFor()
  await item.getByLabel('Or paste the signature').fill('0x1234')
  await item.getByRole('button', { name: 'Check the signature' }).click()
  await item.getByText('Not proven yet.').waitFor()
  await lookAgain(page)
  const text = await item.locator('[data-challenge] code').textContent()
  expect(text).toContain(`Payout: ${payout}`)
  await page.evaluate(() => {
    Reflect.get(window, 'chooseAccount')()
    Reflect.set(window, 'isWilling', true)
  })
  await sign.click()
  await item.getByText('Proven: this payout is yours.').waitFor()
  await page.goto('/sellers/dashboard')
  await payouts.getByText(/^proven \d+ \w+ \d{4}$/).waitFor()
  await item.getByRole('button', { name: 'Withdraw the proof' }).click()
  await item.getByText('The proof is withdrawn.').waitFor()
  await item.getByRole('button', { name: 'Prove it' }).waitFor()
}

test('a link that is used up says so and offers a new one', async () => {
  const { page, close } = await openPage(waypost.url)
  await page.goto('/sellers/sign-in?token=used-up-long-ago')
  await page.getByRole('button', { name: 'Sign in now' }).click()
  await page.getByText('The link was used, has expired, or a newer one was sent.').waitFor()
  await page.getByRole('button', { name: 'Send the link' }).waitFor()
  expect(page.url()).toBe(`${waypost.url}/sellers/sign-in`)
  await close()
})
