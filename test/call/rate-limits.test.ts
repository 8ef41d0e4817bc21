import { expect, test } from 'vitest'
import { parseConfig } from '../../functions/ports/config.ts'
import { createMemoryCounter, createRateLimits } from '../../functions/server/rate-limits.ts'

const limitsFor = (limits: object) =>
  createRateLimits(parseConfig({ RATE_LIMITS: JSON.stringify(limits) }))

test('each name has a budget of its own, and a default', async () => {
  const limits = limitsFor({ call: '1/60' })
  await limits.take('call', 'a')
  expect((await limits.take('call', 'a')).allowed).toBe(false)
  expect((await limits.take('search', 'a')).headers['RateLimit-Policy']).toBe('"search";q=600;w=60')
})

test('one setting rules both limits of login', async () => {
  const defaults = limitsFor({})
  expect((await defaults.take('login_address', 'x')).headers['RateLimit-Policy']).toContain('q=5')
  expect((await defaults.take('login', 'x')).headers['RateLimit-Policy']).toContain('q=20')
  const off = limitsFor({ login: 'off' })
  for (let n = 0; n < 50; n += 1)
    expect(await off.take('login_address', 'x')).toEqual({ allowed: true, headers: {} })
})

test('a parallel burst gets exactly the budget', async () => {
  const limits = limitsFor({ call: '10/60' })
  const taken = await Promise.all(Array.from({ length: 100 }, () => limits.take('call', 'a')))
  expect(taken.filter(({ allowed }) => allowed)).toHaveLength(10)
})

test('rotating keys stay bounded, and those known before keep their own budget', async () => {
  const limits = limitsFor({ go: '3/60' })
  await limits.take('go', 'known')
  for (let n = 0; n < 50_000; n += 1) await limits.take('go', `k${n}`)
  let refused = 0
  for (let n = 0; n < 10_000; n += 1)
    if (!(await limits.take('go', `new${n}`)).allowed) refused += 1
  expect(refused).toBeGreaterThan(6000)
  expect((await limits.take('go', 'known')).allowed).toBe(true)
})

test('windows of many keys end in turn, and what ended is forgotten', async () => {
  let now = 0
  const counter = createMemoryCounter({ seconds: 10 }, () => now)
  for (let n = 0; n < 100; n += 1) {
    now = n * 100
    expect(await counter.count(`k${n}`)).toEqual({ used: 1, msBeforeReset: 10_000 })
  }
  expect(await counter.count('k0')).toEqual({ used: 2, msBeforeReset: 100 })
  now = 10_050
  expect([await counter.peek('k0'), await counter.peek('k1')]).toEqual([0, 1])
  expect(await counter.count('k0')).toEqual({ used: 1, msBeforeReset: 10_000 })
  expect(await counter.count('k99')).toEqual({ used: 2, msBeforeReset: 9_850 })
})
