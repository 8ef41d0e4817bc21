import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readVerifiedSettlements } from '../../functions/settlements/read-verified-settlements.ts'
import { checkRows } from '../../packages/client/cli/check-rows.ts'
import { CHANNEL_TOPICS } from '../../src/domain/settlement/schemes/batch-settlement.ts'
import { CHANNELS, ESCROWS, RESERVE } from '../../src/domain/settlement/schemes/contracts.ts'
import { toTopic } from '../../src/domain/settlement/schemes/evm-log.ts'
import {
  MEMO_TRANSFER_TOPIC,
  markOfRealm,
} from '../../src/domain/settlement/schemes/tempo-charge.ts'
import type { LedgerPayee, LedgerPayment } from '../../src/domain/trust/ledger-payment.ts'
import { type Chain, createChain, payment, type RawLog, transfer } from '../meter/chain-double.ts'
import { createMeter, openMeterStore } from '../meter/meter-world.ts'
import { serveNode } from '../meter/serve-node.ts'
import { DAY_MS, NOON, TOKEN, wallet } from '../settlements/samples.ts'

/**
 * The rows that the meter writes of each scheme, held against the chain it read: none of them has a fault, and each
 * that is altered, invented or left out is found.
 */
const [SHOP, BUYER, STRANGER, OPERATOR, STORE] = [1, 20, 21, 901, 902].map(wallet) as [
  string,
  string,
  string,
  string,
  string,
]
const LISTING = { id: 'x402.0', host: 'shop.example' }
const PATH_USD = '0x20c0000000000000000000000000000000000000'
const [{ contract: BATCH, collectors: batchCollectors }] = CHANNELS
const [{ contract: ESCROW, collectors: escrowCollectors }] = ESCROWS

const word = (value: string | number) =>
  (typeof value === 'number' ? value.toString(16) : value.slice(2)).padStart(64, '0')
const words = (...values: (string | number)[]) => `0x${values.map(word).join('')}`
const log = (address: string, topics: string[], ...values: (string | number)[]): RawLog => ({
  address,
  topics,
  data: words(...values),
})
const idOf = (n: number) => `0x${n.toString(16).padStart(64, 'c')}`

function permitted(to: string, selector: string, ...said: (string | number)[]) {
  const call = { from: OPERATOR, to, input: `${selector}${words(...said).slice(2)}` }
  return { logs: [transfer(BUYER, SHOP, 3_000)], call }
}

/** A channel of a buyer's, to which its payer's own money came. */
const opened = (n: number, payee = SHOP): RawLog[] => [
  log(BATCH, [CHANNEL_TOPICS.opened, idOf(n)], BUYER, wallet(0), payee, wallet(0), TOKEN, 900, 0),
  ...payment(BUYER, batchCollectors[0], 5_000),
  transfer(batchCollectors[0], BATCH, 5_000),
  log(BATCH, [CHANNEL_TOPICS.deposit, idOf(n), toTopic(OPERATOR)], 5_000, 5_000),
]
const claimed = (n: number, amount: number, payee = SHOP): RawLog[] => [
  log(BATCH, [CHANNEL_TOPICS.claim, idOf(n), toTopic(OPERATOR)], amount, amount),
  transfer(BATCH, payee, amount),
]

const AUTHORIZED = '0x1c81fb2e3bab27f6bb09bee9a0dddf61600b7cbaf2c12683e4864e0cbdb9d284'
const CAPTURED = '0xac1e0db1957daedbc6944bcb4c8dc947ff8101d710671ac2ec26309f7f38d58e'
const REFUNDED = '0x1bf415371b303ca6b8bbb4ce479b177cba5ad15dbe0c9a7750a588aa6bcd25b2'
const authorized = (n: number): RawLog[] => {
  const terms = [OPERATOR, BUYER, SHOP, TOKEN, 9_000_000, 1, 2, 3, 0, 10_000, OPERATOR, 7]
  return [
    log(ESCROW, [AUTHORIZED, idOf(n)], ...terms, 6_000, escrowCollectors[0]),
    ...payment(BUYER, escrowCollectors[0], 6_000),
    transfer(escrowCollectors[0], STORE, 6_000),
  ]
}
const captured = (n: number, amount: number): RawLog[] => [
  log(ESCROW, [CAPTURED, idOf(n)], amount, 0, OPERATOR),
  transfer(STORE, SHOP, amount),
]

