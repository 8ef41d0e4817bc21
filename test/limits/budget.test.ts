import { expect, test } from 'vitest'
import { parseConfig } from '../../functions/ports/config.ts'
import { createBudget } from '../../functions/server/budget.ts'
import { createRateLimits, networkOf } from '../../functions/server/rate-limits.ts'

const V6 = (site: string, subnet: number) =>
  `20010db8${site}${subnet.toString(16).padStart(4, '0')}::/64`

test.each([
  ['20010db800010002::/64', '20010db80001::/48'],
  ['20010db80001ffff::/64', '20010db80001::/48'],
  ['20010db800020002::/64', '20010db80002::/48'],
  ['198.51.100.7', '198.51.100.7'],
  ['unknown', 'unknown'],
])('the network of %s is %s', (key, network) => {
  expect(networkOf(key)).toBe(network)
})

test('what cannot give way stays, however much its holder has', () => {
  const budget = createBudget({ perClient: 4, perNetwork: 4, inAll: 4 })
  for (let count = 0; count < 4; count += 1) budget.take('192.0.2.1')
  expect(budget.take('192.0.2.2')).toBe('process')
})

test('the clients of one /48 are one holder when somebody has to give way', () => {
  const ended: number[] = []
  const budget = createBudget({ perClient: 2, perNetwork: 6, inAll: 8 })
  for (const subnet of [1, 2, 3, 4, 5, 6])
    budget.take(V6('0001', subnet), { evict: () => ended.push(subnet) })
  budget.take('192.0.2.1')
  budget.take('192.0.2.1')
  expect(budget.take('192.0.2.2')).toBeTypeOf('object')
  expect(ended).toEqual([1])
})

test('bytes are counted as they come, and what gave way holds nothing', () => {
  const budget = createBudget({ perClient: 10, perNetwork: 10, inAll: 12 })
  const ended: string[] = []
  const greedy = budget.take('192.0.2.1', { size: 0, evict: () => ended.push('greedy') })
  if (typeof greedy === 'string') throw new Error(greedy)
  expect(greedy.grow(8)).toBeNull()
  expect(greedy.grow(3)).toBe('client')
  expect(greedy.grow(2)).toBeNull()
  const other = budget.take('192.0.2.2', { size: 3 })
  expect(ended).toEqual(['greedy'])
  expect(greedy.grow(5)).toBeNull()
  greedy.release()
  if (typeof other === 'string') throw new Error(other)
  expect(other.grow(7)).toBeNull()
  expect(budget.take('192.0.2.3', { size: 2 })).toBeTypeOf('object')
  expect(budget.take('192.0.2.3', { size: 1 })).toBe('process')
})

test('a hundred /64s of one /48 get ten times what one may ask for in a window', async () => {
  const limits = createRateLimits(parseConfig({ RATE_LIMITS: '{"propose":"2/60"}' }))
  let allowed = 0
  for (let subnet = 0; subnet < 100; subnet += 1)
    if ((await limits.take('propose', V6('0001', subnet))).allowed) allowed += 1
  expect(allowed).toBe(20)
  const refused = await limits.take('propose', V6('0001', 200))
  expect(refused.headers).toMatchObject({ 'RateLimit-Policy': '"propose";q=20;w=60' })
  expect((await limits.take('propose', V6('0002', 0))).allowed).toBe(true)
  expect((await limits.take('propose', '192.0.2.1')).allowed).toBe(true)
})

test('a client beyond its own budget uses up nothing of its neighbours', async () => {
  const limits = createRateLimits(parseConfig({ RATE_LIMITS: '{"propose":"2/60"}' }))
  for (let count = 0; count < 100; count += 1) await limits.take('propose', V6('0001', 1))
  expect((await limits.take('propose', V6('0001', 2))).allowed).toBe(true)
})
