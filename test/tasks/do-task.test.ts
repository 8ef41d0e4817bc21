import { appendFileSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { openSession, readSpent } from '../../packages/client/cli/session-file.ts'
import { doTask } from '../../packages/client/src/do-task.ts'
import { createSession, type Session, sumUsd } from '../../packages/client/src/spending.ts'
import { createWaypost } from '../../packages/client/src/waypost.ts'
import { findValueFault } from '../../src/domain/json-schema/value-fault.ts'
import type { Task } from '../../src/domain/tasks/task.ts'
import { type Double, FAILURES, openDoubles, type Protocol, WALLET } from './seller-doubles.ts'
import { openDirectory, raise, toDoubles } from './task-world.ts'

const DEEDS_OF_A_TASK = 12
/** A slow seller answers never; the wait for it is long beside any answer on loopback. */
const ASK_TIMEOUT = 4000

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

/** Somebody who knew which sellers work pays the cheapest of them. */
function knownCost(task: Task, doubles: readonly Double[]): number {
  const usd = doubles
    .filter((each) => each.task.id === task.id && (each.fails === null || each.fails === 'dearer'))
    .map((each) => (each.fails === 'dearer' ? each.usd * 1.5 : each.usd))
  return Math.min(...usd)
}

describe('twenty tasks, three to five sellers each, two in five of them failing', () => {
  test.each([11, 23, 47])(
    'seed %i',
    async (seed) => {
      const doubles = toDoubles(seed)
      const site = await openDoubles(doubles)
      closing.push(site.close)
      const baseUrl = await openDirectory(doubles, site, closing)
      const waypost = createWaypost({ baseUrl, timeoutMs: 60_000 })
      const session = createSession()
      const tasks = [...new Set(doubles.map(({ task }) => task))]
      const maxUsd = 0.5
      let [ended, best, deeds] = [0, 0, 0]
      for (let round = 0; round < DEEDS_OF_A_TASK; round += 1)
        for (const task of tasks) {
          const before = site.payments.length
          const done = await doTask(waypost, task.id, task.example, {
            pay: { wallet: WALLET, maxUsd },
            session,
            timeoutMs: ASK_TIMEOUT,
          })
          const paid = site.payments.slice(before)
          deeds += 1
          best += knownCost(task, doubles)
          if (done.output !== null && findValueFault(task.output, done.output) === null) ended += 1
          expect(new Set(paid.map(({ seller }) => seller)).size, task.id).toBe(paid.length)
          expect(sumUsd(paid.map(({ usd }) => usd))).toBeLessThanOrEqual(maxUsd)
          expect(done.spent_usd).toBeCloseTo(sumUsd(paid.map(({ usd }) => usd)), 9)
        }
      const cost = sumUsd(site.payments.map(({ usd }) => usd))
      const figures = `seed ${seed}: ${ended} of ${deeds} deeds, ${(site.payments.length / deeds).toFixed(3)} payments, ${(cost / best).toFixed(3)} of the cost`
      console.log(figures)
      expect(site.refused).toEqual([])
      expect(ended / deeds, figures).toBeGreaterThanOrEqual(0.99)
      expect(site.payments.length / deeds, figures).toBeLessThanOrEqual(1.15)
      expect(cost / best, figures).toBeLessThanOrEqual(1.1)
    },
    300_000,
  )
})

/** One task with doubles that fail as told, cheapest first. */
async function openOne(fails: Double['fails'][], protocols: Protocol[] = ['x402-v2']) {
  const [first] = toDoubles(5)
  const base = first ?? raise('expected a double')
  const doubles = fails.map(
    (failure, at): Double => ({
      ...base,
      seller: { ...base.seller, seller: { ...base.seller.seller, id: `x402.double${at}` } },
      protocol: protocols[at % protocols.length] ?? 'x402-v2',
      usd: 0.01 * (at + 1),
      fails: failure,
    }),
  )
  const site = await openDoubles(doubles)
  closing.push(site.close)
  const baseUrl = await openDirectory(doubles, site, closing)
  const waypost = createWaypost({ baseUrl, timeoutMs: 60_000 })
  const run = (options: object = {}) =>
    doTask(waypost, base.task.id, base.task.example, {
      pay: { wallet: WALLET, maxUsd: 1 },
      timeoutMs: ASK_TIMEOUT,
      ...options,
    })
  return { site, run }
}

describe('a deed', () => {
  test.each(FAILURES)(
    'goes on behind a seller that is %s',
    async (failure) => {
      const { run, site } = await openOne([failure, null])
      const done = await run()
      expect(done.seller).toBe(failure === 'dearer' ? 'x402.double0' : 'x402.double1')
      expect(done.attempts.map(({ end }) => end)).toContain('delivered')
      const costsMoney = ['again_402', 'wrong_shape', 'empty'].includes(failure)
      expect(site.payments).toHaveLength(costsMoney ? 2 : 1)
    },
    120_000,
  )

  test('pays on each rail', async () => {
    for (const protocol of ['x402-v1', 'x402-v2', 'mpp'] as const) {
      const { run } = await openOne([null], [protocol])
      expect((await run()).output).not.toBeNull()
    }
  })

  test('stays within its budget over all attempts, and says what it spent where', async () => {
    const { run, site } = await openOne(['wrong_shape', 'wrong_shape', null])
    const done = await run({ pay: { wallet: WALLET, maxUsd: 0.035 } })
    expect(done.output).toBeNull()
    expect(done.attempts.map(({ seller, usd, end }) => [seller, usd, end])).toEqual([
      ['x402.double0', 0.01, 'wrong_answer'],
      ['x402.double1', 0.02, 'wrong_answer'],
      ['x402.double2', 0, 'over_budget'],
    ])
    expect(done.spent_usd).toBe(0.03)
    expect(site.payments).toHaveLength(2)
  })

  test('takes a dearer seller where its price belongs, and within the budget', async () => {
    const { run, site } = await openOne(['dearer', null])
    const done = await run()
    expect(done.seller).toBe('x402.double0')
    expect(done.attempts.map(({ end }) => end)).toEqual(['dearer', 'delivered'])
    expect(site.payments.map(({ usd }) => usd)).toEqual([0.015])
    const tight = await openOne(['dearer', 'dead'])
    const none = await tight.run({ pay: { wallet: WALLET, maxUsd: 0.012 } })
    expect(none.output).toBeNull()
    expect(tight.site.payments).toEqual([])
  })

  test('asks nobody for money without a wallet', async () => {
    const { run, site } = await openOne([null])
    expect(await run({ pay: undefined })).toMatchObject({ output: null, spent_usd: 0 })
    expect(site.payments).toEqual([])
  })

  test('pays nobody twice when it is taken up again under its name', async () => {
    const { run, site } = await openOne(['empty', 'empty'])
    const session = createSession()
    await run({ session, deed: 'one' })
    await run({ session, deed: 'one' })
    expect(site.payments).toHaveLength(2)
  })
})

/** A session whose command ends at a step, every second time when the file has been written. */
function endAt(session: Session, step: number): Session {
  let taken = 0
  const wrap =
    <Args extends unknown[], Result>(act: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      taken += 1
      if (taken === Math.floor(step / 2) + 1) {
        if (step % 2 === 1) await act(...args)
        throw new Error('ended')
      }
      return act(...args)
    }
  return {
    reserve: wrap(session.reserve),
    settle: wrap(session.settle),
    remember: wrap(session.remember),
    standings: wrap(session.standings),
    paidIn: wrap(session.paidIn),
  }
}

describe('a session in a file', () => {
  test('holds its budget over many deeds, at once too', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'waypost-session-'))
    const file = join(dir, 'session.jsonl')
    const { run, site } = await openOne([null])
    const session = () => openSession(file, 0.035)
    await Promise.all(Array.from({ length: 8 }, () => run({ session: session() })))
    expect(site.payments).toHaveLength(3)
    const spent = await readSpent(file)
    expect(spent.map(({ state, usd }) => [state, usd])).toEqual(Array(3).fill(['paid', 0.01]))
    rmSync(dir, { recursive: true })
  })

  test('ended at any step, it knows what may have been paid, and pays nobody twice', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'waypost-session-'))
    const { run, site } = await openOne(['empty', 'wrong_shape', null])
    for (let step = 0, isOver = false; !isOver; step += 1) {
      const file = join(dir, `${step}.jsonl`)
      const before = site.payments.length
      const ended = await run({ session: endAt(openSession(file, 1), step), deed: 'one' }).catch(
        (error) => error,
      )
      isOver = !(ended instanceof Error)
      expect(isOver || ended.message, `${step}`).toBe(isOver || 'ended')
      await run({ session: openSession(file, 1), deed: 'one' })
      const paid = site.payments.slice(before).map(({ seller }) => seller)
      const known = (await readSpent(file)).map(({ seller }) => seller)
      expect(new Set(paid).size, `${step}`).toBe(paid.length)
      expect(known, `${step}`).toEqual(expect.arrayContaining(paid))
      // A first payment, its outcome and what is remembered of the seller, of three sellers.
      if (isOver) expect(step).toBeGreaterThan(9)
    }
    rmSync(dir, { recursive: true })
  }, 120_000)

  test('a payment without an outcome may have been paid, and a torn line was never sent', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'waypost-session-'))
    const file = join(dir, 'session.jsonl')
    const payment = { deed: 'one', task: 'weather', seller: 'x402.a', usd: 0.01 }
    const session = openSession(file, 0.025)
    expect(await session.reserve(payment)).not.toBeNull()
    appendFileSync(file, '{"pay":"torn","usd":0.0')
    const second = await session.reserve({ ...payment, seller: 'x402.b' })
    await session.settle(second ?? '', 'paid')
    expect(await session.reserve({ ...payment, seller: 'x402.c' })).toBeNull()
    const spent = await readSpent(file)
    expect(spent.map(({ seller, state }) => [seller, state])).toEqual([
      ['x402.a', 'sent'],
      ['x402.b', 'paid'],
    ])
    expect([...(await session.paidIn('one'))]).toEqual(['x402.a', 'x402.b'])
    expect(statSync(file).mode & 0o777).toBe(0o600)
    rmSync(dir, { recursive: true })
  })
})
