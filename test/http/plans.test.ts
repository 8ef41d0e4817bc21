import { describe, expect, test } from 'vitest'
import { SELLER_TEXTS } from '../../src/domain/wire/shapes.ts'
import { serveFixture } from '../support/running-service.ts'

const waypost = serveFixture()

async function ask(path: string) {
  const response = await fetch(`${waypost.url}/api/v1/tasks${path}`)
  return { status: response.status, body: await response.json() }
}

test('every task is listed, and one by one', async () => {
  const { body } = await ask('')
  const search = body.tasks.find(({ id }: { id: string }) => id === 'web_search')
  expect(search).toMatchObject({ plan: '/api/v1/tasks/web_search/plan', sellers: 0 })
  expect((await ask('/web_search')).body).toEqual({ ...search, offers: [] })
  expect((await ask('/nothing')).status).toBe(404)
})

test('a plan without sellers has no rows, and says why', async () => {
  const { status, body } = await ask('/web_search/plan?query=tides&max_results=3')
  expect(status).toBe(200)
  const notes = ['No listing here is known to take this task’s input.']
  expect(body).toEqual({ task: 'web_search', total: 0, rows: [], notes, texts: SELLER_TEXTS })
})

describe('what is wrong is named, with what would be right', () => {
  test.each([
    ['', 'query', 'the task requires it'],
    ['?query=x&max_results=many', 'max_results', 'expected a value that fits the schema'],
    ['?query=x&limit=6', 'limit', 'expected a whole number from 1 to 5'],
    ['?query=x&rail=cash', 'rail', 'expected x402 or mpp'],
    ['?query=x&network=moon', 'network', 'expected a CAIP-2 id or a common name'],
    ['?query=x&max_price_usd=-1', 'max_price_usd', 'expected a number of at least 0'],
    ['?query=x&colour=red', 'colour', 'unknown parameter'],
    ['?query=x&query=y', 'query', 'given more than once'],
  ])('plan%s', async (query, name, detail) => {
    const { status, body } = await ask(`/web_search/plan${query}`)
    expect(status).toBe(400)
    expect(body.errors).toContainEqual(
      expect.objectContaining({ name, detail: expect.stringContaining(detail) }),
    )
  })
  test('an unknown task names the nearest one', async () => {
    const { status, body } = await ask('/web_serch/plan?query=x')
    expect(status).toBe(404)
    expect(body.detail).toContain('did you mean web_search?')
  })
})
