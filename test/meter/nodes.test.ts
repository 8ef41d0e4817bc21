import { beforeEach, describe, expect, test } from 'vitest'
import type { Store } from '../../functions/store/store.ts'
import { createJsonRpc, RpcError } from '../../functions/trust/evm-chain.ts'
import { measure } from '../../functions/trust/measure.ts'
import { DAY_MS, hexQuantity, NETWORK, NOON, wallet } from '../settlements/samples.ts'
import { forAllTests } from '../support/for-tests.ts'
import { IS_LONG } from '../support/long.ts'
import { createChain, createNode, payment, serveNode, transfer } from './chain-double.ts'
import { countRequests } from './count-requests.ts'
import { createMeter, openMeterStore, prove } from './meter-world.ts'

/** What nodes refuse, get wrong or lie about. One store, emptied for each: none of this is its matter. */
const SHOP = wallet(1)
const buyer = (n: number) => wallet(10 + n)
const MANY = IS_LONG ? 10_000 : 1_000
const refused = () => new RpcError('the node refused (-32005)', 'refused')
const busy = () => new RpcError('the node is busy (HTTP 429)', 'busy')

const ledger = forAllTests(openMeterStore)
let store: Store
beforeEach(async () => {
  store = ledger.store
  await ledger.empty()
})

/** Ten payments of ten buyers in twenty blocks, and a node that tells them. */
async function open(faults: Parameters<typeof createNode>[1] = {}, payouts = [SHOP]) {
  const chain = createChain({ start: NOON - DAY_MS, blockMs: 60_000 })
  for (let n = 0; n < 10; n += 1) {
    chain.mine(payment(buyer(n), SHOP, 1_000 + n), [transfer(wallet(900 + n), buyer(n), 50)])
    chain.mine()
  }
  await prove(store, payouts)
  const node = createNode(chain, faults)
  return { chain, node, meter: createMeter(store, node.rpc, chain.now) }
}

describe('a node that limits', () => {
  test.each([
    ['the blocks of a question', { maxBlocks: 3 }],
    ['it to one block', { maxBlocks: 1 }],
    ['the logs of an answer', { maxLogs: 2 }],
    ['the topics of a list', { maxTopics: 60 }],
    ['all of them', { maxBlocks: 7, maxLogs: 4, maxTopics: 120 }],
    ['nothing, and writes times beside logs', { blockTimestamp: true }],
    ['nothing, and starts with the last log', { isBackwards: true }],
  ])('%s is read whole all the same', async (_, faults) => {
    const payouts = [SHOP, ...Array.from({ length: 250 }, (_, n) => wallet(50_000 + n))]
    const { meter } = await open(faults, payouts)
    expect(await meter.run()).toMatchObject({ payments: 10, read: 21, stopped: null })
    expect(await meter.rows()).toHaveLength(10)
  })

  test('the rate of questions is given time, and asked again', async () => {
    const { meter, node } = await open()
    node.faults.instead = (_method, _params, count) => {
      if (count % 4 === 0) throw busy()
    }
    expect(await meter.run()).toMatchObject({ payments: 10, stopped: null })
    expect(meter.waits).toContain(1_000)
    expect(Math.min(...meter.waits)).toBe(100)
  })

  test('for ever is left alone until the next run', async () => {
    const { meter, node } = await open()
    node.faults.instead = () => {
      throw busy()
    }
    const report = await meter.run()
    expect(report).toMatchObject({ requests: 6, stopped: expect.stringContaining('busy') })
    expect(meter.waits.reduce((sum, ms) => sum + ms, 0)).toBeLessThan(35_000)
  })
})

