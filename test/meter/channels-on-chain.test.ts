import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { CHANNEL_TOPICS } from '../../src/domain/settlement/schemes/batch-settlement.ts'
import { CHANNELS, ESCROWS } from '../../src/domain/settlement/schemes/contracts.ts'
import { toTopic } from '../../src/domain/settlement/schemes/evm-log.ts'
import { DAY_MS, NOON, TOKEN, wallet } from '../settlements/samples.ts'
import {
  type Chain,
  createChain,
  createNode,
  payment,
  type RawLog,
  transfer,
} from './chain-double.ts'
import { createMeter, openMeterStore, prove } from './meter-world.ts'

/** Money that waits in an escrow or a reserve before it is the seller's, and what becomes of it later. */
const SHOP = wallet(1)
const BUYER = wallet(20)
const OPERATOR = wallet(901)
const STORE = wallet(902)
const [{ contract: ESCROW, collectors }] = ESCROWS
const PAYMENT = `0x${'a1'.repeat(32)}`

const word = (value: string | number) =>
  (typeof value === 'number' ? value.toString(16) : value.slice(2)).padStart(64, '0')
const data = (...values: (string | number)[]) => `0x${values.map(word).join('')}`
const log = (address: string, topics: string[], ...values: (string | number)[]): RawLog => ({
  address,
  topics,
  data: data(...values),
})

let ledger: Awaited<ReturnType<typeof openMeterStore>>
beforeAll(async () => {
  ledger = await openMeterStore()
})
beforeEach(() => ledger.empty())
afterAll(() => ledger.close())

async function open(chain: Chain, { network = 'eip155:84532', chainId = 84_532 } = {}) {
  await prove(ledger.store, [SHOP], network)
  const node = createNode(chain, {}, chainId)
  const meter = createMeter(ledger.store, node.rpc, chain.now, { network })
  const counted = async () => {
    await meter.run()
    return (await meter.rows()).map(({ payer, amount }) => `${payer} ${amount}`)
  }
  return { node, meter, counted }
}

const aChain = () => createChain({ start: NOON - DAY_MS, blockMs: 60_000 })

describe('batch-settlement', () => {
  const [{ contract: BATCH, collectors: own }] = CHANNELS
  const FORGER = wallet(906)
  const OTHER_SHOP = wallet(2)
  const id = (n: number) => `0x${String(n).repeat(64)}`
  const opened = (n: number, payer: string, receiver: string) =>
    log(BATCH, [CHANNEL_TOPICS.opened, id(n)], payer, wallet(0), receiver, wallet(0), TOKEN, 900, 0)
  const deposited = (n: number, amount: number) =>
    log(BATCH, [CHANNEL_TOPICS.deposit, id(n), toTopic(FORGER)], amount, amount)
  const claim = (n: number, amount: number): RawLog[] => [
    log(BATCH, [CHANNEL_TOPICS.claim, id(n), toTopic(FORGER)], amount, amount),
    transfer(BATCH, SHOP, amount),
  ]
  /** What the payer signed for, by the contract's own collector. */
  const genuine = (payer: string, amount: number): RawLog[] => [
    ...payment(payer, own[0], amount),
    transfer(own[0], BATCH, amount),
  ]
  const forgers = (amount: number) => transfer(FORGER, BATCH, amount)

  test.each<[string, RawLog[]]>([
    ['after it', [...genuine(BUYER, 700), deposited(1, 700), forgers(700), deposited(2, 700)]],
    ['before it', [forgers(700), deposited(2, 700), ...genuine(BUYER, 700), deposited(1, 700)]],
    [
      'around it, the forger’s money first',
      [forgers(700), ...genuine(BUYER, 700), deposited(1, 700), deposited(2, 700)],
    ],
    ['around it, without money', [...genuine(BUYER, 700), deposited(1, 700), deposited(2, 700)]],
  ])('a stranger’s deposit with another seller proves none in his name %s', async (_name, logs) => {
    const chain = aChain()
    chain.mine([opened(1, BUYER, OTHER_SHOP), opened(2, BUYER, SHOP), ...logs])
    chain.mine(claim(2, 700))
    const { counted } = await open(chain)
    expect(await counted()).toEqual([])
  })

  test('two deposits of one amount in one transaction prove one each', async () => {
    const chain = aChain()
    const honest = [...genuine(BUYER, 700), opened(1, BUYER, SHOP), deposited(1, 700)]
    chain.mine([...honest, forgers(700), opened(2, wallet(21), SHOP), deposited(2, 700)])
    chain.mine(claim(1, 700), claim(2, 700))
    const { counted } = await open(chain)
    expect(await counted()).toEqual([`${BUYER} 700`])
  })
})