/** Every scheme of chains with the coin's own contract. */
function aChain(): Chain {
  const chain = createChain({ start: NOON - 2 * DAY_MS, blockMs: 3_600_000 })
  const [exact, upto] = [
    '0x402085c248eea27d92e8b30b2c58ed07f9e20001',
    '0x4020a4f3b7b90cca423b9fabcc0ce57c6c240002',
  ] as const
  chain.mine(payment(BUYER, SHOP, 1_000))
  chain.mine(permitted(exact, '0x13cd3b53', TOKEN, 3_000, 7, 9, BUYER, SHOP, 0, 0))
  chain.mine(permitted(upto, '0xff11e7b4', TOKEN, 5_000, 7, 9, 3_000, BUYER, SHOP, 0, 0))
  chain.mine(opened(1), opened(2, wallet(9)))
  chain.mine(claimed(1, 2_000))
  chain.mine(authorized(3))
  chain.mine(captured(3, 4_000))
  // What is no payment to the shop, though it looks a little like one.
  chain.mine([transfer(STRANGER, SHOP, 7_000)], claimed(2, 500, wallet(9)))
  chain.mine(payment(BUYER, SHOP, 1_001))
  return chain
}

const charged = (amount: number, realm = LISTING.host) => {
  const memo = `0xef1ed71201${markOfRealm(realm)}${'0'.repeat(34)}`
  const named = log(PATH_USD, [MEMO_TRANSFER_TOPIC, toTopic(BUYER), toTopic(SHOP), memo], amount)
  const call = { from: BUYER, to: PATH_USD, input: '0x' }
  return { logs: [transfer(BUYER, SHOP, amount, PATH_USD), named], call }
}

/** What happens to a session: its parties are in every event. */
const ofSession = (topic: string, ...values: (string | number)[]) =>
  log(RESERVE, [topic, idOf(4), toTopic(BUYER), toTopic(SHOP)], ...values)

/** Both schemes of Tempo. */
function aTempoChain(): Chain {
  const chain = createChain({ start: NOON - 2 * DAY_MS, blockMs: 3_600_000 })
  chain.mine(charged(1_000))
  chain.mine([
    transfer(BUYER, RESERVE, 9_000, PATH_USD),
    ofSession(
      '0xdebaba36f0e9c7978f536fed432d9360b1f9646d7ca88531c34c3eae43f154a7',
      ...[wallet(0), PATH_USD, wallet(0), 0, 0, 9_000],
    ),
  ])
  chain.mine([
    transfer(RESERVE, SHOP, 2_000, PATH_USD),
    ofSession(
      '0x11c4e4c79ad8802431b44c15047ed1ddb82fbfc1abd452c765f7ee3990df1399',
      2_000,
      2_000,
      2_000,
    ),
  ])
  chain.mine([transfer(STRANGER, SHOP, 7_000, PATH_USD)], charged(800, 'other.example'))
  chain.mine(charged(1_001))
  return chain
}

const ledger = openMeterStore()
afterAll(async () => (await ledger).close())

/** What the meter makes of a chain, and a node that tells it. */
async function measured(chain: Chain, network: string, chainId: number) {
  const { store, empty } = await ledger
  await empty()
  const node = await serveNode(chain, chainId)
  const payout = `${network}:${SHOP}`
  const payees: LedgerPayee[] = [
    { payee: payout, owner: LISTING.host, proof: 'published', listings: [LISTING.id] },
  ]
  const published = [{ payout, listing_id: LISTING.id, host: LISTING.host }]
  await createMeter(store, node.rpc, chain.now, { network, published }).run()
  const { payments } = await readVerifiedSettlements(store, () => payees, NOON)
  const as_of = new Date(NOON).toISOString()
  const faultsOf = (rows: readonly LedgerPayment[]) =>
    checkRows(node.url, { as_of, payees, seeds: [], payments: rows }, LISTING)
  return { payments, faultsOf, close: node.close }
}

type World = Awaited<ReturnType<typeof measured>>