/** What each of these says is not believed: nothing is counted, and the next honest node is read from the start. */
const LIARS: [string, (method: string, params: unknown[], answer: Answer) => unknown][] = [
  ['is of another chain', (method) => (method === 'eth_chainId' ? '0x1' : undefined)],
  ['cannot be reached', () => fail('the node cannot be reached')],
  ['answers garbage to everything', () => ({ whatever: true })],
  ['answers numbers as text', (method) => (method === 'eth_blockNumber' ? '20' : undefined)],
  ['tells no logs but a sentence', (method) => (method === 'eth_getLogs' ? 'later' : undefined)],
  [
    'refuses every question for logs',
    (method) => (method === 'eth_getLogs' ? refuse() : undefined),
  ],
  [
    'has a head that it has no blocks for',
    (method) => (method === 'eth_blockNumber' ? hexQuantity(9_000) : undefined),
  ],
  [
    'gives another block than was asked for',
    (method) => (method === 'eth_getBlockByNumber' ? aBlock(3) : undefined),
  ],
  [
    'has blocks of the future',
    (method, params, answer) =>
      method === 'eth_getBlockByNumber'
        ? { ...object(answer(method, params)), timestamp: hexQuantity(NOON / 1000 + 1e6) }
        : undefined,
  ],
  [
    'tells logs of other wallets',
    bendLogs((log) => ({ ...log, topics: [log.topics[0], log.topics[1], `0x${'12'.repeat(32)}`] })),
  ],
  ['tells logs of another token', bendLogs((log) => ({ ...log, address: wallet(3) }))],
  ['tells logs of other blocks', bendLogs((log) => ({ ...log, blockNumber: hexQuantity(9_999) }))],
  ['tells logs that were removed', bendLogs((log) => ({ ...log, removed: true }))],
  [
    'tells logs of a block that is not on its chain',
    bendLogs((log) => ({ ...log, blockHash: `0x${'ab'.repeat(32)}` })),
  ],
  [
    'tells of more money than there is',
    bendLogs((log) => ({ ...log, data: `0x${'f'.repeat(64)}` })),
  ],
  [
    'tells two things of one place',
    (method, params, answer) =>
      method === 'eth_getLogs' ? twice(answer(method, params)) : undefined,
  ],
  ['loses its last block while it is read', loseEdge()],
]

describe('a node that', () => {
  test.each(LIARS)('%s is not believed', async (_, lie) => {
    const { meter, node } = await open()
    node.faults.instead = (method, params) => lie(method, params, node.answer)
    const report = await meter.run()
    expect(report.stopped).toBeTruthy()
    expect(await meter.rows()).toEqual([])
    expect(meter.logged.join()).toContain('"event":"meter.stopped"')
    expect(meter.logged.join()).not.toContain('secret-key')
    delete node.faults.instead
    expect(await meter.run()).toMatchObject({ payments: 10, stopped: null })
    expect(await meter.rows()).toHaveLength(10)
  })

  test('lags behind what was read takes nothing back, and the log says so', async () => {
    const { meter, node } = await open()
    await meter.run()
    node.faults.head = 8
    expect(await meter.run()).toMatchObject({ payments: 0, read: 0, stopped: null })
    expect(await meter.rows()).toHaveLength(10)
    expect(meter.logged.join()).toContain('"event":"meter.node_behind"')
  })

  test('hides authorisations makes nothing count', async () => {
    const { meter, node } = await open()
    node.faults.instead = (method, params) =>
      method === 'eth_getLogs' && JSON.stringify(params).includes('0x98de5035') ? [] : undefined
    expect(await meter.run()).toMatchObject({ payments: 0, stopped: null })
  })

  test('leaves payments out is caught up with when it is read again, and nothing counts twice', async () => {
    const { meter, node } = await open()
    node.faults.instead = (method, params) => {
      if (method !== 'eth_getLogs') return undefined
      const reported: unknown = node.answer(method, params)
      return Array.isArray(reported) ? reported.slice(0, Math.ceil(reported.length / 2)) : reported
    }
    await meter.run()
    const seen = (await meter.rows()).length
    expect(seen).toBeGreaterThan(0)
    expect(seen).toBeLessThan(10)
    delete node.faults.instead
    await meter.run(0)
    expect(await meter.rows()).toHaveLength(10)
  })
})

