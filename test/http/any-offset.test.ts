import { expect, test } from 'vitest'
import { serveFixture } from '../support/running-service.ts'

const waypost = serveFixture()

const ask = async (query: string) => {
  const answer = await fetch(`${waypost.url}/api/v1/search?${query}`)
  return { status: answer.status, body: await answer.json() }
}

test.each(['1000', '1000000000', '2147483647'])(
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

test.each(['2147483648', '4294967296', '9007199254740991', '123456789012345678901234567890'])(
  'offset %s is refused with what is allowed',
  async (offset) => {
    const { status, body } = await ask(`offset=${offset}`)
    expect([status, body.errors[0].name]).toEqual([400, 'offset'])
    expect(body.errors[0].detail).toContain('from 0 to 2147483647')
  },
)

test.each(['%20', '+++', '%09%0A', '%E3%80%80', ''])('q=%s is not a q', async (q) => {
  const { status, body } = await ask(`q=${q}`)
  const { query, total } = (await ask('')).body
  expect([status, body.query, body.total]).toEqual([200, query, total])
})

test.each(['-1', '1.5', '1e3', ' 1', ''])('offset %j is not an offset', async (offset) => {
  expect((await ask(`offset=${encodeURIComponent(offset)}`)).status).toBe(400)
})
