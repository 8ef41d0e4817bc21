import { expect, test } from 'vitest'
import { openPage, PHONE } from '../browser/browser.ts'
import * as lab from './chain.ts'
import type { World } from './world.ts'

interface Shop {
  world: World
  chain: lab.Chain
}

/** The account that the injected wallet signs with. */
const BUYER = 2

/** Pays on a listing's own page, in a real browser, with a wallet that the test puts into it. */
export function testPaidOnPage(shop: () => Shop): void {
  test.each([
    ['v2', 0.001],
    ['v1', 0.002],
  ] as const)('a person pays the %s seller on its page, below the ceiling', async (slug, usd) => {
    const { world, chain } = shop()
    const account = lab.accountOf(BUYER)
    await chain.mint(account.address, 10_000n)
    const before = await chain.balanceOf(account.address)
    const { page, faults, close } = await openPage(world.url, { viewport: PHONE })
    await injectWallet(page, account)
    await page.goto(`/listing/x402.${slug}`)
    await page.getByRole('link', { name: 'Ask the price' }).click()
    const answer = page.locator('form.try [data-answer]')
    const terms = answer.getByRole('row')
    await expect.poll(() => terms.allInnerTexts()).toContain(`Price\t$${usd}\tnot known`)
    expect(await terms.allInnerTexts()).toContain('Network\tBase Sepolia testnet\tnot known')
    expect(await chain.balanceOf(account.address)).toBe(before)

    await page.getByLabel('Highest price, in US dollars').fill('0.0001')
    await page.getByRole('button', { name: 'Ask the price' }).click()
    await expect.poll(() => answer.textContent()).toContain('more than your ceiling of $0.0001')
    expect(await page.getByRole('button', { name: /with my wallet/ }).count()).toBe(0)

    await page.getByLabel('Highest price, in US dollars').fill('0.01')
    await page.getByRole('button', { name: 'Ask the price' }).click()
    await page.getByRole('button', { name: `Pay $${usd} with my wallet` }).click()
    await expect.poll(() => answer.textContent()).toContain(`"sold": "${slug}"`)
    expect(await answer.textContent()).toContain('The seller’s receipt')
    expect(before - (await chain.balanceOf(account.address))).toBe(BigInt(usd * 1_000_000))
    // The seller's 402 is an answer, though a browser writes it to its console.
    expect(faults.filter((fault) => !fault.includes('402'))).toEqual([])
    await close()
  })

  test('who refuses to sign pays nothing, and reads why', async () => {
    const { world, chain } = shop()
    const account = lab.accountOf(BUYER)
    const before = await chain.balanceOf(account.address)
    const { page, close } = await openPage(world.url, {})
    await injectWallet(page, { ...account, signTypedData: () => Promise.reject(new Error('no')) })
    await page.goto('/listing/x402.v2')
    await page.getByRole('link', { name: 'Ask the price' }).click()
    await page.getByRole('button', { name: /with my wallet/ }).click()
    await expect
      .poll(() => page.locator('form.try [data-answer]').textContent())
      .toContain('You declined in the wallet')
    expect(await chain.balanceOf(account.address)).toBe(before)
    await close()
  })
}

interface Signer {
  address: string
  signTypedData(typed: never): Promise<string>
}

/** EIP-1193 as extensions put it into a page; the key stays in the test. */
async function injectWallet(
  page: import('playwright-core').Page,
  { address, signTypedData }: Signer,
) {
  await page.exposeFunction('signInTest', async (text: string) => {
    const { EIP712Domain: _, ...types } = JSON.parse(text).types
    const signed = signTypedData({ ...JSON.parse(text), types } as never)
    return await signed.catch(() => null)
  })
  await page.addInitScript((own) => {
    const answers: Record<string, unknown> = { eth_requestAccounts: [own], eth_chainId: '0x14a34' }
    Reflect.set(window, 'ethereum', {
      async request({ method, params }: { method: string; params?: string[] }) {
        if (method in answers) return answers[method]
        if (method !== 'eth_signTypedData_v4') throw { code: 4200, message: 'Unsupported method' }
        const signature = await Reflect.get(window, 'signInTest')(params?.[1])
        if (signature === null) throw { code: 4001, message: 'You declined in the wallet' }
        return signature
      },
    })
  }, address)
}
