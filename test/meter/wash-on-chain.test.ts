import { describe, expect, test } from 'vitest'
import { DAY_MS, NOON, wallet } from '../settlements/samples.ts'
import { forAllTests } from '../support/for-tests.ts'
import { createChain, createNode, payment, type RawLog, transfer } from './chain-double.ts'
import { createMeter, openMeterStore, prove } from './meter-world.ts'

/**
 * Wash as a cheat would play it on the chain, beside one honest buyer: what needs blocks, mints or the
 * code of a contract to be seen. Every rule by itself: `test/settlements/wash.test.ts`.
 */
const SHOP = wallet(1)
const [HONEST, BANK, POOL] = [wallet(2), wallet(3), wallet(4)]
/** Who new coins come from. */
const NOBODY = `0x${'0'.repeat(40)}`
const shill = (n: number) => wallet(100 + n)
const many = (count: number, of: (n: number) => RawLog[]) =>
  Array.from({ length: count }, (_, n) => of(n))

type Played = RawLog[][]
const PATTERNS: [string, Played[], object[]][] = [
  [
    'who fills wallets through one in between',
    [
      [[transfer(SHOP, BANK, 90_000)]],
      many(20, (n) => [transfer(BANK, shill(n), 2_000)]),
      many(20, (n) => payment(shill(n), SHOP, 1_900 + n)),
    ],
    [{ flag: 'funded_by_payout', settlements: 20 }],
  ],
  [
    'who does all of it in one block',
    [
      [
        [transfer(SHOP, BANK, 9_000)],
        [transfer(BANK, shill(1), 2_000)],
        payment(shill(1), SHOP, 2_000),
      ],
    ],
    [{ flag: 'funded_by_payout', settlements: 1 }],
  ],
  [
    'who lets a mint fill a crowd that never pays anybody else',
    [
      many(12, (n) => [transfer(NOBODY, shill(n), 9_000)]),
      many(12, (n) => payment(shill(n), SHOP, 4_000)),
    ],
    [{ flag: 'burst_cohort', settlements: 12 }],
  ],
  // What must not be held against a seller.
  [
    'whose launch brings twelve who came by CCTP within half an hour, one of whom paid before',
    [
      many(12, (n) => [transfer(NOBODY, shill(n), 9_000)]),
      [payment(shill(3), wallet(800), 100)],
      many(12, (n) => payment(shill(n), SHOP, 4_000)),
    ],
    [],
  ],
  [
    'whose buyers have their money from a pool that he sold to',
    [
      [[transfer(SHOP, POOL, 90_000)]],
      many(3, (n) => [transfer(POOL, shill(n), 9_000)]),
      many(3, (n) => payment(shill(n), SHOP, 4_000 + n)),
    ],
    [],
  ],
]

/** What looks like a payment and is none. */
const NO_PAYMENTS: [string, RawLog[][]][] = [
  ['a transfer without an authorisation', [[transfer(HONEST, SHOP, 5_000)]]],
  [
    'a one-unit authorisation beside an ordinary transfer',
    [[...payment(HONEST, wallet(9), 1), transfer(HONEST, SHOP, 5_000)]],
  ],
  [
    'an authorisation of somebody else',
    [[...payment(wallet(9), SHOP, 0).slice(0, 1), transfer(HONEST, SHOP, 5_000)]],
  ],
  [
    'an authorisation in the transaction before',
    [payment(HONEST, SHOP, 1).slice(0, 1), [transfer(HONEST, SHOP, 5_000)]],
  ],
  ['an authorised transfer of nothing', [payment(HONEST, SHOP, 0)]],
  ['one in another token', [payment(HONEST, SHOP, 5_000, wallet(9))]],
  ['one to somebody else', [payment(HONEST, wallet(9), 5_000)]],
]

describe('a seller', () => {
  const ledger = forAllTests(openMeterStore)
  const open = async () => {
    const { store } = ledger
    await ledger.empty()
    await prove(store, [SHOP])
    return store
  }

  test('is counted what independent buyers paid, and flagged what is wash', async () => {
    for (const [name, blocks, flags] of PATTERNS) {
      const store = await open()
      const chain = createChain({ start: NOON - DAY_MS, blockMs: 60_000 })
      for (const transactions of blocks) chain.mine(...transactions)
      chain.mine(payment(HONEST, SHOP, 700))
      const node = createNode(chain)
      node.codes.set(POOL, '0x6080')
      node.codes.set(BANK, '0xef0100aa')
      const meter = createMeter(store, node.rpc, chain.now)
      expect(await meter.run(), name).toMatchObject({ stopped: null })
      const measured = (await meter.facts([SHOP])).settlements.get('x402.0')
      expect(measured?.wash_flags, name).toEqual(flags)
      const washed = flags.length
      if (washed > 0)
        expect(measured, name).toMatchObject({
          verified_buyers_30d: 1,
          settlements_30d: 1,
          volume_usd_30d: 0.0007,
        })
      else expect(measured?.settlements_30d, name).toBe(measured?.raw?.settlements)
    }
  })

  test('is counted nothing for what is not a payment', async () => {
    for (const [name, transactions] of NO_PAYMENTS) {
      const store = await open()
      const chain = createChain({ start: NOON - DAY_MS, blockMs: 60_000 })
      chain.mine(...transactions)
      const meter = createMeter(store, createNode(chain).rpc, chain.now)
      expect(await meter.run(), name).toMatchObject({ payments: 0, stopped: null })
      expect((await meter.facts([SHOP])).settlements.get('x402.0'), name).toMatchObject({
        settlements_30d: 0,
      })
    }
  })

  test('whose buyers’ money is not traced yet is counted nothing yet', async () => {
    const store = await open()
    const chain = createChain({ start: NOON - DAY_MS, blockMs: 60_000 })
    chain.mine(payment(HONEST, SHOP, 700))
    const node = createNode(chain)
    const meter = createMeter(store, node.rpc, chain.now)
    // The fourth question for logs is the first one of tracing.
    let questions = 0
    node.faults.instead = (method) => {
      questions += Number(method === 'eth_getLogs')
      if (questions > 3) throw new Error('killed')
    }
    await expect(meter.run()).rejects.toThrow('killed')
    expect(await meter.rows()).toHaveLength(1)
    const counted = async () =>
      (await meter.facts([SHOP])).settlements.get('x402.0')?.settlements_30d
    expect(await counted()).toBe(0)
    delete node.faults.instead
    await meter.run()
    expect(await counted()).toBe(1)
  })
})
