import { hash } from 'node:crypto'
import { expect, test } from 'vitest'
import { authorizationMarkOf } from '../../src/domain/relay/delivered.ts'
import { DAY_MS, NETWORK, NOON, wallet } from '../settlements/samples.ts'
import { IS_LONG } from '../support/long.ts'
import { describeStores } from '../support/stores.ts'
import { type Chain, createChain, createNode, payment, transfer } from './chain-double.ts'
import { createMeter, emptyMeter, prove } from './meter-world.ts'

const ROUNDS = IS_LONG ? 1_000 : 200
const SHOP = wallet(1)
const OTHER = wallet(2)
const buyer = (n: number) => wallet(10 + n)
const aChain = () => createChain({ start: NOON - 2 * DAY_MS, blockMs: 60_000 })

describeStores('the meter', ({ newStore }) => {
  const open = async (chain: Chain, payouts = [SHOP]) => {
    const store = await newStore()
    await prove(store, payouts)
    const node = createNode(chain)
    return { store, node, meter: createMeter(store, node.rpc, chain.now) }
  }

  test('counts thousands of authorised payments to a proven payout, and direct transfers for nothing', async () => {
    const chain = aChain()
    for (let n = 0; n < ROUNDS; n += 1)
      chain.mine(
        payment(buyer(n % 40), SHOP, 1_000 + (n % 7)),
        [transfer(buyer(n % 40), SHOP, 5_000)],
        [...payment(buyer(60), SHOP, 2_000), ...payment(buyer(61), SHOP, 3_000)],
        payment(buyer(62), OTHER, 9_000),
      )
    const { meter, node } = await open(chain)
    node.faults.maxBlocks = ROUNDS / 3
    expect(await meter.run()).toMatchObject({
      ...{ payments: 3 * ROUNDS, read: ROUNDS + 1, stopped: null },
    })
    const { settlements, metered } = await meter.facts([SHOP])
    expect(settlements.get('x402.0')).toMatchObject({
      source: 'service_verified',
      verified_buyers_30d: 42,
      settlements_30d: IS_LONG ? 420 : 220,
      raw: { payers: 42, settlements: 3 * ROUNDS, volume_usd: IS_LONG ? 6.002997 : 1.200594 },
      wash_flags: [],
    })
    expect([...metered]).toEqual(['x402.0'])
  })

  test('writes down which authorisation each payment used', async () => {
    const chain = aChain()
    const paid = payment(buyer(1), SHOP, 1_000)
    chain.mine(paid)
    const { meter, store } = await open(chain)
    await meter.run()
    const payee = { network: NETWORK, payee: SHOP, payer: buyer(1) }
    const mark = authorizationMarkOf(payee, paid[0]?.topics[2] ?? '')
    expect(await store.db.selectFrom('settlement').select('authorization_hash').execute()).toEqual([
      { authorization_hash: hash('sha256', mark) },
    ])
  })

  test('goes on where it stopped, and reads again from a day without counting twice', async () => {
    const chain = aChain()
    chain.mine(payment(buyer(1), SHOP, 1_000))
    const { meter, store } = await open(chain)
    expect(await meter.run()).toMatchObject({ payments: 1, read: 2 })
    expect(await meter.run()).toMatchObject({ payments: 0, read: 0 })
    chain.mine(payment(buyer(1), SHOP, 1_000), payment(buyer(2), SHOP, 1_000))
    expect(await meter.run()).toMatchObject({ payments: 2, read: 1 })
    const rows = await meter.rows()
    expect(await meter.run(NOON - 3 * DAY_MS)).toMatchObject({ payments: 3, read: 3 })
    expect(await meter.rows()).toEqual(rows)
    expect(rows).toHaveLength(3)
    // A payout that is proven later is read alone up to where the others are, and from there with them.
    await prove(store, [OTHER], NETWORK, { id: 'x402.other', host: 'other.example' })
    chain.mine(payment(buyer(3), SHOP, 1_000), payment(buyer(3), OTHER, 1_000))
    expect(await meter.run()).toMatchObject({ payments: 2, read: 4 })
  })

  test('takes back what is on the chain no more, however deep, and counts what is there instead', async () => {
    const chain = aChain()
    const { meter, store } = await open(chain)
    for (let n = 1; n <= 6; n += 1) {
      chain.mine(payment(buyer(n), SHOP, 1_000 * n), [transfer(SHOP, buyer(n), 1)])
      await meter.run()
    }
    chain.reorganise(4)
    chain.mine(payment(buyer(7), SHOP, 70_000))
    chain.mine(payment(buyer(3), SHOP, 3_000))
    const amounts = async () => (await meter.rows()).map(({ amount }) => amount)
    await meter.run()
    expect(await amounts()).toEqual(['1000', '2000', '70000', '3000'])
    const sent = await store.db.selectFrom('wallet_transfer').select('receiver').execute()
    expect(sent.map(({ receiver }) => receiver).sort()).toEqual([buyer(1), buyer(2)])
    expect(meter.logged.join()).toContain('"event":"meter.reorganised"')
    // The whole chain, its first block too.
    chain.reorganise(5)
    chain.mine(payment(buyer(8), SHOP, 8_000))
    for (let n = 0; n < 6; n += 1) chain.mine()
    await meter.run()
    expect(await amounts()).toEqual(['8000'])
    const payers = await store.db.selectFrom('meter_payer').select('payer').execute()
    expect(payers).toEqual([{ payer: buyer(8) }])
  })

  test('killed after any number of requests, ends where an unbroken run does', async () => {
    const chain = aChain()
    for (let n = 0; n < 12; n += 1)
      chain.mine(payment(buyer(n % 5), SHOP, 1_000 + n), [transfer(wallet(900), buyer(n), 2_000)])
    const whole = await open(chain)
    whole.node.faults.maxBlocks = 4
    await whole.meter.run()
    const broken = await open(chain)
    broken.node.faults.maxBlocks = 4
    let left = 1
    broken.node.faults.instead = () => {
      left -= 1
      if (left < 0) throw new Error('killed')
    }
    let kills = 0
    for (let patience = 2; ; patience += 3) {
      left = patience
      const died = await broken.meter.start().then(
        () => false,
        () => true,
      )
      if (!died) break
      kills += 1
    }
    expect(kills).toBeGreaterThan(5)
    const tables = ['settlement', 'wallet_transfer', 'meter_payer', 'meter_cursor'] as const
    for (const table of tables) {
      const rowsOf = async ({ store }: typeof whole) =>
        JSON.stringify(
          (await store.db.selectFrom(table).selectAll().execute()).map((row) => row),
          null,
          1,
        )
          .split('\n')
          .sort()
      expect(await rowsOf(broken), table).toEqual(await rowsOf(whole))
    }
  })

  test('a proof that ended ends metering, and its payments count for nobody', async () => {
    const chain = aChain()
    chain.mine(payment(buyer(1), SHOP, 1_000))
    const { meter, store } = await open(chain)
    await meter.run()
    expect((await meter.facts([SHOP])).metered.size).toBe(1)
    await store.db.updateTable('claim').set({ state: 'lapsed' }).execute()
    const { metered, settlements } = await meter.facts([])
    expect([metered.size, settlements.size]).toEqual([0, 0])
    expect(await meter.start()).toEqual([])
  })

  test('of two processes one does, and a lease that nobody extends is taken over', async () => {
    const chain = aChain()
    chain.mine(payment(buyer(1), SHOP, 1_000))
    const store = await newStore()
    await prove(store, [SHOP])
    const node = createNode(chain)
    let now = chain.now()
    const [one, other] = [1, 2].map(() => createMeter(store, node.rpc, () => now))
    const held = Promise.withResolvers<void>()
    const entered = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const answer = node.rpc.call
    let calls = 0
    node.rpc.call = async (...call) => {
      entered[calls]?.resolve()
      calls += 1
      await held.promise
      return answer(...call)
    }
    const first = one?.start()
    await entered[0]?.promise
    expect(await other?.start()).toBeNull()
    now += 11 * 60_000
    const second = other?.start()
    await entered[1]?.promise
    // The lease is the second one's now: the first finds out at its next step.
    held.resolve()
    const reports = [await first, await second].flat()
    expect(reports.map((report) => report?.stopped).sort()).toEqual(
      [null, 'another process took over'].sort(),
    )
    expect(await one?.rows()).toHaveLength(1)
  })

  test('a process that is suspended at any moment writes nothing beside what another one read since', async () => {
    const store = await newStore()
    const endings = new Set<string | null>()
    for (let call = 1, isOver = false; !isOver; call += 1) {
      await emptyMeter(store)
      await prove(store, [SHOP])
      const chain = aChain()
      chain.mine(payment(buyer(1), SHOP, 1_000))
      chain.mine(payment(buyer(2), SHOP, 2_000))
      let now = chain.now()
      const node = createNode(chain)
      const { promise: suspended, resolve: suspend } = Promise.withResolvers<'suspended'>()
      const { promise: woken, resolve: wake } = Promise.withResolvers<void>()
      let calls = 0
      const rpc = {
        call: async (...requested: Parameters<typeof node.rpc.call>) => {
          const answer = await node.rpc.call(...requested)
          calls += 1
          if (calls === call) {
            suspend('suspended')
            await woken
          }
          return answer
        },
      } as typeof node.rpc
      const first = createMeter(store, rpc, () => now)
      const report = first.run()
      isOver = (await Promise.race([suspended, report.then(() => 'done')])) === 'done'
      now += 11 * 60_000
      chain.reorganise(1)
      chain.mine(payment(buyer(3), SHOP, 3_000))
      await createMeter(store, node.rpc, () => now).run()
      wake()
      endings.add((await report).stopped)
      const amounts = (await first.rows()).map(({ amount }) => amount)
      expect(amounts, `suspended after call ${call}`).toEqual(['1000', '3000'])
    }
    expect([...endings]).toEqual(expect.arrayContaining(['another process took over', null]))
  })
})