describe('auth-capture', () => {
  const TOPICS = {
    charged: '0x137b0e73e4453f43c2e1ad2552980a0e0c7e988764619974ca26d37a7159940c',
    authorized: '0x1c81fb2e3bab27f6bb09bee9a0dddf61600b7cbaf2c12683e4864e0cbdb9d284',
    captured: '0xac1e0db1957daedbc6944bcb4c8dc947ff8101d710671ac2ec26309f7f38d58e',
    voided: '0xcadce8c3acb008e3e1c64ca7f60d22a3c87069183182b7dbb9e4d8cfb3a15842',
    refunded: '0x1bf415371b303ca6b8bbb4ce479b177cba5ad15dbe0c9a7750a588aa6bcd25b2',
  }
  interface Terms {
    amount: number
    payer?: string
    receiver?: string
    token?: string
    collector?: string
    fee?: number
    id?: string
    escrow?: string
  }
  const terms = ({ payer = BUYER, receiver = SHOP, token = TOKEN, amount, collector }: Terms) => [
    ...[OPERATOR, payer, receiver, token, 9_000_000, 1, 2, 3, 0, 10_000, OPERATOR, 7],
    amount,
    collector ?? collectors[0],
  ]
  const authorize = (paid: Terms): RawLog[] => [
    log(paid.escrow ?? ESCROW, [TOPICS.authorized, paid.id ?? PAYMENT], ...terms(paid)),
    ...payment(paid.payer ?? BUYER, paid.collector ?? collectors[0], paid.amount),
    transfer(paid.collector ?? collectors[0], STORE, paid.amount),
  ]
  const charge = (paid: Terms): RawLog[] => {
    const { amount, fee = 0, id = PAYMENT, escrow = ESCROW } = paid
    return [
      log(escrow, [TOPICS.charged, id], ...terms(paid), fee, OPERATOR),
      transfer(STORE, paid.receiver ?? SHOP, Math.max(0, amount - fee)),
    ]
  }
  const capture = (amount: number, fee = 0, id = PAYMENT): RawLog[] => [
    log(ESCROW, [TOPICS.captured, id], amount, fee, OPERATOR),
    ...(fee > 0 ? [transfer(STORE, OPERATOR, fee)] : []),
    ...(amount > fee ? [transfer(STORE, SHOP, amount - fee)] : []),
  ]
  const voided = (amount: number) => [log(ESCROW, [TOPICS.voided, PAYMENT], amount)]
  const refund = (amount: number, id = PAYMENT): RawLog[] => [
    log(ESCROW, [TOPICS.refunded, id], amount, OPERATOR),
    transfer(OPERATOR, STORE, amount),
    transfer(STORE, BUYER, amount),
  ]

  test('is counted where the seller is paid, after the fee, and less what is refunded days later', async () => {
    const chain = aChain()
    chain.mine(authorize({ amount: 5_000 }))
    const { counted } = await open(chain)
    expect(await counted()).toEqual([])
    chain.mine(capture(2_000, 500), capture(1_000))
    expect(await counted()).toEqual([`${BUYER} 1500`, `${BUYER} 1000`])
    chain.mine(voided(2_000))
    chain.mine(refund(1_200))
    // The last capture is given back first, and of the first one a part.
    expect(await counted()).toEqual([`${BUYER} 1300`])
    chain.mine(refund(1_800))
    expect(await counted()).toEqual([])
  })

  test.each<[string, Terms]>([
    [
      'by a collector of the operator’s own, in a stranger’s name',
      { amount: 900, collector: wallet(903) },
    ],
    ['to another seller', { amount: 900, receiver: wallet(2) }],
    ['in another coin', { amount: 900, token: wallet(904) }],
    ['by an escrow of the operator’s own', { amount: 900, escrow: wallet(905) }],
    ['whose whole amount is a fee', { amount: 900, fee: 900 }],
    ['of nothing', { amount: 0 }],
    ['whose fee is more than the amount', { amount: 900, fee: 901 }],
  ])('a charge %s is nothing', async (_name, paid) => {
    const chain = aChain()
    const id = `0x${'a2'.repeat(32)}`
    chain.mine(charge({ amount: 700 }), charge({ ...paid, id }), [transfer(STORE, SHOP, 55)])
    const { counted } = await open(chain)
    expect(await counted()).toEqual([`${BUYER} 700`])
  })

  test('more is never captured than was authorised, whatever a node says', async () => {
    const chain = aChain()
    chain.mine(authorize({ amount: 1_000 }), capture(800), capture(700))
    // What nobody authorised, and what was authorised for others.
    chain.mine(capture(600, 0, `0x${'a3'.repeat(32)}`))
    const { counted } = await open(chain)
    expect(await counted()).toEqual([`${BUYER} 800`, `${BUYER} 200`])
  })

  test('the first version’s fees are shares, and it is read as well', async () => {
    const chain = aChain()
    const [, { contract: first, collectors: own }] = ESCROWS
    const paid = { amount: 1_000, collector: own[0], escrow: first }
    const charged = '0x943ae4341dd799d7aeedc501f616cd26b134639e0bc2ec059581ba3ebbf1e7d0'
    const share = [log(first, [charged, PAYMENT], ...terms(paid), 250, OPERATOR)]
    chain.mine([...share, transfer(STORE, OPERATOR, 25), transfer(STORE, SHOP, 975)])
    const { counted } = await open(chain)
    expect(await counted()).toEqual([`${BUYER} 975`])
  })

  test('a refund on a branch that is left gives the payment back', async () => {
    const chain = aChain()
    chain.mine(charge({ amount: 1_000 }))
    const { counted } = await open(chain)
    expect(await counted()).toEqual([`${BUYER} 1000`])
    chain.mine(refund(1_000))
    for (let n = 0; n < 199; n += 1) chain.mine()
    expect(await counted()).toEqual([])
    chain.reorganise(200)
    for (let n = 0; n < 210; n += 1) chain.mine()
    expect(await counted()).toEqual([`${BUYER} 1000`])
  })

  test('escrows are asked about only beside an unexplained transfer, and no transaction is looked up', async () => {
    const chain = aChain()
    chain.mine(payment(BUYER, SHOP, 10), authorize({ amount: 1_000 }))
    const { node, counted } = await open(chain)
    let asked = 0
    node.faults.instead = (method, params) => {
      if (method === 'eth_getLogs' && JSON.stringify(params).includes(ESCROW)) asked += 1
      return undefined
    }
    await counted()
    expect(asked).toBe(0)
    chain.mine(capture(400))
    await counted()
    expect(asked).toBeGreaterThan(0)
    expect(node.asked).not.toContain('eth_getTransactionByHash')
    expect(await counted()).toEqual([`${BUYER} 10`, `${BUYER} 400`])
  })
})

