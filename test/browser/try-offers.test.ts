import { createServer } from 'node:http'
import { expect, test } from 'vitest'
import { closeServer, listen } from '../support/listen.ts'
import { serveFixture } from '../support/running-service.ts'
import { openPage } from './browser.ts'

/** A hostile seller's offers, on a listing's own page, beside a wallet that signs whatever reaches it. */
const waypost = serveFixture({ UNSAFE_ALLOW_PRIVATE_TARGETS: 'true' })

const PAYEE = `0x${'11'.repeat(20)}`
const COIN = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'
const MPP_COIN = '0x20c000000000000000000000b9537d11c60e8b50'
const GOOD = {
  scheme: 'exact',
  network: 'eip155:8453',
  asset: COIN,
  amount: '10000',
  payTo: PAYEE,
  maxTimeoutSeconds: 60,
}
const HOSTILE: [offer: Record<string, unknown>, stated: string][] = [
  [{ payTo: 'Send everything to me' }, 'a payee that is not an address'],
  [{ payTo: `${PAYEE}00` }, 'a payee that is not an address'],
  [{ payTo: [PAYEE] }, 'a payee that is not an address'],
  [{ payTo: undefined }, 'a payee that is not an address'],
  [{ extra: { assetTransferMethod: 'permit2' } }, 'payment by permit2, which this page does not'],
  [{ scheme: 'upto' }, 'Scheme upto needs a client of its own'],
  [{ asset: `0x${'22'.repeat(20)}` }, 'We do not know what this amount of this coin is worth'],
  [{ amount: '1e4' }, 'We do not know what this amount of this coin is worth'],
  [{ maxAmountRequired: '1' }, 'We do not know what this amount of this coin is worth'],
  [{ network: 'eip155:4217', asset: MPP_COIN }, 'does not accept this kind of signature'],
  [{ amount: '900000000' }, 'more than your ceiling'],
]
const TRUSTED = { ...GOOD, extra: { name: 'Sign in to claim your prize', version: '<b>' } }

test('only a complete offer reaches the wallet, and what is signed is our word for the coin', async () => {
  const { page, close } = await openPage(waypost.url, {})
  const signed: unknown[] = []
  await page.exposeFunction('seenByTest', (text: string) => void signed.push(JSON.parse(text)))
  await page.addInitScript(
    (from) => {
      const answers: Record<string, unknown> = {
        eth_requestAccounts: [from],
        eth_chainId: '0x2105',
      }
      Reflect.set(window, 'ethereum', {
        async request({ method, params }: { method: string; params?: string[] }) {
          if (method in answers) return answers[method]
          await Reflect.get(window, 'seenByTest')(params?.[1])
          return `0x${'aa'.repeat(65)}`
        },
      })
    },
    `0x${'33'.repeat(20)}`,
  )
  const accepts = [...HOSTILE.map(([change]) => ({ ...GOOD, ...change })), TRUSTED]
  const paid: string[] = []
  await page.route('**/api/v1/call/**', (route) => {
    const payment = route.request().headers()['payment-signature']
    if (payment !== undefined) paid.push(payment)
    return route.fulfill({
      status: payment === undefined ? 402 : 200,
      contentType: 'application/json',
      body: JSON.stringify(payment === undefined ? { x402Version: 2, accepts } : { sold: true }),
    })
  })
  await page.goto('/listing/x402.weather')
  // The main button of a paid listing asks at once.
  await page.getByRole('link', { name: 'Ask the price' }).click()
  const rows = page.locator('form.try .offers > li')
  await expect.poll(() => rows.count()).toBe(accepts.length)
  for (const [at, [, stated]] of HOSTILE.entries()) {
    expect([at, await rows.nth(at).textContent()]).toEqual([at, expect.stringContaining(stated)])
    expect([at, await rows.nth(at).getByRole('button').count()]).toEqual([at, 0])
  }
  await rows.last().getByRole('button', { name: 'Pay $0.01 with my wallet' }).click()
  await expect.poll(() => paid.length).toBe(1)
  expect(signed).toMatchObject([
    {
      domain: {
        name: 'USD Coin',
        version: '2',
        chainId: 8453,
        verifyingContract: COIN.toLowerCase(),
      },
      message: { to: PAYEE, value: '10000' },
    },
  ])
  const { payload, accepted } = JSON.parse(Buffer.from(paid[0] ?? '', 'base64').toString())
  expect(payload.authorization).toMatchObject({ to: PAYEE, value: '10000' })
  expect(accepted).toEqual(TRUSTED)
  await close()
})

test('who is paid by MPP alone answers beside what we expected, and reaches no wallet', async () => {
  const asked = { amount: '2500000', currency: MPP_COIN, recipient: PAYEE }
  const request = Buffer.from(JSON.stringify(asked)).toString('base64url')
  const line = `Payment id="1", realm="r", method="tempo", intent="charge", request="${request}"`
  const seller = createServer((_, res) => res.writeHead(402, { 'www-authenticate': line }).end())
  const url = `http://127.0.0.1:${await listen(seller)}/cards`
  const { page, close } = await openPage(waypost.url)
  await page.route('**/x402.cards-only/kit.json', async (route) => {
    const kit = await (await route.fetch()).json()
    await route.fulfill({ json: { ...kit, url, operations: [] } })
  })
  await page.goto('/listing/x402.cards-only')
  await page.getByRole('link', { name: 'Ask the price' }).click()
  const offer = page.locator('form.try .offers > li')
  await offer.getByText('Pay this by mpp (tempo/charge) with your own client').waitFor()
  await offer.getByRole('row', { name: 'Price $2.50 at most $9' }).waitFor()
  expect(await offer.getByRole('button').count()).toBe(0)
  await close()
  await closeServer(seller)
})
