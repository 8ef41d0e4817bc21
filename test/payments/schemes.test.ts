import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { preparePaymentPackages } from './prepare.ts'

/**
 * Every scheme that counts, paid with the official packages on a chain of our own, and its forgeries:
 * relay and meter over a real node. The contracts at the real addresses were written for this.
 */
const missing = preparePaymentPackages()
if (missing !== null) console.warn(`test/payments: skipped, because ${missing}`)

const SHOP = '0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc'
const PERMIT2 = '0x000000000022D473030F116dDEE9F6B43aC78BA3'
const PROXIES = {
  TestExactProxy: '0x402085c248EeA27D92E8b30b2C58ed07f9E20001',
  TestUptoProxy: '0x4020A4f3b7b90ccA423B9fabCc0CE57C6C240002',
} as const
const OWN_PROXY = `0x${'0a'.repeat(20)}` as const
const OWN_COIN = `0x${'0b'.repeat(20)}` as const
const BUNDLE = `0x${'0c'.repeat(20)}` as const

describe.skipIf(missing !== null)('paid by Permit2', { timeout: 60_000 }, () => {
  let lab: typeof import('./chain.ts')
  let chain: import('./chain.ts').Chain
  let world: Awaited<ReturnType<typeof import('./scheme-world.ts').openSchemeWorld>>
  let permit2: Awaited<ReturnType<typeof import('./permit2.ts').openPermit2>>

  beforeAll(async () => {
    lab = await import('./chain.ts')
    chain = await lab.startChain()
    await chain.put('permit2.sol', {
      TestPermit2: PERMIT2,
      ...PROXIES,
      OwnProxy: OWN_PROXY,
      OwnCoin: OWN_COIN,
      Bundle: BUNDLE,
    })
    permit2 = await (await import('./permit2.ts')).openPermit2(chain)
    world = await (await import('./scheme-world.ts')).openSchemeWorld(chain.url, lab.NETWORK)
    await world.prove([SHOP])
  }, 200_000)

  afterAll(async () => {
    await world?.close()
    await chain?.stop()
  })

  const buyer = () => lab.accountOf(1).address.toLowerCase()

  test('exact and upto are counted once, by relay and by meter, and nothing beside them', async () => {
    const exact = await permit2.sign('exact', SHOP, 2_000n)
    const upto = await permit2.sign('upto', SHOP, 5_000n)
    const settled = [await permit2.settle(exact, 2_000n), await permit2.settle(upto, 1_200n)]
    await permit2.forge({ payout: SHOP, ownProxy: OWN_PROXY, ownCoin: OWN_COIN, bundle: BUNDLE })
    await chain.mine(1)
    // The forgeries moved real money to the seller too.
    expect(await chain.balanceOf(SHOP)).toBe(3_200n + 18_000n)
    expect(await world.relay(SHOP, exact, settled[0] ?? {})).toEqual({
      state: 'counted',
      reason: null,
    })
    expect(await world.counted()).toEqual([`${buyer()} 2000 relay`])
    expect(await world.meter.run()).toMatchObject({ payments: 2, stopped: null })
    expect(await world.counted()).toEqual([`${buyer()} 2000 both`, `${buyer()} 1200 meter`])
    expect(await world.relay(SHOP, upto, settled[1] ?? {})).toEqual({
      state: 'counted',
      reason: null,
    })
    expect(await world.counted()).toEqual([`${buyer()} 2000 both`, `${buyer()} 1200 both`])
  })
})
