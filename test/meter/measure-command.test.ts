import { beforeAll, describe, expect, test } from 'vitest'
import { readChains, readSince } from '../../functions/commands/evidence/measure.ts'
import { parseConfig } from '../../functions/ports/config.ts'
import { createJobQueue } from '../../functions/store/jobs.ts'
import { openStore } from '../../functions/store/open-store.ts'
import { lockState } from '../../functions/store/sqlite.ts'
import { NETWORK, NOON, wallet } from '../settlements/samples.ts'
import { FIXTURE_ENV } from '../support/fixture-env.ts'
import { forAllTests } from '../support/for-tests.ts'
import { runHere } from '../support/run-here.ts'
import { silentLog } from '../support/stores.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { createChain, createNode, payment, serveNode } from './chain-double.ts'
import { prove } from './meter-world.ts'

describe('the options', () => {
  test.each<[string[], number | null]>([
    [[], null],
    [['--since', '2026-11-01'], Date.UTC(2026, 10, 1)],
  ])('%j', (args, expected) => {
    expect(readSince(args, NOON)).toBe(expected)
  })

  test('--help prints how it is called', () => {
    expect(() => readSince(['--help'], NOON)).toThrow(/^Usage: npm run measure/)
  })

  test.each([
    [['--since', 'yesterday'], 'expected a UTC date'],
    [['--since', '2026-02-30'], 'expected a UTC date'],
    [['--since', '2026-12-01'], 'expected a UTC date'],
    [['--since', '2026-08-01'], 'within the last 90 days'],
    [['--since', '1'], 'expected a UTC date'],
    [['--since'], 'since'],
    [['--until', '2026-11-01'], '--until'],
    [['eip155:8453'], 'eip155:8453'],
  ])('%j are refused', (args, fault) => {
    expect(() => readSince(args, NOON)).toThrow(fault)
  })

  test('MEASURE=on without a node is said at the start', () => {
    expect(() => parseConfig({ MEASURE: 'on' })).toThrow(/MEASURE: got "on", expected RPC_URLS/)
    expect(() => parseConfig({ MEASURE: 'yes' })).toThrow(/expected on or off/)
    expect(
      parseConfig({ MEASURE: 'on', RPC_URLS: '{"eip155:1":"http://n.example"}' }).MEASURE,
    ).toBe(true)
  })
})

const { CONTENT_DIR } = FIXTURE_ENV
const OWN_ENV = { CONTENT_DIR, UNSAFE_ALLOW_PRIVATE_TARGETS: 'true' }

describe('npm run measure', () => {
  const [idle, held] = [tempFolder('idle'), tempFolder('held')]
  const chain = createChain({ start: Date.now() - 600_000, blockMs: 10_000 })
  chain.mine(payment(wallet(2), wallet(1), 1_000))
  const node = createNode(chain)
  const served = forAllTests(() => serveNode(node))
  let rpcUrls = ''

  beforeAll(async () => {
    rpcUrls = JSON.stringify({ [NETWORK]: served.url })
    const store = await openStore({ STATE_DIR: idle, DATABASE_URL: undefined }, silentLog)
    await prove(store, [wallet(1)])
    // Of a process that was killed a minute ago: who has the state's lock need not wait for it.
    const killed = createJobQueue(store, { name: 'meter', now: () => Date.now() - 60_000 })
    await killed.add(['meter'])
    await killed.take(1)
    await store.close()
  })

  async function run(env: Record<string, string>, ...args: string[]) {
    const done = await runHere(() => readChains(args), { ...OWN_ENV, ...env })
    return { ...done, code: done.status }
  }

  test('ends with what it came to', async () => {
    const lock = await lockState(held)
    const [done, wrong, noNode, inUse] = await Promise.all([
      run({ RPC_URLS: rpcUrls, STATE_DIR: idle }),
      run({ RPC_URLS: rpcUrls, STATE_DIR: idle }, '--since', 'noon'),
      run({ STATE_DIR: idle }),
      run({ RPC_URLS: rpcUrls, STATE_DIR: held }),
    ])
    lock.release()
    expect(done).toMatchObject({ code: 0 })
    expect(done.stdout).toContain(`${NETWORK}: 1 payments to 1 payouts in 2 blocks`)
    expect(wrong).toMatchObject({ code: 2, stdout: '' })
    expect(noNode).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/^RPC_URLS is empty, [^\n]+\n$/),
    })
    expect(inUse).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('in use by another'),
    })
  })
})
