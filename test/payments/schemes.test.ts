import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { markOfRealm } from '../../src/domain/settlement/schemes/tempo-charge.ts'
import { preparePaymentPackages } from './prepare.ts'

/**
 * Every scheme that counts, paid with the official packages on a chain of our own, and its forgeries:
 * the meter over a real node. The contracts at the real addresses were written for this.
 */
const missing = preparePaymentPackages()
if (missing !== null) console.warn(`test/payments: skipped, because ${missing}`)

const SHOP = '0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc'
const PERMIT2 = '0x000000000022D473030F116dDEE9F6B43aC78BA3'
const PROXIES = {
  TestExactProxy: '0x402085c248EeA27D92E8b30b2C58ed07f9E20001',
  TestUptoProxy: '0x4020A4f3b7b90ccA423B9fabCc0CE57C6C240002',
} as const
const CHANNEL_SHOP = '0x976EA74026E726554dB657fA54763abd0C3a0aa9'
const CHANNELS = '0x4020074e9dF2ce1deE5A9C1b5c3f541D02a10003'
const COLLECTOR = '0x4020806089470a89826cB9fB1f4059150b550004'
const ESCROW_SHOP = '0x14dC79964da2C08b23698B3D3cc7Ca32193d9955'
const OWN_COLLECTOR = `0x${'0d'.repeat(20)}` as const
const OWN_PROXY = `0x${'0a'.repeat(20)}` as const
const OWN_COIN = `0x${'0b'.repeat(20)}` as const
const BUNDLE = `0x${'0c'.repeat(20)}` as const

describe.skipIf(missing !== null)('paid on an EVM chain', { timeout: 60_000 }, () => {
  let lab: typeof import('./chain.ts')
  let chain: import('./chain.ts').Chain
  let world: Awaited<ReturnType<typeof import('./scheme-world.ts').openSchemeWorld>>
  let escrow: typeof import('./escrow.ts')
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
    await chain.put('channels.sol', {
      TestChannels: CHANNELS,
      TestCollector: COLLECTOR,
      OwnCollector: OWN_COLLECTOR,
    })
    escrow = await import('./escrow.ts')
    await chain.put('escrow.sol', {
      TestEscrow: escrow.ESCROW,
      TestEscrowCollector: escrow.ESCROW_COLLECTOR,
      OwnEscrowCollector: escrow.OWN_ESCROW_COLLECTOR,
    })
    await chain.put('escrow.sol', { TestEscrow: escrow.OWN_ESCROW })
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

  test('from channels: claims count up to what their payer was seen to put in', async () => {
    await world.empty()
    await world.prove([CHANNEL_SHOP])
    const { openChannel } = await import('./channels.ts')
    await chain.mint(lab.accountOf(0).address, 10_000_000n)
    const [stranger, payer] = [2, 1].map((index) => lab.accountOf(index).address)
    const own = openChannel(chain, payer ?? SHOP, CHANNEL_SHOP)
    const forged = openChannel(chain, stranger ?? SHOP, CHANNEL_SHOP)
    const mixed = openChannel(chain, payer ?? SHOP, CHANNEL_SHOP, `0x${'11'.repeat(32)}`)
    const elsewhere = openChannel(chain, payer ?? SHOP, SHOP)
    await own.deposit(1, 5_000n)
    await elsewhere.deposit(1, 4_000n)
    await chain.mine(1)
    // A deposit alone is nothing, and nothing is asked about channels yet.
    expect(await world.meter.run()).toMatchObject({ payments: 0 })
    await own.claim(1_500n)
    await forged.forgeDeposit(0, 2_000n)
    await forged.claim(2_000n)
    await mixed.deposit(1, 1_000n)
    await mixed.forgeDeposit(0, 3_000n)
    await mixed.claim(2_500n)
    await elsewhere.claim(4_000n)
    await own.settle()
    await chain.mine(1)
    expect(await world.meter.run()).toMatchObject({ payments: 2, stopped: null })
    const counted = [`${buyer()} 1500`, `${buyer()} 1000`]
    expect(await world.counted()).toEqual(counted)
    // What goes back was never paid; what is claimed later is, up to what is left.
    const before = await chain.snapshot()
    await own.refund(2_000n)
    await own.claim(3_000n)
    await chain.mine(1)
    await world.meter.run()
    expect(await world.counted()).toEqual([...counted, `${buyer()} 1500`])
    expect(await world.paidOthers()).toEqual([])
    // The chain takes it back, and another claim stands in its place.
    await before.revert()
    await own.claim(2_200n)
    await chain.mine(2)
    await world.meter.run()
    expect(await world.counted()).toEqual([...counted, `${buyer()} 700`])
  })

  test('through an escrow: what the seller got counts, without fees, voids and later refunds', async () => {
    await world.empty()
    await world.prove([ESCROW_SHOP])
    const shop = await escrow.openEscrow(chain, ESCROW_SHOP)
    const charged = await shop.sign(1, 2_000n)
    await shop.charge(charged, { amount: 1_500n, fee: 100n })
    const held = await shop.sign(1, 5_000n)
    await shop.authorize(held, 5_000n)
    await shop.capture(held, 1_000n)
    await shop.capture(held, 2_000n, 500n)
    await shop.void(held)
    // A stranger made the payer, by a collector of the operator's own; an escrow of his own; all a fee.
    const stranger = {
      ...charged,
      info: { ...charged.info, payer: CHANNEL_SHOP, salt: 7n },
    } as const
    await shop.charge(stranger, { amount: 900n, own: true })
    const later = { ...stranger, info: { ...stranger.info, salt: 8n } }
    await shop.authorize(later, 800n, true)
    await shop.capture(later, 800n)
    const elsewhere = { ...stranger, info: { ...stranger.info, salt: 9n } }
    await shop.charge(elsewhere, { amount: 700n, own: true, escrow: escrow.OWN_ESCROW })
    const free = await shop.sign(1, 600n)
    await shop.charge(free, { amount: 600n, fee: 600n })
    await chain.mine(1)
    expect(await chain.balanceOf(ESCROW_SHOP)).toBe(1_400n + 2_500n + 2_400n)
    expect(await world.meter.run()).toMatchObject({ payments: 3, stopped: null })
    const counted = [1_400, 1_000, 1_500].map((amount) => `${buyer()} ${amount}`)
    expect(await world.counted()).toEqual(counted)
    expect(await world.paidOthers()).toEqual([])
    const before = await chain.snapshot()
    await shop.refund(charged, 1_400n)
    await shop.refund(held, 1_600n)
    await chain.mine(1)
    await world.meter.run()
    expect(await world.counted()).toEqual([`${buyer()} 900`])
    // The chain takes the refunds back.
    await before.revert()
    await chain.mine(3)
    await world.meter.run()
    expect(await world.counted()).toEqual(counted)
  })
})

