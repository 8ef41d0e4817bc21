import { afterAll, beforeAll, expect, test } from 'vitest'
import { type RunningService, startService } from '../support/running-service.ts'

let waypost: RunningService
beforeAll(async () => {
  waypost = await startService()
})
afterAll(() => waypost.close())

const ask = async (query: string) => {
  const answer = await fetch(`${waypost.url}/api/v1/search?${query}`)
  return { status: answer.status, body: await answer.json() }
}

test.each(['1000', '2147483647', '2147483648', '4294967296', '9007199254740991'])(
  'past the end, offset %s gives no results and the true total',
  async (offset) => {
    for (const query of ['', 'q=weather&']) {
      const { total } = (await ask(query)).body
      const { status, body } = await ask(`${query}offset=${offset}`)
      expect(status).toBe(200)
      expect(body.results).toEqual([])
      expect(body.total).toBe(total)
      expect(body.query.offset).toBe(Number(offset))
    }
  },
)

test('an offset that no number holds exactly counts as the largest one', async () => {
  const { status, body } = await ask('offset=123456789012345678901234567890')
  expect([status, body.results]).toEqual([200, []])
  expect(body.query.offset).toBe(Number.MAX_SAFE_INTEGER)
})

test.each(['-1', '1.5', '1e3', ' 1', ''])('offset %j is no offset', async (offset) => {
  expect((await ask(`offset=${encodeURIComponent(offset)}`)).status).toBe(400)
})
