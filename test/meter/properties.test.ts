import fc from 'fast-check'
import { expect, test } from 'vitest'
import { eip3009, TRANSFER_TOPIC, toTopic } from '../../src/domain/trust/evm-payments.ts'
import {
  aSettlement,
  aTransfer,
  BLOCK_HASH,
  DAY_MS,
  excludeWash,
  HASH,
  known,
  NOON,
  TOKEN,
  USED_TOPIC,
  wallet,
} from '../settlements/samples.ts'
import { forAllTests } from '../support/for-tests.ts'
import { drawsOf } from '../support/long.ts'
import { createChain, createNode, payment, type RawLog, transfer } from './chain-double.ts'
import { createMeter, openMeterStore, prove } from './meter-world.ts'

const SHOP = wallet(1)
const anyWallet = fc.integer({ min: 1, max: 6 }).map(wallet)

test('whatever the logs are, each authorisation pays for one transfer at most, of its own wallet', () => {
  const anyLog = fc.record({ isUse: fc.boolean(), from: anyWallet, amount: fc.nat(3) })
  fc.assert(
    fc.property(fc.array(anyLog, { maxLength: 30 }), (rows) => {
      const logs = rows.map(({ isUse, from, amount }, logIndex) => ({
        address: TOKEN,
        topics: [isUse ? USED_TOPIC : TRANSFER_TOPIC, toTopic(from), toTopic(SHOP)],
        data: isUse ? '0x' : `0x${amount.toString(16).padStart(64, '0')}`,
        logIndex,
        blockNumber: 1,
        blockHash: BLOCK_HASH,
        transactionHash: HASH,
      }))
      const uses = logs.filter(({ topics }) => topics[0] === USED_TOPIC)
      const transfers = logs.filter(({ topics }) => topics[0] === TRANSFER_TOPIC)
      const shown = eip3009.read({ logs: [...transfers, ...uses], call: null, coin: TOKEN })
      const paid = shown.map(({ log }) => log)
      expect(paid.length).toBeLessThanOrEqual(uses.length)
      for (const { logIndex, topics, data } of paid) {
        expect(logs[logIndex - 1]?.topics.slice(0, 2)).toEqual([USED_TOPIC, topics[1]])
        expect(BigInt(data)).toBeGreaterThan(0n)
      }
    }),
  )
})

test('one more transfer between wallets never makes more of a seller’s payments count', () => {
  const anyTransfer = fc.record({
    from: anyWallet,
    to: anyWallet,
    amount: fc.nat(20_000).map(String),
    at: fc.integer({ min: NOON - 40 * DAY_MS, max: NOON }),
    from_contract: fc.constantFrom(null, false),
  })
  const anyPayment = fc.record({
    payer: anyWallet,
    at: fc.integer({ min: NOON - 20 * DAY_MS, max: NOON }),
  })
  fc.assert(
    fc.property(
      fc.array(anyPayment, { maxLength: 20 }),
      fc.array(anyTransfer, { maxLength: 20 }),
      anyTransfer,
      (paid, moved, more) => {
        const settlements = paid.map((one) => aSettlement(one))
        const transfers = moved.map((one) => aTransfer(one))
        const count = (all: typeof transfers) =>
          excludeWash(settlements, known(all, { wallets: [SHOP] })).independent.length
        expect(count([...transfers, aTransfer(more)])).toBeLessThanOrEqual(count(transfers))
      },
    ),
  )
})

const ledger = forAllTests(openMeterStore)

test('whatever the chain holds and the node limits, the rows are its payments, once each', async () => {
  const { store, empty } = ledger
  const anyTransaction = fc.oneof(
    fc.record({ kind: fc.constant('pay'), from: anyWallet, to: anyWallet, amount: fc.nat(9) }),
    fc.record({ kind: fc.constant('send'), from: anyWallet, to: anyWallet, amount: fc.nat(9) }),
  )
  type Moved = Record<'kind' | 'from' | 'to', string> & { amount: number }
  const toLogs = ({ kind, from, to, amount }: Moved): RawLog[] =>
    kind === 'pay' ? payment(from, to, amount) : [transfer(from, to, amount)]
  const anyBlocks = fc.array(fc.array(anyTransaction, { maxLength: 4 }), { maxLength: 8 })
  await fc.assert(
    fc.asyncProperty(
      anyBlocks,
      anyBlocks,
      fc.nat(8),
      fc.integer({ min: 1, max: 5 }),
      async (before, after, depth, maxBlocks) => {
        await empty()
        await prove(store, [SHOP])
        const chain = createChain({ start: NOON - DAY_MS, blockMs: 60_000 })
        const meter = createMeter(store, createNode(chain, { maxBlocks }).rpc, () => NOON)
        for (const block of before) chain.mine(...block.map(toLogs))
        expect((await meter.run()).stopped).toBeNull()
        const taken = Math.min(depth, before.length)
        chain.reorganise(taken)
        for (const block of after) chain.mine(...block.map(toLogs))
        // A chain that is shorter than before is a node that lags, until it has grown.
        for (let n = 0; n < before.length; n += 1) chain.mine()
        expect((await meter.run()).stopped).toBeNull()
        const left = [...before.slice(0, before.length - taken), ...after].flat()
        const expected = left.filter(
          ({ kind, to, amount }) => kind === 'pay' && to === SHOP && amount > 0,
        )
        expect((await meter.rows()).map(({ payer, amount }) => `${payer} ${amount}`)).toEqual(
          expected.map(({ from, amount }) => `${from} ${amount}`),
        )
      },
    ),
    { numRuns: drawsOf(25) },
  )
})
