import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { applyRetention } from '../../functions/analytics/retention.ts'
import { CHANNEL_TOPICS } from '../../src/domain/settlement/schemes/batch-settlement.ts'
import { CHANNELS } from '../../src/domain/settlement/schemes/contracts.ts'
import { toTopic } from '../../src/domain/settlement/schemes/evm-log.ts'
import { DAY_MS, NOON, TOKEN, wallet } from '../settlements/samples.ts'
import {
  type Chain,
  createChain,
  createNode,
  type Faults,
  payment,
  type RawLog,
  transfer,
} from './chain-double.ts'
import { createMeter, openMeterStore, prove } from './meter-world.ts'

/** Schemes whose payments are more than two logs of a coin, over nodes that misbehave. */
const SHOP = wallet(1)
const BUYER = wallet(20)
const EXACT_PROXY = '0x402085c248eea27d92e8b30b2c58ed07f9e20001'
const [{ contract, collectors }] = CHANNELS
const CHANNEL = `0x${'c1'.repeat(32)}`

const word = (value: string | number) =>
  (typeof value === 'number' ? value.toString(16) : value.slice(2)).padStart(64, '0')
const data = (...values: (string | number)[]) => `0x${values.map(word).join('')}`

function byPermit2(from: string, amount: number) {
  const input = `0x13cd3b53${data(TOKEN, amount, 7, 9, from, SHOP, 0, 0).slice(2)}`
  const call = { from: wallet(900), to: EXACT_PROXY, input }
  return { logs: [transfer(from, SHOP, amount)], call }
}

const ofChannel = (topic: string, ...values: (string | number)[]): RawLog => ({
  address: contract,
  topics:
    topic === CHANNEL_TOPICS.opened ? [topic, CHANNEL] : [topic, CHANNEL, toTopic(wallet(900))],
  data: data(...values),
})

const deposit = (amount: number): RawLog[] => [
  ...payment(BUYER, collectors[0], amount),
  transfer(collectors[0], contract, amount),
  ofChannel(CHANNEL_TOPICS.deposit, amount, amount),
]
const opened = ofChannel(CHANNEL_TOPICS.opened, BUYER, wallet(0), SHOP, wallet(0), TOKEN, 900, 0)
const claim = (amount: number) => [ofChannel(CHANNEL_TOPICS.claim, amount, amount)]

let ledger: Awaited<ReturnType<typeof openMeterStore>>
beforeAll(async () => {
  ledger = await openMeterStore()
})
beforeEach(() => ledger.empty())
afterAll(() => ledger.close())

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
  const looked = node.asked.filter((method) => method === 'eth_getTransactionByHash')
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
  const looked = node.asked.filter((method) => method === 'eth_getTransactionByHash')
  expect(looked.length).toBeLessThanOrEqual(501)
})

test('what is paid by authorisation alone costs no look at a transaction, and channels none at all', async () => {
  const chain = aChain()
  chain.mine(payment(BUYER, SHOP, 1_000), [opened, ...deposit(5_000)], claim(2_000))
  const { node, meter, amounts } = await open(chain)
  await meter.run()
  expect(await amounts()).toEqual([1_000])
  expect(node.asked).not.toContain('eth_getTransactionByHash')
  // It names nobody's payout until the contract pays one: then it is read back, once.
  const before = node.asked.length
  chain.mine([transfer(contract, SHOP, 2_000)])
  await meter.run()
  expect(await amounts()).toEqual([1_000, 2_000])
  const reading = node.asked.length - before
  chain.mine(claim(3_000))
  const after = node.asked.length
  await meter.run()
  expect(await amounts()).toEqual([1_000, 2_000, 3_000])
  expect(node.asked.length - after).toBeLessThan(reading)
})

test('what somebody else deposits in the payer’s name pays for nothing', async () => {
  const chain = aChain()
  const foreign = [
    transfer(wallet(66), contract, 5_000),
    ofChannel(CHANNEL_TOPICS.deposit, 5_000, 5_000),
  ]
  chain.mine([opened, ...foreign], claim(2_000), [transfer(contract, SHOP, 2_000)])
  const { meter, amounts } = await open(chain)
  expect(await meter.run()).toMatchObject({ stopped: null })
  expect(await amounts()).toEqual([])
  chain.mine(deposit(300), claim(1_000))
  await meter.run()
  expect(await amounts()).toEqual([300])
})

test('a reorganisation of two hundred blocks takes back deposits, claims and what followed', async () => {
  const chain = aChain()
  chain.mine(payment(BUYER, SHOP, 10))
  const { meter, amounts } = await open(chain)
  await meter.run()
  chain.mine([opened, ...deposit(5_000)], claim(2_000), [transfer(contract, SHOP, 2_000)])
  for (let n = 0; n < 199; n += 1) chain.mine()
  await meter.run()
  expect(await amounts()).toEqual([10, 2_000])
  chain.reorganise(200)
  for (let n = 0; n < 210; n += 1) chain.mine()
  await meter.run()
  expect(await amounts()).toEqual([10])
  const left = await ledger.store.db.selectFrom('channel_event').selectAll().execute()
  expect(left).toEqual([])
  // On the branch that stayed nobody put money in: a claim there is worth nothing.
  chain.mine([opened], claim(2_000), [transfer(contract, SHOP, 2_000)])
  await meter.run()
  expect(await amounts()).toEqual([10])
})

test('a channel that is idle for long is forgotten whole, and that channels are read is not', async () => {
  const chain = aChain()
  chain.mine([opened, ...deposit(5_000)], claim(2_000), [transfer(contract, SHOP, 2_000)])
  const { meter } = await open(chain)
  await meter.run()
  const kept = async (days: number) => {
    await applyRetention(ledger.store, NOON + days * DAY_MS)
    const rows = await ledger.store.db.selectFrom('channel_event').select('kind').execute()
    return rows.map(({ kind }) => kind).sort()
  }
  expect(await kept(100)).toEqual(['claim', 'deposit', 'opened', 'opened'])
  expect(await kept(200)).toEqual(['opened'])
})

test('a deposit with a channel is nobody else who was paid', async () => {
  const chain = aChain()
  chain.mine([opened, ...deposit(5_000)], payment(BUYER, SHOP, 10))
  const { meter } = await open(chain)
  await meter.run()
  const paidOthers = () =>
    ledger.store.db.selectFrom('meter_payer').select('paid_others_block').execute()
  expect(await paidOthers()).toEqual([{ paid_others_block: null }])
  chain.mine(payment(BUYER, wallet(2), 10), payment(BUYER, SHOP, 10))
  await meter.run()
  expect(await paidOthers()).toEqual([{ paid_others_block: 2 }])
})
