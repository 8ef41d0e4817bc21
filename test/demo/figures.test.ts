import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  toClicksByDay,
  toFigures,
  toSourcesText,
} from '../../src/components/sellers/owner-words.ts'
import type { Analytics, Me } from '../../src/domain/views/seller-views.ts'
import { type Demo, readSignInPath, startDemo } from '../support/demo.ts'

const SELLER = 'ana@brightwell.example'
let demo: Demo
let cookie: string
beforeAll(async () => {
  demo = await startDemo()
  await post('login', { email: SELLER })
  const path = await readSignInPath(demo.outbox, SELLER)
  const token = new URL(path, demo.url).searchParams.get('token')
  const signedIn = await post('session', { token })
  cookie = signedIn.headers
    .getSetCookie()
    .map((line) => line.split(';')[0])
    .join('; ')
}, 600_000)
afterAll(() => demo?.close())

function post(path: string, body: object) {
  return fetch(`${demo.url}/api/v1/sellers/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
}

async function read<View>(path: string): Promise<View> {
  const response = await fetch(`${demo.url}/api/v1/sellers/${path}`, { headers: { cookie } })
  expect(response.status).toBe(200)
  return response.json()
}

const add = (numbers: readonly number[]) => numbers.reduce((sum, number) => sum + number, 0)

test('a seller’s figures say their period, and those of one period add up', async () => {
  const { stats } = await read<Me>('me')
  const { listings } = (await read<Analytics>('me/analytics')).basic
  expect(listings.length).toBeGreaterThan(1)
  const lately = listings.map(({ last_30_days }) => last_30_days)
  expect(stats.clicks_30d).toBe(add(lately.map(({ clicks }) => clicks)))
  expect(stats.calls_30d).toBe(add(lately.map(({ calls }) => calls)))
  // A month is not the quarter.
  expect(stats.clicks_30d).toBeLessThan(add(listings.map(({ clicks }) => clicks.total)))
  expect(stats.calls_30d).toBeLessThan(add(listings.map(({ calls }) => calls)))
  for (const numbers of listings) {
    const { clicks, last_30_days } = numbers
    expect(add(Object.values(clicks.by_src).map((many) => many ?? 0))).toBe(clicks.total)
    expect(add(clicks.by_day.map(({ clicks }) => clicks))).toBe(clicks.total)
    const figures = toFigures(numbers, null, Date.now()).map(({ label, value }) => [label, value])
    expect(figures).toContainEqual(['Clicks, 30 days', last_30_days.clicks])
    expect(figures).toContainEqual(['Calls relayed, 30 days', last_30_days.calls])
    if (clicks.total === 0) continue
    expect(toSourcesText(clicks.by_src)).toContain(`${clicks.total} in 90 days: `)
    if (last_30_days.clicks === 0) continue
    expect(toClicksByDay(clicks.by_day, 30, Date.now()).sentence).toMatch(/\d clicks? in 30 days/)
  }
})
