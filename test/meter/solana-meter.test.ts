import * as v from 'valibot'
import { beforeEach, describe, expect, test } from 'vitest'
import type { Store } from '../../functions/store/store.ts'
import { type JsonRpc, RpcError } from '../../functions/trust/evm-chain.ts'
import { tokenAccountOf } from '../../src/domain/trust/solana-payments.ts'
import { DAY_MS, NOON } from '../settlements/samples.ts'
import { forAllTests } from '../support/for-tests.ts'
import { createMeter, openMeterStore, prove } from './meter-world.ts'
import {
  ALICE,
  accountOf,
  BOB,
  GENESIS,
  key,
  type Moved,
  NETWORK,
  type Reported,
  SHOP,
  SPONSOR,
  TOKEN,
  transaction,
  USDC,
} from './solana-samples.ts'

/** A cluster in memory: what touched each account, newest first, as nodes list it. */
function createCluster(genesis = GENESIS) {
  const reported: Reported[] = []
  const requested: string[] = []
  const faults: { instead?: (method: string, params: unknown[]) => unknown } = {}
  const list = (
    account: string,
    { until, before, limit = 1000 }: { until?: string; before?: string; limit?: number },
  ) => {
    const own = reported
      .filter(({ transaction: { message } }) =>
        message.accountKeys.some(({ pubkey }) => pubkey === account),
      )
      .toReversed()
      .map((one) => ({
        signature: one.transaction.signatures[0],
        slot: one.slot,
        err: one.meta.err,
        blockTime: one.blockTime,
      }))
    const start = before === undefined ? 0 : own.findIndex((one) => one.signature === before) + 1
    const end = until === undefined ? own.length : own.findIndex((one) => one.signature === until)
    return own.slice(start, end).slice(0, limit)
  }
  const rpc: JsonRpc = {
    async call(method, params, schema) {
      requested.push(method)
      const answers: Record<string, () => unknown> = {
        getGenesisHash: () => genesis,
        getSignaturesForAddress: () => list(String(params[0]), params[1] as object),
        getTransaction: () =>
          reported.find((one) => one.transaction.signatures[0] === params[0]) ?? null,
      }
      const result = v.safeParse(schema, faults.instead?.(method, params) ?? answers[method]?.())
      if (!result.success) throw new RpcError(`${method}: the node's result has a wrong shape`)
      return result.output
    },
  }
  return { reported, requested, faults, rpc }
}

const ledger = forAllTests(openMeterStore)
let store: Store
beforeEach(async () => {
  store = ledger.store
  await ledger.empty()
  await prove(store, [SHOP], NETWORK)
})

function open(genesis = GENESIS) {
  const cluster = createCluster(genesis)
  let count = 0
  return {
    cluster,
    meter: createMeter(store, cluster.rpc, () => NOON, { network: NETWORK, unsafe: false }),
    tell(moved: Moved, at = NOON - DAY_MS + 60_000 * count) {
      count += 1
      cluster.reported.push(transaction(`t${count}`, at, moved))
    },
  }
}

test.each([
  [SHOP, 'FGETo8T8wMcN2wCjav8VK6eh3dLk63evNDPxzLSJra8B'],
  [GENESIS, 'FEatwG4RxcCDsxjqbWHsXfJtwTUxkKcXMwfq2vtcfqNb'],
  ['So11111111111111111111111111111111111111112', 'DHe62eeQVEnNK7vg5xUpDkJm7tuqHadjhvmPRFBG9UPo'],
  ['11111111111111111111111111111112', 'G9xKTRhM57AL4my3ZRVNqM95mxtACgKdNRPX6EVhB7hv'],
  ['no key', null],
])('the coin account of %s is %s', (wallet, account) => {
  expect(tokenAccountOf(wallet, USDC)).toBe(account)
})

test('sponsored payments count, each once, over as many pages as there are', async () => {
  const { cluster, meter, tell } = open()
  for (let n = 0; n < 1_040; n += 1)
    tell({ from: n % 2 === 0 ? ALICE : BOB, to: SHOP, amount: 1_000 }, NOON - DAY_MS + n * 1_000)
  expect(await meter.run()).toMatchObject({ payments: 1_040, read: 1_040, stopped: null })
  const facts = await meter.facts([SHOP])
  expect([...facts.metered]).toEqual(['x402.0'])
  expect(facts.settlements.get('x402.0')).toMatchObject({
    verified_buyers_30d: 2,
    // Of one payer at most ten count.
    settlements_30d: 20,
    volume_usd_30d: 1.04,
  })
  const requested = cluster.requested.length
  expect(await meter.run()).toMatchObject({ payments: 0 })
  expect(cluster.requested.length).toBe(requested + 2)
  tell({ from: ALICE, to: SHOP, amount: 7_000 }, NOON - 1_000)
  expect(await meter.run()).toMatchObject({ payments: 1, read: 1 })
  expect(await meter.run(NOON - 2 * DAY_MS)).toMatchObject({ payments: 1_041 })
  expect(await meter.rows()).toHaveLength(1_041)
})

