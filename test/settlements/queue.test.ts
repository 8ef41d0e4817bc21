import { expect, test } from 'vitest'
import { describeStores } from '../support/stores.ts'
import {
  encode,
  NONCE,
  NOON,
  PAYER,
  PAYMENT_V2,
  PAYOUT,
  rawReceipt,
  transferLog,
  usedLog,
} from './samples.ts'
import { aNode, LISTING, open, REQUEST, RESPONSE } from './settlements-world.ts'

describeStores('settlements', ({ newStore }) => {
  test('a true one is counted and becomes evidence', async () => {
    const world = open(await newStore(), aNode())
    world.settlements.note(LISTING, REQUEST, RESPONSE, NOON)
    await world.settlements.verify()
    expect(await world.states()).toEqual(['counted'])
    expect(await world.evidence()).toMatchObject({
      source: 'service_verified',
      verified_buyers_30d: 1,
      settlements_30d: 1,
      volume_usd_30d: 0.001,
      last_settlement_at: new Date(NOON).toISOString(),
    })
    await world.settlements.close()
  })

  test('a forged one is refused and changes nothing', async () => {
    const node = aNode()
    node.answers.eth_getTransactionReceipt = rawReceipt([transferLog(1)])
    const world = open(await newStore(), node)
    world.settlements.note(LISTING, REQUEST, RESPONSE, NOON)
    await world.settlements.verify()
    expect(await world.states()).toEqual(['refused consent_not_found'])
    expect(await world.evidence()).toBeUndefined()
    await world.settlements.close()
  })

  test('the same word fifty times is one check and one settlement', async () => {
    const store = await newStore()
    const world = open(store, aNode())
    for (let n = 0; n < 50; n += 1) world.settlements.note(LISTING, REQUEST, RESPONSE, NOON)
    await world.settlements.verify()
    world.settlements.note(LISTING, REQUEST, RESPONSE, NOON)
    await world.settlements.verify()
    expect(await world.states()).toEqual(['counted'])
    expect((await world.evidence())?.settlements_30d).toBe(1)
    await world.settlements.close()
  })

  test('a transfer counts once, ever, whichever listing claims it', async () => {
    const world = open(await newStore(), aNode())
    world.settlements.note(LISTING, REQUEST, RESPONSE, NOON)
    await world.settlements.verify()
    world.settlements.note({ ...LISTING, id: 'x402.twin' }, REQUEST, RESPONSE, NOON)
    await world.settlements.verify()
    expect(await world.states()).toEqual(['counted', 'refused already_counted'])
    await world.settlements.close()
  })

  test.each([
    ['copied from a block by a call six seconds later', NOON + 6_000, 0, 'refused outside_call'],
    ['of a call whose clock is five seconds ahead', NOON + 5_000, 0, 'counted'],
    ['settled fifteen minutes after the answer', NOON - 900_000, -900_000, 'counted'],
    ['settled later still', NOON - 901_000, -901_000, 'refused outside_call'],
  ])('a payment %s', async (_, startedAt, answered, state) => {
    const world = open(await newStore(), aNode())
    world.pass(answered)
    world.settlements.note(LISTING, REQUEST, RESPONSE, startedAt)
    await world.settlements.verify()
    expect(await world.states()).toEqual([state])
    await world.settlements.close()
  })

  test('of two claims on one payment the first queued wins, though the second is looked up first', async () => {
    const node = aNode()
    const receipt = node.answers.eth_getTransactionReceipt
    node.answers.eth_getTransactionReceipt = null
    const world = open(await newStore(), node)
    world.settlements.note({ ...LISTING, id: 'x402.first' }, REQUEST, RESPONSE, NOON)
    await world.settlements.verify()
    node.answers.eth_getTransactionReceipt = receipt
    world.pass(1_000)
    world.settlements.note({ ...LISTING, id: 'x402.second' }, REQUEST, RESPONSE, NOON + 1_000)
    await world.settlements.verify()
    expect(await world.states()).toEqual(['waiting not_mined', 'waiting earlier_claim'])
    for (let look = 0; look < 3; look += 1) {
      world.pass(5_000)
      await world.settlements.verify()
    }
    expect(await world.states()).toEqual(['counted', 'refused already_counted'])
    await world.settlements.close()
  })

  test('a claim of a wrong amount does not stand in the way of the right one', async () => {
    const world = open(await newStore(), aNode())
    const authorization = { ...PAYMENT_V2.payload.authorization, value: '999' }
    const wrong = { ...PAYMENT_V2, payload: { ...PAYMENT_V2.payload, authorization } }
    world.settlements.note(LISTING, ['PAYMENT-SIGNATURE', encode(wrong)], RESPONSE, NOON)
    await world.settlements.verify()
    world.settlements.note(LISTING, REQUEST, RESPONSE, NOON)
    await world.settlements.verify()
    expect((await world.states()).sort()).toEqual(['counted', 'refused no_matching_transfer'])
    expect((await world.evidence())?.settlements_30d).toBe(1)
    await world.settlements.close()
  })

  test('payments to a payout that listings of other domains publish too count for nobody', async () => {
    const store = await newStore()
    const world = open(store, aNode())
    world.settlements.note(LISTING, REQUEST, RESPONSE, NOON)
    await world.settlements.verify()
    expect((await world.evidence())?.settlements_30d).toBe(1)
    expect(await world.evidence({ isContested: true })).toBeUndefined()
    await world.settlements.close()
  })

  test('one not yet mined is asked for again, with growing pauses', async () => {
    const node = aNode()
    const receipt = node.answers.eth_getTransactionReceipt
    node.answers.eth_getTransactionReceipt = null
    const world = open(await newStore(), node)
    world.settlements.note(LISTING, REQUEST, RESPONSE, NOON)
    await world.settlements.verify()
    expect(await world.states()).toEqual(['waiting not_mined'])
    const asked = node.asked.length
    await world.settlements.verify()
    expect(node.asked.length).toBe(asked)
    world.pass(2_000)
    await world.settlements.verify()
    expect(node.asked.length).toBeGreaterThan(asked)
    node.answers.eth_getTransactionReceipt = receipt
    world.pass(5_000)
    await world.settlements.verify()
    expect(await world.states()).toEqual(['counted'])
    await world.settlements.close()
  })

  test('one that is never found is given up after a week', async () => {
    const node = aNode()
    node.answers.eth_getTransactionReceipt = null
    const world = open(await newStore(), node)
    world.settlements.note(LISTING, REQUEST, RESPONSE, NOON)
    for (let n = 0; n < 60; n += 1) {
      await world.settlements.verify()
      world.pass(6 * 3_600_000)
    }
    expect(await world.states()).toEqual(['given_up not_mined'])
    expect(node.asked.length).toBeLessThan(80)
    await world.settlements.close()
  })

  test('a node that is down costs nothing but time; its URL is in no log', async () => {
    const node = aNode()
    node.down(true)
    const world = open(await newStore(), node)
    world.settlements.note(LISTING, REQUEST, RESPONSE, NOON)
    await world.settlements.verify()
    expect(await world.states()).toEqual(['waiting rpc_unavailable'])
    node.down(false)
    world.pass(60_000)
    await world.settlements.verify()
    expect(await world.states()).toEqual(['counted'])
    expect(world.logged.join('')).not.toContain('secret-key')
    await world.settlements.close()
  })

  test('a node of another chain is not believed', async () => {
    const node = aNode()
    node.answers.eth_chainId = '0x1'
    const world = open(await newStore(), node)
    world.settlements.note(LISTING, REQUEST, RESPONSE, NOON)
    await world.settlements.verify()
    expect(await world.states()).toEqual(['waiting rpc_unavailable'])
    await world.settlements.close()
  })

  test('too few confirmations wait, outside trials', async () => {
    const world = open(await newStore(), aNode(), false)
    world.settlements.note(LISTING, REQUEST, RESPONSE, NOON)
    await world.settlements.verify()
    // Test coins are worth nothing there, however deep they are buried.
    expect(await world.states()).toEqual(['refused asset_not_allowed'])
    await world.settlements.close()
  })

  test('survives a restart between the call and the look-up', async () => {
    const store = await newStore()
    const before = open(store, aNode())
    before.settlements.note(LISTING, REQUEST, RESPONSE, NOON)
    await before.settlements.close()
    const after = open(store, aNode())
    await after.settlements.verify()
    expect(await after.states()).toEqual(['counted'])
    await after.settlements.close()
  })

  test('two instances on one store look each check up once', async () => {
    const store = await newStore()
    const node = aNode()
    const [one, two] = [open(store, node), open(store, node)]
    one.settlements.note(LISTING, REQUEST, RESPONSE, NOON)
    await one.settlements.verify()
    await Promise.all([one.settlements.verify(), two.settlements.verify()])
    expect(node.asked.filter((method) => method === 'eth_getTransactionReceipt')).toHaveLength(1)
    await one.settlements.close()
    await two.settlements.close()
  })

  test('money that comes back within a day takes the settlement out again', async () => {
    const node = aNode()
    const world = open(await newStore(), node)
    world.settlements.note(LISTING, REQUEST, RESPONSE, NOON)
    await world.settlements.verify()
    expect((await world.evidence())?.settlements_30d).toBe(1)
    node.answers.eth_getLogs = [transferLog(7, { from: PAYOUT, to: PAYER, amount: 900 })]
    world.pass(24 * 3_600_000)
    await world.settlements.verify()
    expect(await world.states()).toEqual(['done'])
    expect(await world.evidence()).toMatchObject({
      settlements_30d: 0,
      verified_buyers_30d: 0,
      // Sent in the block of the payment itself.
      wash_flags: [{ flag: 'round_trip', settlements: 1 }],
    })
    await world.settlements.close()
  })

  test('no payout published, no check', async () => {
    const world = open(await newStore(), aNode())
    world.settlements.note({ ...LISTING, payout: [] }, REQUEST, RESPONSE, NOON)
    world.settlements.note({ ...LISTING, payout: [`eip155:1:${PAYOUT}`] }, REQUEST, RESPONSE, NOON)
    await world.settlements.verify()
    expect(await world.states()).toEqual([])
    await world.settlements.close()
  })

  test('a batch of two authorisations is two settlements', async () => {
    const node = aNode()
    const other = `0x${'11'.repeat(32)}`
    node.answers.eth_getTransactionReceipt = rawReceipt([
      usedLog(0, NONCE),
      transferLog(1),
      usedLog(2, other),
      transferLog(3),
    ])
    const world = open(await newStore(), node)
    const authorization = { ...PAYMENT_V2.payload.authorization, nonce: other }
    const second = { ...PAYMENT_V2, payload: { ...PAYMENT_V2.payload, authorization } }
    world.settlements.note(LISTING, REQUEST, RESPONSE, NOON)
    world.settlements.note(LISTING, ['PAYMENT-SIGNATURE', encode(second)], RESPONSE, NOON)
    await world.settlements.verify()
    expect((await world.evidence())?.settlements_30d).toBe(2)
    await world.settlements.close()
  })
})