describe.each([
  [
    'eip155:84532',
    84_532,
    aChain,
    ['eip3009', 'permit2_exact', 'permit2_upto', 'batch_settlement', 'auth_capture', 'eip3009'],
  ],
  ['eip155:42431', 42_431, aTempoChain, ['tempo_charge', 'tempo_session', 'tempo_charge']],
] as const)('on %s', (network, chainId, build, schemes) => {
  const chain = build()
  let world: World
  beforeAll(async () => {
    world = await measured(chain, network, chainId)
  })
  afterAll(() => world.close())

  test('the meter’s own rows have no fault', async () => {
    expect(world.payments.map(({ scheme }) => scheme)).toEqual(schemes)
    expect(await world.faultsOf(world.payments)).toEqual([])
  })

  const ALTERED: [string, (row: LedgerPayment) => LedgerPayment][] = [
    ['amount', (row) => ({ ...row, amount: '999', usd_micro: 999 })],
    ['payer', (row) => ({ ...row, payer: STRANGER })],
    ['payee', (row) => ({ ...row, payee: wallet(9) })],
    ['time', (row) => ({ ...row, at: row.at - 1_000 })],
    ['place', (row) => ({ ...row, log: row.log + 1 })],
    [
      'scheme',
      (row) => ({ ...row, scheme: row.scheme === 'eip3009' ? 'upto' : 'eip3009' }) as never,
    ],
  ]

  test.each(ALTERED)('another %s in one row of any scheme is found', async (_what, alter) => {
    for (const scheme of new Set(schemes)) {
      const at = world.payments.findIndex((row) => row.scheme === scheme)
      const rows = world.payments.map((row, n) => (n === at ? alter(row) : row))
      expect([scheme, await world.faultsOf(rows)]).toEqual([
        scheme,
        expect.arrayContaining([expect.any(String)]),
      ])
    }
  })

  test('one row that is missing of any scheme is found', async () => {
    for (const scheme of new Set(schemes)) {
      const at = world.payments.findIndex((row) => row.scheme === scheme)
      const rows = world.payments.filter((_, n) => n !== at)
      expect([scheme, await world.faultsOf(rows)]).toEqual([
        scheme,
        [
          `${world.payments[at]?.transaction} log ${world.payments[at]?.log}: the rows do not have this payment`,
        ],
      ])
    }
  })

  test('a row that is invented, out of any log there is and as any scheme, is found', async () => {
    for (const scheme of new Set(schemes)) {
      const invented = inventRows(chain, world.payments, scheme)
      const places = (await world.faultsOf([...world.payments, ...invented])).map(
        (fault) => fault.split(':')[0],
      )
      expect([scheme, places]).toEqual([
        scheme,
        expect.arrayContaining(invented.map((row) => `${row.transaction} log ${row.log}`)),
      ])
      expect(places).toHaveLength(invented.length)
    }
  })
})

/** A row for each log of a chain that none has. */
function inventRows(
  chain: Chain,
  rows: readonly LedgerPayment[],
  scheme: LedgerPayment['scheme'],
): LedgerPayment[] {
  const [sample] = rows
  if (sample === undefined) throw new Error('there are payments')
  const places = new Set(rows.map((row) => `${row.transaction} ${row.log}`))
  const invented = chain.blocks.flatMap(({ at, logs }) =>
    logs.map(({ transactionHash, logIndex, data }) => {
      const first = Number(String(data).slice(0, 66))
      const money = first > 0 && first < 1_000_000 ? first : 700
      const place = { transaction: String(transactionHash), log: Number(logIndex) }
      return { ...sample, ...place, at, scheme, amount: String(money), usd_micro: money }
    }),
  )
  return invented.filter((row) => !places.has(`${row.transaction} ${row.log}`))
}

test('what is refunded after the rows were read may be in them or not', async () => {
  const chain = aChain()
  const refund = [log(ESCROW, [REFUNDED, idOf(3)], 1_500, OPERATOR)]
  const before = await measured(chain, 'eip155:84532', 84_532)
  chain.mine(refund)
  expect(await before.faultsOf(before.payments)).toEqual([])
  const after = await measured(chain, 'eip155:84532', 84_532)
  expect(after.payments.map(({ amount }) => amount)).toContain('2500')
  expect(await after.faultsOf(after.payments)).toEqual([])
  const altered = after.payments.map((row) =>
    row.amount === '2500' ? { ...row, amount: '2600', usd_micro: 2_600 } : row,
  )
  expect(await after.faultsOf(altered)).toHaveLength(1)
  for (const { close } of [before, after]) close()
})
