import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { markOfRealm } from '../../src/domain/trust/evm-payments.ts'
import * as lab from './chain.ts'

const SHOP = '0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc'
const PERMIT2 = '0x000000000022D473030F116dDEE9F6B43aC78BA3'
const PROXIES = {
  TestExactProxy: '0x402085c248EeA27D92E8b30b2C58ed07f9E20001',
  TestUptoProxy: '0x4020A4f3b7b90ccA423B9fabCc0CE57C6C240002',
} as const
const OWN_PROXY = `0x${'0a'.repeat(20)}` as const
const OWN_COIN = `0x${'0b'.repeat(20)}` as const
const BUNDLE = `0x${'0c'.repeat(20)}` as const

/**
 * Every scheme that counts, paid with the official packages on a chain of our own, and its forgeries:
 * the meter over a real node. The contracts at the real addresses were written for this.
 */
describe.skipIf(!lab.hasChain)('paid on an EVM chain', { timeout: 60_000 }, () => {
  let chain: lab.Chain
  let world: Awaited<ReturnType<typeof import('./scheme-world.ts').openSchemeWorld>>
  let permit2: Awaited<ReturnType<typeof import('./permit2.ts').openPermit2>>

  beforeAll(async () => {
    chain = await lab.startChain()
    await chain.put('permit2.sol', {
      TestPermit2: PERMIT2,
      ...PROXIES,
      OwnProxy: OWN_PROXY,
      OwnCoin: OWN_COIN,
      Bundle: BUNDLE,
    })
    permit2 = await (await import('./permit2.ts')).openPermit2(chain)
    const { openSchemeWorld } = await import('./scheme-world.ts')
    world = await openSchemeWorld(chain.url, lab.NETWORK)
    await world.prove([SHOP])
  }, 200_000)

  afterAll(async () => {
    await world?.close()
    await chain?.stop()
  })

  const buyer = () => lab.accountOf(1).address.toLowerCase()

  test('by Permit2: exact and upto are counted once, and nothing else is', async () => {
    const exact = await permit2.sign('exact', SHOP, 2_000n)
    const upto = await permit2.sign('upto', SHOP, 5_000n)
    await permit2.settle(exact, 2_000n)
    await permit2.settle(upto, 1_200n)
    await permit2.forge({ payout: SHOP, ownProxy: OWN_PROXY, ownCoin: OWN_COIN, bundle: BUNDLE })
    await chain.mine(1)
    // The forgeries moved real money to the seller too.
    expect(await chain.balanceOf(SHOP)).toBe(3_200n + 18_000n)
    expect(await world.meter.run()).toMatchObject({ payments: 2, stopped: null })
    expect(await world.counted()).toEqual([`${buyer()} 2000`, `${buyer()} 1200`])
  })
})

describe.skipIf(!lab.hasChain)('charged on Tempo', { timeout: 60_000 }, () => {
  let tempo: Awaited<ReturnType<typeof import('./tempo.ts').startTempo>>
  let world: Awaited<ReturnType<typeof import('./scheme-world.ts').openSchemeWorld>>
  let buyer: (index: number) => string

  beforeAll(async () => {
    const { accountOf, startTempo, TEMPO } = await import('./tempo.ts')
    buyer = (index) => accountOf(index).address.toLowerCase()
    tempo = await startTempo(SHOP)
    world = await (await import('./scheme-world.ts')).openSchemeWorld(tempo.url, TEMPO)
    await world.prove([SHOP])
  }, 60_000)

  afterAll(async () => {
    await world?.close()
    await tempo?.stop()
  })

  test('pulled, pushed, sponsored and split charges are counted once, and nothing beside them', async () => {
    await tempo.charge({ buyer: 3, amount: '0.001' })
    await tempo.charge({ buyer: 4, amount: '0.002', mode: 'push' })
    await tempo.charge({ buyer: 5, amount: '0.003', isSponsored: true })
    await tempo.charge({ buyer: 6, amount: '0.001', split: `0x${'5e'.repeat(20)}` })
    await tempo.charge({ buyer: 7, amount: '0' })
    await tempo.charge({ buyer: 8, amount: '0.009', realm: 'another.example' })
    await tempo.forge(`0xef1ed71201${markOfRealm('0.example')}${'00'.repeat(17)}`)
    expect(await world.meter.run()).toMatchObject({ payments: 4, stopped: null })
    expect(await world.counted()).toEqual([
      `${buyer(3)} 1000`,
      `${buyer(4)} 2000`,
      `${buyer(5)} 3000`,
      `${buyer(6)} 600`,
    ])
  })
})
