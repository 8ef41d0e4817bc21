import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { parseLock, toLockEntry, toLockText } from '../../packages/client/cli/pins.ts'
import { allowedBy, type Lock } from '../../packages/client/src/lock.ts'
import { createWaypost } from '../../packages/client/src/waypost.ts'
import { clientHere } from '../support/client-here.ts'
import { forAllTests } from '../support/for-tests.ts'
import { tempFolder } from '../support/temp-folder.ts'
import {
  frontOf,
  ID,
  lockOf,
  NETWORK,
  offer,
  PAYEE,
  startPinnedWorld,
  THIEF,
  wallet,
} from './pinned-world.ts'

const world = forAllTests(startPinnedWorld)
let folder: string

beforeEach(() => {
  folder = tempFolder('lock')
  writeFileSync(
    join(folder, 'wallet.mjs'),
    'export const allowTestCoins = true\nexport default { createPaymentPayload: async ({ accepts: [accepted] }) => ({ x402Version: 2, accepted, payload: { authorization: { to: accepted.payTo, value: accepted.amount } } }) }\n',
  )
  world.reset()
})

const waypost = (...args: string[]) => {
  const place = (file: string) => join(folder, file)
  const wallet = args.map((arg) => (arg === 'wallet.mjs' ? place(arg) : arg))
  return clientHere([...wallet, '--lock', place('waypost.lock')], {
    env: { WAYPOST_URL: world.url },
  })
}

const PAYING = ['--wallet', 'wallet.mjs', '--max-usd', '0.05']
const lockText = () => readFileSync(join(folder, 'waypost.lock'), 'utf8')

test('from an empty folder: pin, call, and after the payee was swapped a refusal that says why', async () => {
  expect(await waypost('pin', ID)).toMatchObject({ code: 0, stdout: `${ID}: pinned\n` })
  expect(JSON.parse(lockText()).listings[ID]).toMatchObject({
    hosts: [new URL(world.origin).host],
    payees: { [NETWORK]: [PAYEE] },
    max_usd: 0.01,
    calls: { [`GET ${world.origin}/tides`]: expect.stringMatching(/^[\w-]{43}$/) },
  })
  expect(await waypost('call', ID, ...PAYING)).toMatchObject({ code: 0, stdout: '{"tide":"high"}' })
  expect(world.paid.length).toBe(1)
  world.offers = [offer({ payTo: THIEF })]
  const refused = await waypost('call', ID, ...PAYING)
  expect(refused).toMatchObject({ code: 1, stdout: '' })
  expect(refused.stderr).toContain(
    `The payee is not as expected: ${NETWORK}:${THIEF} instead of ${NETWORK}:${PAYEE}.`,
  )
  expect(world.paid.length).toBe(1)
})

test('check says what changed, pin holds it back, and --update takes it', async () => {
  await waypost('pin', ID)
  expect(await waypost('check')).toMatchObject({
    code: 0,
    stdout: `${ID}: as pinned, as far as the directory knows\n`,
  })
  world.front = { ...world.front, payout: [`${NETWORK}:${THIEF}`] }
  const reported = [
    `${ID}: payee on ${NETWORK} removed: ${PAYEE}`,
    `${ID}: payee on ${NETWORK} added: ${THIEF}`,
  ]
  expect(await waypost('check')).toMatchObject({ code: 1, stdout: `${reported.join('\n')}\n` })
  const before = lockText()
  expect(await waypost('pin', ID)).toMatchObject({ code: 1, stdout: `${reported.join('\n')}\n` })
  expect(lockText()).toBe(before)
  expect(await waypost('pin', '--update')).toMatchObject({ code: 0 })
  expect(await waypost('check')).toMatchObject({ code: 0 })
  world.isListed = false
  const gone = await waypost('check', '--json')
  expect([gone.code, JSON.parse(gone.stdout)[ID]]).toEqual([
    1,
    ['not in the directory any more: It was withdrawn.'],
  ])
})