describe('over HTTP', () => {
  const node = createNode(createChain({ start: NOON - DAY_MS, blockMs: 60_000 }))
  const seen = { status: 200, body: '' }
  const served = forAllTests(() =>
    serveNode(node, (_method, response) => {
      response.writeHead(seen.status, { 'Content-Type': 'application/json' })
      if (seen.body !== '') response.end(seen.body)
      return seen.body !== ''
    }),
  )

  test.each([
    [200, '', null],
    [429, 'slow down', 'busy'],
    [503, '<html>', 'busy'],
    [200, '{"error":{"code":429,"message":"x"}}', 'refused (429)'],
    [200, '{"error":{"code":-32601,"message":"secret-key"}}', 'refused (-32601)'],
    [413, '<html>', 'too long'],
    [500, '<html>secret-key</html>', 'not JSON'],
    [200, '[1,2', 'not JSON'],
    [200, '7', 'not JSON-RPC'],
  ])('a node that answers %i %j: %j', async (status, body, stopped) => {
    Object.assign(seen, { status, body })
    await prove(store, [SHOP])
    const logged: string[] = []
    const reports = await measure(
      {
        store,
        config: {
          RPC_URLS: { [NETWORK]: `${served.url}/secret-key` },
          UNSAFE_ALLOW_PRIVATE_TARGETS: true,
        },
        clock: { now: () => NOON },
        log: { info: () => {}, error: (_event, fields) => logged.push(JSON.stringify(fields)) },
        createRpc: createJsonRpc,
        wait: async () => {},
      },
      { since: null, published: [], signal: new AbortController().signal },
    )
    expect(reports?.[0]?.stopped ?? null).toEqual(
      stopped === null ? null : expect.stringContaining(stopped),
    )
    expect(logged.join()).not.toContain('secret-key')
  })
})

test('requests grow with blocks, not with payouts', async () => {
  const count = async (payouts: number, days: number) => {
    await store.db.deleteFrom('claim').execute()
    await store.db.deleteFrom('meter_cursor').execute()
    await store.db.deleteFrom('meter_block').execute()
    return countRequests(store, { name: '', faults: {} }, { payouts, days })
  }
  const counts = [await count(1, 2), await count(100, 2), await count(MANY, 2)]
  console.log(
    `requests for two days of blocks, for 1, 100 and ${MANY} payouts: ${counts.join(', ')}`,
  )
  expect(new Set(counts).size).toBe(1)
  expect(await count(1, 4)).toBeGreaterThan(Number(counts[0]) * 1.4)
})

type Answer = (method: string, params: unknown[]) => unknown
interface Reported {
  topics: string[]
  [field: string]: unknown
}

function fail(reason: string): never {
  throw new RpcError(reason)
}

function refuse(): never {
  throw refused()
}

function object(value: unknown): object {
  return typeof value === 'object' && value !== null ? value : {}
}

function aBlock(number: number) {
  const hash = `0x${'cd'.repeat(32)}`
  return { number: hexQuantity(number), hash, timestamp: hexQuantity(NOON / 1000) }
}

function bendLogs(bend: (log: Reported) => object) {
  return (method: string, params: unknown[], answer: Answer) =>
    method === 'eth_getLogs' ? (answer(method, params) as Reported[]).map(bend) : undefined
}

function twice(logs: unknown) {
  const [first, ...rest] = logs as Reported[]
  if (first === undefined) return logs
  return [first, { ...first, transactionHash: `0x${'ee'.repeat(32)}` }, ...rest]
}

/** The second look at a block finds another one there. */
function loseEdge() {
  const seen = new Map<string, number>()
  return (method: string, params: unknown[], answer: Answer) => {
    if (method !== 'eth_getBlockByNumber') return undefined
    const key = String(params[0])
    seen.set(key, (seen.get(key) ?? 0) + 1)
    const block = object(answer(method, params))
    return (seen.get(key) ?? 0) > 1 ? { ...block, hash: `0x${'99'.repeat(32)}` } : block
  }
}