describe.skipIf(missing !== null)('charged on Tempo', { timeout: 60_000 }, () => {
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

  test('by sessions: what the reserve paid is counted, never what waits in it', async () => {
    await world.empty()
    await world.prove([CHANNEL_SHOP])
    await tempo.putReserves()
    const payee = CHANNEL_SHOP
    const own = await tempo.openSession({ buyer: 9, payee })
    expect(await world.meter.run()).toMatchObject({ payments: 0, stopped: null })
    await own.settle(20_000n)
    await own.topUp(5_000n)
    await own.settle(30_000n)
    // Another seller's, another coin, a reserve of a forger's own, and one whose payer leaves.
    const others = [
      await tempo.openSession({ buyer: 7, payee: SHOP }),
      await tempo.openSession({ buyer: 2, payee, otherCoin: true }),
      await tempo.openSession({ buyer: 1, payee, ownReserve: true }),
    ]
    for (const one of others) await one.settle(8_000n)
    const left = await tempo.openSession({ buyer: 0, payee })
    await left.close(0n)
    // Its last 25,000 are in no other event.
    await own.close(55_000n)
    await world.meter.run()
    expect(await world.counted()).toEqual(
      [20_000, 10_000, 25_000].map((amount) => `${buyer(9)} ${amount}`),
    )
  })

  test('by a session of the official packages: what its close says was taken is counted', async () => {
    const { paySession } = await import('./tempo-session.ts')
    const { accountOf } = await import('./tempo.ts')
    await world.empty()
    await world.prove([accountOf(0).address])
    const sent = await paySession(tempo.url, { buyer: 9, calls: 3 })
    expect(sent).toEqual(['open 1000', 'voucher 2000', 'voucher 3000', 'close 3000'])
    expect(await world.meter.run()).toMatchObject({ payments: 1, stopped: null })
    expect(await world.counted()).toEqual([`${buyer(9)} 3000`])
    expect(await world.schemes()).toEqual(['tempo_session'])
  })
})