describe('what the caller does not use', () => {
  const withNeighbour = (usd: number) => {
    const price = { min_usd: usd, max_usd: usd, per: 'call' }
    const { http, pricing } = frontOf(world.origin)
    world.front = {
      ...frontOf(world.origin),
      pricing: { ...Object(pricing), max_usd: usd },
      http: [...Object(http), { method: 'GET', url: `${world.origin}/storms`, price }],
    }
  }

  test('may come, change and go: the call is paid as it was pinned', async () => {
    await waypost('pin', ID)
    const paying = ['call', ID, '--endpoint', '/tides?port=Brest', ...PAYING]
    withNeighbour(0.02)
    expect(await waypost(...paying)).toMatchObject({ code: 0, stdout: '{"tide":"high"}' })
    await waypost('pin', '--update')
    withNeighbour(0.03)
    expect(await waypost(...paying)).toMatchObject({ code: 0 })
    expect((await waypost('check')).stdout).toContain('price: at most $0.02, now $0.03')
    const storms = await waypost('call', ID, '--endpoint', '/storms', ...PAYING)
    expect([storms.code, world.paid.length]).toEqual([1, 2])
  })

  test('need not be pinned: check and call look at what is', async () => {
    withNeighbour(0.02)
    const tides = `GET ${world.origin}/tides`
    expect(await waypost('pin', ID, '--only', tides)).toMatchObject({ code: 0 })
    const entry = JSON.parse(lockText()).listings[ID]
    expect([entry.digest, Object.keys(entry.calls), entry.max_usd]).toEqual([null, [tides], 0.01])
    withNeighbour(0.03)
    expect(await waypost('check')).toMatchObject({ code: 0 })
    const paying = ['call', ID, '--endpoint', '/tides?port=Brest', ...PAYING]
    expect(await waypost(...paying)).toMatchObject({ code: 0, stdout: '{"tide":"high"}' })
    world.front = { ...world.front, http: [] }
    expect((await waypost('check')).stdout).toContain(`call changed: ${tides}`)
    expect(await waypost(...paying)).toMatchObject({ code: 1, stdout: '' })
    expect(world.paid.length).toBe(1)
  })

  test('cannot be pinned where there is none of that name', async () => {
    const refused = await waypost('pin', ID, '--only', 'GET /nowhere')
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('GET /nowhere')])
  })
})

test('where the directory knows no payee, pin asks the seller once and pays nothing', async () => {
  world.front = { ...world.front, payout: [] }
  await waypost('pin', ID)
  expect(JSON.parse(lockText()).listings[ID].payees).toEqual({ [NETWORK]: [PAYEE] })
  expect(world.paid).toEqual([])
  expect(await waypost('check')).toMatchObject({ code: 0 })
})

describe('a lock', () => {
  test.each([
    ['no JSON', (_: string) => 'pinned!', 'the file: '],
    [
      'another version',
      (text: string) => text.replace('"version": 1', '"version": 2'),
      'version: expected 1',
    ],
    [
      'an edited digest',
      (text: string) => text.replace(/"digest": "../, '"digest": "'),
      'expected a digest of 43',
    ],
    [
      'an edited price',
      (text: string) => text.replace('0.01', '-1'),
      'expected a price of 0 or more',
    ],
    ['an id that is none', (text: string) => text.replace(ID, '../etc'), 'expected ids'],
  ])('with %s is refused with its place', (_, edit, message) => {
    expect(parseLock(edit(toLockText(lockOf(world))))).toContain(message)
  })

  test('of another directory is named, and nothing is called', async () => {
    const other = toLockText({ ...lockOf(world), directory: 'https://other.example' })
    writeFileSync(join(folder, 'waypost.lock'), other)
    const refused = await waypost('call', ID, ...PAYING)
    expect(refused).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('is a lock for https://other.example'),
    })
    expect(world.paid).toEqual([])
  })

  test('reads as it was written, in one order', () => {
    const listings = { 'x402.b': toLockEntry(world.kit()), 'x402.a': toLockEntry(world.kit()) }
    const lock: Lock = { version: 1, directory: world.url, listings }
    expect(parseLock(toLockText(lock))).toEqual(lock)
    expect(toLockText(lock).indexOf('x402.a')).toBeLessThan(toLockText(lock).indexOf('x402.b'))
  })

  test('is a policy for the client of x402 alone', () => {
    const allowed = allowedBy(lockOf(world), ID)
    const expensive = offer({ amount: '10001' })
    expect(allowed(2, [offer({ payTo: THIEF }), offer(), expensive])).toEqual([offer()])
    expect(() => allowedBy(lockOf(world), 'x402.other')).toThrow('x402.other is not in the lock')
  })

  test('that names no payee lets nothing be paid', async () => {
    const lock = lockOf(world)
    const entry = lock.listings[ID] ?? toLockEntry(world.kit())
    const open = { ...lock, listings: { [ID]: { ...entry, payees: {} } } }
    const call = createWaypost({ baseUrl: world.url }).call(ID, {
      lock: open,
      pay: { wallet, maxUsd: 1, allowTestCoins: true },
    })
    await expect(call).rejects.toMatchObject({ code: 'changed' })
    expect(world.paid).toEqual([])
  })
})
