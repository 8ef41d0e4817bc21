import { expect, test } from 'vitest'
import { serveFixture } from '../support/running-service.ts'

const waypost = serveFixture()

const read = async (path: string) => (await fetch(`${waypost.url}${path}`)).json()
const kitOf = (id: string, query = '') => read(`/api/v1/listings/${id}/kit.json${query}`)

test('the compact kit has the request that the whole one would send, and its digest', async () => {
  const whole = await kitOf('x402.weather')
  const compact = await kitOf('x402.weather', '?view=compact')
  const [operation] = whole.operations
  const { url = operation.url, body } = compact.operation.example ?? {}
  expect({ url, body }).toEqual({ url: operation.example.url, body: operation.example.body })
  expect(compact.operation.method).toBe(operation.method)
  expect(compact.digest).toMatch(/^[\w-]{43}$/)
  expect(await kitOf('x402.weather', '?view=full')).toEqual(whole)
})

test('every protocol gives the same digest', async () => {
  const { digest } = await kitOf('x402.weather')
  expect((await read('/api/v1/listings/x402.weather')).digest).toBe(digest)
  const { results } = await read('/api/v1/operations?q=weather&limit=20')
  const rows = results.filter(
    (row: { listing: { id: string } }) => row.listing.id === 'x402.weather',
  )
  expect(rows.length).toBeGreaterThan(0)
  for (const row of rows) expect(row.digest).toBe(digest)
})

test('an operation is chosen by its name or its place', async () => {
  const { operations } = await kitOf('x402.weather')
  const { others } = await kitOf('x402.weather', '?view=compact')
  const byName = await kitOf(
    'x402.weather',
    `?view=compact&operation=${encodeURIComponent(others[0])}`,
  )
  expect(byName.operation.url).toBe(operations[1].url)
  expect(await kitOf('x402.weather', '?view=compact&operation=1')).toEqual(byName)
  // Only a compact kit has one operation: to choose one is to mean that view.
  expect(await kitOf('x402.weather', '?operation=1')).toEqual(byName)
  expect(await kitOf('x402.weather', '?rail=x402')).toEqual(
    await kitOf('x402.weather', '?view=compact&rail=x402'),
  )
  expect(await kitOf('x402.weather', '?view=full&operation=1')).toMatchObject({ status: 400 })
})