const guard = {
  programId: 'L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95',
  accounts: [accountOf(ALICE)],
  data: '1',
}
test.each<[string, Partial<Moved>, number]>([
  ['with a guard', { more: [guard] }, 1],
  [
    'with a memo',
    { more: [{ programId: 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr', parsed: 'text' }] },
    1,
  ],
  ['that the buyer sent himself', { sponsor: ALICE }, 0],
  ['that failed', { err: { InstructionError: [1, 'Custom'] } }, 0],
  ['of nothing', { amount: 0 }, 0],
  ['in another coin', { mint: key('coin') }, 0],
  [
    'beside a second transfer',
    { more: [{ programId: TOKEN, parsed: { type: 'transfer', info: {} } }] },
    0,
  ],
  ['beside another program', { more: [{ programId: key('swap'), accounts: [], data: '1' }] }, 0],
  ['in which the sponsor has a part', { more: [{ ...guard, accounts: [SPONSOR] }] }, 0],
  ['before the window', {}, 0],
])('a payment %s counts %s', async (name, changes, payments) => {
  const { cluster, meter, tell } = open()
  tell(
    { from: ALICE, to: SHOP, amount: 1_000, ...changes },
    name === 'before the window' ? NOON - 31 * DAY_MS : NOON - DAY_MS,
  )
  expect(await meter.run()).toMatchObject({ payments, stopped: null })
  // One that failed is not fetched: anybody can make a shop's list long with those, for a fee.
  if (changes.err !== undefined) expect(cluster.requested).not.toContain('getTransaction')
})

test('money that the payout gave before is funding, and most of it back a round trip', async () => {
  const { meter, tell } = open()
  tell({ from: SHOP, to: ALICE, amount: 5 })
  tell({ from: ALICE, to: SHOP, amount: 1_000 })
  tell({ from: BOB, to: SHOP, amount: 2_000 })
  tell({ from: SHOP, to: BOB, amount: 1_900 })
  await meter.run()
  expect((await meter.facts([SHOP])).settlements.get('x402.0')?.wash_flags).toEqual([
    { flag: 'funded_by_payout', settlements: 1 },
    { flag: 'round_trip', settlements: 1 },
  ])
})

test('stopped anywhere, it ends where an unbroken run does', async () => {
  const { cluster, meter, tell } = open()
  for (let n = 0; n < 240; n += 1) tell({ from: key(`buyer ${n}`), to: SHOP, amount: 1_000 + n })
  let kills = 0
  for (let patience = 60; ; patience += 20) {
    let left = patience
    cluster.faults.instead = () => {
      left -= 1
      if (left < 0) throw new Error('killed')
      return undefined
    }
    const died = await meter.start().then(
      () => false,
      () => true,
    )
    if (!died) break
    kills += 1
  }
  expect(kills).toBeGreaterThan(1)
  expect((await meter.rows()).map(({ amount }) => Number(amount)).sort((a, b) => a - b)).toEqual(
    Array.from({ length: 240 }, (_, n) => 1_000 + n),
  )
})

describe('a node that', () => {
  test.each<[string, (method: string) => unknown]>([
    [
      'belongs to another cluster',
      (method) => (method === 'getGenesisHash' ? key('another') : undefined),
    ],
    [
      'has not the transactions it lists',
      (method) =>
        method === 'getTransaction'
          ? transaction('other', NOON, { from: ALICE, to: SHOP, amount: 9 })
          : undefined,
    ],
    [
      'tells garbage',
      (method) => (method === 'getSignaturesForAddress' ? [{ signature: 7 }] : undefined),
    ],
    [
      'tells half a transaction',
      (method) => (method === 'getTransaction' ? { slot: 1, meta: null } : undefined),
    ],
  ])('%s is not believed, and read again', async (_, lie) => {
    const { cluster, meter, tell } = open()
    tell({ from: ALICE, to: SHOP, amount: 1_000 })
    cluster.faults.instead = lie
    expect((await meter.run()).stopped).toBeTruthy()
    expect(await meter.rows()).toEqual([])
    expect(meter.logged.join()).toContain('"event":"meter.stopped"')
    delete cluster.faults.instead
    expect(await meter.run()).toMatchObject({ payments: 1, stopped: null })
  })
})
