import { describe, expect, test } from 'vitest'
import { planTask, toTaskSellers } from '../../src/domain/plans/task-plan.ts'
import { hostOf } from '../../src/domain/sellers/claim-rules.ts'
import { BASE_URL } from '../support/own-catalogue.ts'
import { listings, SELLERS, TASKS, tables } from './own-catalogue.ts'

const sellersOf = (id: string) => SELLERS.filter(({ task }) => task === id)
const countOf = (id: string) => new Set(sellersOf(id).map(({ seller }) => seller.id)).size

test('at least twenty tasks have a contract, each with sellers to choose from', () => {
  const counts = TASKS.map(({ id }) => [id, countOf(id)] as const)
  expect(counts.length).toBeGreaterThanOrEqual(20)
  for (const [id, count] of counts) expect(count, id).toBeGreaterThanOrEqual(2)
  const several = counts.filter(([, count]) => count >= 3)
  console.log(`${counts.length} tasks, ${several.length} with three sellers or more`)
  expect(several.length).toBeGreaterThanOrEqual(21)
})

test('who needs an account sells nothing in a plan', () => {
  const [{ seller } = expect.fail('expected a seller')] = SELLERS
  const listing = listings.find(({ id }) => id === seller.id) ?? expect.fail(seller.id)
  const withAuth = (type: 'none' | 'payment' | 'api_key' | 'oauth') =>
    toTaskSellers({ ...listing, facts: { ...listing.facts, auth: { type } } }, tables)
  expect(withAuth('payment')).not.toEqual([])
  expect(withAuth('none')).not.toEqual([])
  expect(withAuth('api_key')).toEqual([])
  expect(withAuth('oauth')).toEqual([])
})

describe('a plan holds all that a call takes', () => {
  test.each(TASKS)('$id', (task) => {
    const { total, rows } = planTask(
      task,
      sellersOf(task.id),
      { input: task.example, limit: 5 },
      BASE_URL,
    )
    expect(total).toBe(countOf(task.id))
    const operators = rows.map(({ seller, request }) => seller.operator ?? hostOf(request.url))
    const isAgain = operators.map((name, at) => Number(operators.indexOf(name) < at))
    const prices = rows.map(({ ignores = [], usd }, at) => [
      isAgain[at] ?? 0,
      ignores.filter((name) => !name.startsWith('max_')).length,
      usd ?? Number.POSITIVE_INFINITY,
    ])
    const inOrder = prices.toSorted(
      ([a = 0, b = 0, c = 0], [d = 0, e = 0, f = 0]) => a - d || b - e || c - f,
    )
    expect(prices).toEqual(inOrder)
    for (const { request, output, digest, seller } of rows) {
      expect(JSON.stringify(request), seller.id).not.toMatch(/<[A-Z_]+>|\{\w+\}/)
      expect(Object.keys(output)).not.toHaveLength(0)
      expect(digest).toMatch(/^[\w-]{43}$/)
    }
  })
})

test('three rows are at most 1.5 KB', () => {
  const sizes = TASKS.map((task) => {
    const plan = planTask(task, sellersOf(task.id), { input: task.example, limit: 3 }, BASE_URL)
    return Buffer.byteLength(JSON.stringify(plan))
  }).sort((a, b) => a - b)
  console.log(`bytes of three rows: median ${sizes[sizes.length >> 1]}, most ${sizes.at(-1)}`)
  expect(sizes.at(-1)).toBeLessThanOrEqual(1500)
})

test('sellers known to deliver come first: by as many calls as the badge needs, unjudged ones against them', () => {
  const [one, two] = sellersOf('web_search')
  if (one === undefined || two === undefined) throw new Error('expected two sellers')
  const cheap = { ...one, usd: 0.001, offers: [] }
  const expensive = { ...one, seller: { ...two.seller }, usd: 0.002, offers: [] }
  const task = TASKS.find(({ id }) => id === 'web_search') ?? expect.fail('expected web_search')
  const first = (delivered: [number, number]) =>
    planTask(
      task,
      [cheap, { ...expensive, delivered }],
      { input: task.example, limit: 5 },
      BASE_URL,
    ).rows[0]?.seller.id
  expect(first([10, 10])).toBe(expensive.seller.id)
  expect(first([9, 9])).toBe(cheap.seller.id)
  expect(first([10, 20])).toBe(cheap.seller.id)
})

test('filters hold for what is planned', () => {
  const task = TASKS.find(({ id }) => id === 'web_search')
  if (task === undefined) throw new Error('expected web_search')
  const plan = (more: object) =>
    planTask(task, sellersOf(task.id), { input: { query: 'ferries' }, limit: 5, ...more }, BASE_URL)
  for (const { offers = [] } of plan({ rail: 'x402' }).rows)
    expect(offers.every(({ rail }) => rail === 'x402')).toBe(true)
  for (const { usd } of plan({ max_price_usd: 0.005 }).rows) expect(usd).toBeLessThanOrEqual(0.005)
  expect(plan({ max_price_usd: 0 }).notes).toHaveLength(1)
  const network = 'eip155:4217'
  const onTempo = plan({ network }).rows.flatMap(({ offers = [] }) => offers)
  expect(new Set(onTempo.map((offer) => offer.network))).toEqual(new Set([network]))
  // One seller's own schema takes at most 25.
  const totalOf = (max_results: number) => plan({ input: { query: 'ferries', max_results } }).total
  expect(totalOf(25) - totalOf(26)).toBe(1)
})
