import { expect, test } from 'vitest'
import { DAY_MS, NOON, wallet } from '../settlements/samples.ts'
import { describeStores } from '../support/stores.ts'
import { createChain, createNode, payment, transfer } from './chain-double.ts'
import { createMeter, prove } from './meter-world.ts'

const SHOP = wallet(1)

describeStores('the meter', ({ newStore }) => {
  test('counts thousands of authorised payments to a proven payout, and direct transfers for nothing', async () => {
    const chain = createChain({ start: NOON - 2 * DAY_MS, blockMs: 60_000 })
    for (let n = 0; n < 1_000; n += 1)
      chain.mine(
        payment(wallet(10 + (n % 40)), SHOP, 1_000 + (n % 7)),
        [transfer(wallet(10 + (n % 40)), SHOP, 5_000)],
        [...payment(wallet(60), SHOP, 2_000), ...payment(wallet(61), SHOP, 3_000)],
        payment(wallet(62), wallet(2), 9_000),
      )
    const store = await newStore()
    await prove(store, [SHOP])
    const meter = createMeter(store, createNode(chain, { maxBlocks: 300 }).rpc, chain.now)
    expect(await meter.run()).toMatchObject({ payments: 3_000, read: 1_001, stopped: null })
    const { settlements, metered, payments } = await meter.facts([SHOP])
    expect(settlements.get('x402.0')).toMatchObject({
      source: 'service_verified',
      verified_buyers_30d: 42,
      settlements_30d: 3_000,
      volume_usd_30d: 6.002997,
      wash_flags: [],
    })
    expect([...metered]).toEqual(['x402.0'])
    expect(payments.get('x402.0')).toHaveLength(3_000)
  })
})
