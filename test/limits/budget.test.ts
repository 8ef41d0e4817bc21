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

test('a client has its share, and gets it back when it releases', () => {
  const budget = createBudget({ perClient: 2, perNetwork: 4, inAll: 8 })
  const held = budget.take('192.0.2.1')
  expect(budget.take('192.0.2.1')).toBeTypeOf('object')
  expect(budget.take('192.0.2.1')).toBe('client')
  expect(budget.take('192.0.2.2')).toBeTypeOf('object')
  if (typeof held === 'string') throw new Error(held)
  held.release()
  held.release()
  expect(budget.take('192.0.2.1')).toBeTypeOf('object')
  expect(budget.take('192.0.2.1')).toBe('client')
})

test('a hundred /64s of one /48 get what its network may hold, and its neighbours theirs', () => {
  const budget = createBudget({ perClient: 1, perNetwork: 4, inAll: 50 })
  const taken = Array.from({ length: 100 }, (_, subnet) => budget.take(V6('0001', subnet)))
  expect(taken.filter((held) => typeof held === 'object')).toHaveLength(4)
  expect(taken.at(-1)).toBe('network')
  expect(budget.take(V6('0002', 0))).toBeTypeOf('object')
  expect(budget.reachedBy(V6('0001', 200))).toBe('network')
})

test('where everything is taken, the largest holder gives up its oldest to whoever holds less', () => {
  const ended: string[] = []
  const budget = createBudget({ perClient: 4, perNetwork: 4, inAll: 6 })
  const take = (client: string, name: string) =>
    budget.take(client, { evict: () => ended.push(name) })
  for (const name of ['g1', 'g2', 'g3', 'g4']) take('192.0.2.1', name)
  for (const name of ['s1', 's2']) take('192.0.2.2', name)
  expect(take('192.0.2.3', 'new')).toBeTypeOf('object')
  expect(ended).toEqual(['g1'])
  expect(take('192.0.2.4', 'new')).toBeTypeOf('object')
  expect(ended).toEqual(['g1', 'g2'])
  // Nobody holds more than two now: a second one for the newcomer would only change who waits.
  expect(take('192.0.2.4', 'more')).toBe('process')
  expect(ended).toEqual(['g1', 'g2'])
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

test('a client may replace its own oldest instead of being refused', () => {
  const ended: string[] = []
  const budget = createBudget({ perClient: 2, perNetwork: 4, inAll: 8 }, 'replace')
  for (const name of ['a', 'b', 'c'])
    expect(budget.take('192.0.2.1', { evict: () => ended.push(name) })).toBeTypeOf('object')
  expect(ended).toEqual(['a'])
})

test('where all hold alike, what comes replaces the oldest of another', () => {
  const ended: string[] = []
  const budget = createBudget({ perClient: 2, perNetwork: 4, inAll: 2 }, 'replace')
  for (const client of ['192.0.2.1', '192.0.2.2', '192.0.2.3'])
    expect(budget.take(client, { evict: () => ended.push(client) })).toBeTypeOf('object')
  expect(ended).toEqual(['192.0.2.1'])
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