describe('a session on Tempo', () => {
  const COIN = '0x20c0000000000000000000000000000000000000'
  const RESERVE = '0x4d50500000000000000000000000000000000000'
  const TOPICS = {
    opened: '0xdebaba36f0e9c7978f536fed432d9360b1f9646d7ca88531c34c3eae43f154a7',
    toppedUp: '0x2a96f534665f3150977dd4c35d91373c74030288edbb3cf83c527dd25012364f',
    settled: '0x11c4e4c79ad8802431b44c15047ed1ddb82fbfc1abd452c765f7ee3990df1399',
    closed: '0x5613aed96d5bf39f928408dbe1d4143490b9bb5957eac2dd8e69b5dc4b2206e6',
  }
  const CHANNEL = `0x${'c1'.repeat(32)}`
  const session = ({
    payer = BUYER,
    payee = SHOP,
    coin = COIN,
    id = CHANNEL,
    reserve = RESERVE,
  } = {}) => {
    const say = (topic: string, ...values: (string | number)[]) =>
      log(reserve, [topic, id, toTopic(payer), toTopic(payee)], ...values)
    const pay = (amount: number) => transfer(reserve, payee, amount, coin)
    return {
      open: (deposit: number) => [
        transfer(payer, reserve, deposit, coin),
        say(TOPICS.opened, wallet(0), coin, wallet(0), 0, 0, deposit),
      ],
      topUp: (amount: number) => [
        transfer(payer, reserve, amount, coin),
        say(TOPICS.toppedUp, amount, 0),
      ],
      settle: (total: number, delta: number) => [
        pay(delta),
        say(TOPICS.settled, total, delta, total),
      ],
      close: (total: number, last: number, back: number) => [
        ...(last > 0 ? [pay(last)] : []),
        say(TOPICS.closed, total, back),
      ],
    }
  }
  const openTempo = (chain: Chain) => open(chain, { network: 'eip155:42431', chainId: 42_431 })

  test('is counted where it settles, and a close counts what was not settled before', async () => {
    const chain = aChain()
    const own = session()
    chain.mine(own.open(1_000))
    const { counted } = await openTempo(chain)
    expect(await counted()).toEqual([])
    chain.mine(own.settle(300, 300), own.settle(500, 200))
    chain.mine(own.topUp(500))
    expect(await counted()).toEqual([`${BUYER} 300`, `${BUYER} 200`])
    // Taken in all 1,300 of 1,500: the last 800 are in no other event.
    chain.mine(own.close(1_300, 800, 200))
    expect(await counted()).toEqual([`${BUYER} 300`, `${BUYER} 200`, `${BUYER} 800`])
  })

  test('that its payer leaves, or that is of another seller, coin or contract, is nothing', async () => {
    const chain = aChain()
    const id = (n: number) => `0x${`c${n}`.repeat(32)}`
    const left = session({ id: id(2) })
    chain.mine(left.open(1_000), left.settle(100, 100), left.close(100, 0, 900))
    const others = [
      session({ id: id(3), payee: wallet(2) }),
      session({ id: id(4), coin: wallet(904) }),
      session({ id: id(5), reserve: wallet(905) }),
    ]
    for (const one of others) chain.mine(one.open(1_000), one.settle(400, 400))
    // Nobody opened this one, and this one gave more than it had.
    chain.mine(session({ id: id(6) }).settle(400, 400))
    const over = session({ id: id(7) })
    chain.mine(over.open(50), over.settle(400, 400), over.close(300, 0, 0))
    const { counted } = await openTempo(chain)
    expect(await counted()).toEqual([`${BUYER} 100`, `${BUYER} 50`])
  })

  test('of a branch that is left is taken back', async () => {
    const chain = aChain()
    const own = session()
    const { counted } = await openTempo(chain)
    chain.mine(own.open(1_000))
    for (let n = 0; n < 3; n += 1) chain.mine()
    chain.mine(own.settle(300, 300))
    expect(await counted()).toEqual([`${BUYER} 300`])
    chain.reorganise(1)
    chain.mine(own.close(250, 250, 750), [])
    expect(await counted()).toEqual([`${BUYER} 250`])
  })
})
