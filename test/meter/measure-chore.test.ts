import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createLedgerFeatures } from '../../functions/service/features.ts'
import { runChores } from '../../functions/service/service.ts'
import { createJobQueue } from '../../functions/store/jobs.ts'
import { createMeterFeature } from '../../functions/trust/measure.ts'
import { NETWORK, wallet } from '../settlements/samples.ts'
import { forAllTests } from '../support/for-tests.ts'
import { liveListing } from '../support/live-listing.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { openWorld, type World } from '../support/world.ts'
import { createChain, createNode, payment, serveNode } from './chain-double.ts'
import { prove } from './meter-world.ts'

/** What a server with `MEASURE=on` does each hour, over a node on a real socket. */
const place = tempFolder('measure-chore')
const chain = createChain({ start: Date.now() - 600_000, blockMs: 10_000 })
const node = createNode(chain)
let requested: string[] = []
/** What the node does instead of answering. */
let instead: 'refuse' | (() => void) | null = null
const served = forAllTests(() =>
  serveNode(node, (method, response) => {
    requested.push(method)
    if (instead === null) return false
    if (instead === 'refuse')
      response.end('{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no such method"}}')
    else instead()
    return true
  }),
)
let world: World

beforeAll(async () => {
  world = await openWorld({
    env: {
      STATE_DIR: place,
      UNSAFE_ALLOW_PRIVATE_TARGETS: 'true',
      MEASURE: 'on',
      RPC_URLS: JSON.stringify({ [NETWORK]: served.url }),
    },
  })
  const { store } = world.parts.ledger
  await prove(store, [wallet(1)])
  // Checked just now: another chore of the same hour would else look for its proof.
  await store.db.updateTable('claim').set({ last_checked_at: world.clock.now() }).execute()
})
afterAll(() => world.close())
beforeEach(() => {
  requested = []
  instead = null
})

const turn = (parts = world.parts, signal = new AbortController().signal) =>
  runChores(
    [...createLedgerFeatures(parts), createMeterFeature(parts, () => false)].flatMap((feature) =>
      'chores' in feature ? feature.chores : [],
    ),
    parts.log,
    signal,
  )
const paid = async () =>
  (
    await world.parts.ledger.store.db
      .selectFrom('settlement')
      .select('payer')
      .orderBy('block_number')
      .execute()
  ).map(({ payer }) => payer)

test('takes over from a server that was killed: who has the state is alone', async () => {
  chain.mine(payment(wallet(2), wallet(1), 1_000))
  const { store } = world.parts.ledger
  const killed = createJobQueue(store, { name: 'meter', now: world.clock.now })
  await killed.add(['meter'])
  expect(await killed.take(1)).toEqual(['meter'])
  await turn()
  expect(await paid()).toEqual([wallet(2)])
})

test('reads from then on only what is new', async () => {
  expect(await paid()).toEqual([wallet(2)])
  chain.mine(payment(wallet(3), wallet(1), 2_000))
  world.clock.move(3_600_000)
  await turn()
  expect(await paid()).toEqual([wallet(2), wallet(3)])
  expect(world.logLines.filter((line) => line.includes('meter.read'))).toHaveLength(2)
})

test('says what a node did wrong, keeps what it has, and goes on the next hour', async () => {
  chain.mine(payment(wallet(4), wallet(1), 3_000))
  instead = 'refuse'
  await turn()
  expect(await paid()).toHaveLength(2)
  expect(world.logLines.at(-1)).toContain('meter.stopped')
  instead = null
  await turn()
  expect(await paid()).toHaveLength(3)
})

test('reads what content publishes, without a proof', async () => {
  const seed = liveListing('x402.seed', 'https://api.seed.example/buy')
  world.listings.set(seed.id, { ...seed, payout: [`${NETWORK}:${wallet(7)}`] })
  chain.mine(payment(wallet(5), wallet(7), 4_000))
  await turn()
  expect(await paid()).toEqual([2, 3, 4, 5].map(wallet))
  world.listings.delete(seed.id)
})

test('stops when the server does, though its node hangs', async () => {
  const stop = new AbortController()
  instead = () => stop.abort()
  await turn(world.parts, stop.signal)
  expect(requested).toHaveLength(1)
})

test('does nothing without MEASURE', async () => {
  const { parts } = world
  await turn({ ...parts, config: { ...parts.config, MEASURE: false } })
  expect(requested).toEqual([])
})
