import { beforeEach, expect, test } from 'vitest'
import { DEPOSIT_PLACES } from '../../src/domain/trust/evm-payments.ts'
import { DAY_MS, NOON, wallet } from '../settlements/samples.ts'
import { forAllTests } from '../support/for-tests.ts'
import {
  type Chain,
  createChain,
  createNode,
  type Faults,
  payment,
  permitted,
  type RawLog,
  transfer,
} from './chain-double.ts'
import { createMeter, openMeterStore, prove } from './meter-world.ts'

/** Schemes whose payments are more than two logs of a coin, over nodes that misbehave. */
const SHOP = wallet(1)
const BUYER = wallet(20)
const [contract = '', collector = ''] = DEPOSIT_PLACES

const byPermit2 = (from: string, amount: number) => permitted(from, SHOP, amount)

const deposit = (amount: number): RawLog[] => [
  ...payment(BUYER, collector, amount),
  transfer(collector, contract, amount),
]

const ledger = forAllTests(() => openMeterStore())
beforeEach(() => ledger.empty())

async function open(chain: Chain, faults: Faults = {}, payouts = [SHOP]) {
  await prove(ledger.store, payouts)
  const node = createNode(chain, faults)
  const meter = createMeter(ledger.store, node.rpc, chain.now)
  const amounts = async () => (await meter.rows()).map(({ amount }) => Number(amount))
  return { node, meter, amounts }
}

const aChain = () => createChain({ start: NOON - DAY_MS, blockMs: 60_000 })

test.each([
  ['of another hash', { hash: `0x${'00'.repeat(32)}` }],
  ['of another block', { blockHash: `0x${'00'.repeat(32)}` }],
  ['without a sender', { from: undefined }],
])('a node that tells a transaction %s is believed nothing', async (_name, lie) => {
  const chain = aChain()
  chain.mine(byPermit2(BUYER, 1_000))
  const { node, meter, amounts } = await open(chain)
  node.faults.instead = (method, params) =>
    method === 'eth_getTransactionByHash'
      ? { ...(node.answer(method, params) as object), ...lie }
      : undefined
  expect(await meter.run()).toMatchObject({ payments: 0, stopped: expect.any(String) })
  expect(await amounts()).toEqual([])
  delete node.faults.instead
  expect(await meter.run()).toMatchObject({ payments: 1, stopped: null })
  expect(await amounts()).toEqual([1_000])
})

test('a node that lacks a transaction is read on when it has it', async () => {
  const chain = aChain()
  chain.mine(byPermit2(BUYER, 1_000))
  const { node, meter } = await open(chain)
  node.faults.instead = (method) => (method === 'eth_getTransactionByHash' ? null : undefined)
  expect((await meter.run()).stopped).toContain('eth_getTransactionByHash')
  delete node.faults.instead
  expect(await meter.run()).toMatchObject({ payments: 1, stopped: null })
})

test('a flood of transfers hides no payment that is worth more, and costs a bounded number of requests', async () => {
  const chain = aChain()
  const dust = [30, 31].map((n) => transfer(wallet(n), SHOP, 1))
  // A transaction is looked up once: their number is what costs, not that of their transfers.
  for (let n = 0; n < 6; n += 1) chain.mine(...Array.from({ length: 100 }, () => dust))
  chain.mine(byPermit2(BUYER, 1_000))
  const { node, meter, amounts } = await open(chain)
  await meter.run()
  expect(await amounts()).toEqual([1_000])
  const looked = node.requested.filter((method) => method === 'eth_getTransactionByHash')
  expect(looked.length).toBeLessThanOrEqual(500)
})

test('a flood of large transfers to a payout of a rival’s own hides no payment to anybody else', async () => {
  const chain = aChain()
  const rival = wallet(2)
  // The money comes back to the rival: all that it costs is fees.
  for (let n = 0; n < 6; n += 1)
    chain.mine(...Array.from({ length: 100 }, () => [transfer(wallet(30), rival, 5_000_000)]))
  chain.mine(byPermit2(BUYER, 1_000))
  const { node, meter, amounts } = await open(chain, {}, [SHOP, rival])
  await meter.run()
  expect(await amounts()).toEqual([1_000])
  const looked = node.requested.filter((method) => method === 'eth_getTransactionByHash')
  expect(looked.length).toBeLessThanOrEqual(501)
})

test('what is paid by authorisation alone, or out of a contract that holds deposits, costs no look at a transaction', async () => {
  const chain = aChain()
  chain.mine(payment(BUYER, SHOP, 1_000), deposit(5_000), [transfer(contract, SHOP, 2_000)])
  const { node, meter, amounts } = await open(chain)
  await meter.run()
  expect(await amounts()).toEqual([1_000])
  expect(node.requested).not.toContain('eth_getTransactionByHash')
})

test('a deposit is nobody else who was paid', async () => {
  const chain = aChain()
  chain.mine(deposit(5_000), payment(BUYER, SHOP, 10))
  const { meter } = await open(chain)
  await meter.run()
  const paidOthers = () =>
    ledger.store.db.selectFrom('meter_payer').select('paid_others_block').execute()
  expect(await paidOthers()).toEqual([{ paid_others_block: null }])
  chain.mine(payment(BUYER, wallet(2), 10), payment(BUYER, SHOP, 10))
  await meter.run()
  expect(await paidOthers()).toEqual([{ paid_others_block: 2 }])
})
