import { existsSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { readX402Manifest } from '../../src/domain/sources/x402-manifest.ts'
import { readJsonLines } from '../support/json-lines.ts'

interface Case {
  case: string
  document: object
  operations: object[]
  payees?: string[]
  placeholder?: string
}
const ADDRESS = 'https://api.shop.example/.well-known/x402.json'

describe('an x402 manifest', () => {
  test.each(readJsonLines<Case>('test/fixtures/published/x402-manifests.ndjson'))(
    'is read: $case',
    ({ document, operations, payees = [], placeholder }) => {
      const read = readX402Manifest(document, ADDRESS)
      expect(read?.operations).toEqual(operations)
      expect([read?.payees, read?.placeholder]).toEqual([payees, placeholder])
    },
  )

  test('with very many entries is cut, and said to be', () => {
    const resources = Array.from({ length: 600 }, (_, n) => `https://api.shop.example/${n}`)
    const read = readX402Manifest({ x402Version: 1, resources }, ADDRESS)
    expect([read?.operations.length, read?.truncated]).toEqual([100, true])
  })

  test.each([
    { serviceName: 'Harbour Gate' },
    { publisher: { name: 'Harbour Gate' } },
    { service: { name: 'Harbour Gate' } },
  ])('has a title: %j', (named) => {
    const read = readX402Manifest({ x402Version: 2, resources: [], ...named }, ADDRESS)
    expect(read?.title).toBe('Harbour Gate')
  })

  test('is nothing else', () => {
    for (const document of [null, [], 'x402', {}, { name: 'Shop' }, { resources: [] }])
      expect(readX402Manifest(document, ADDRESS)).toBeNull()
  })

  const FIELD = '../shared/data/field/well-known-x402.ndjson'
  if (!existsSync(FIELD)) console.warn(`skipped: ${FIELD} is not here`)
  test.skipIf(!existsSync(FIELD))(
    'of the recorded reports gives operations, prices and payees',
    () => {
      const read = readJsonLines<object>(FIELD).map((document) =>
        readX402Manifest(document, ADDRESS),
      )
      const pricesOf = (each: (typeof read)[number]) =>
        each?.operations.map(({ method, url, price }) => [
          method,
          url.split('/').at(-1),
          price?.max_usd,
        ])
      expect(read.map(pricesOf)).toEqual([
        [['POST', 'scan', 0.01]],
        [
          ['GET', 'a', undefined],
          ['GET', 'b', undefined],
        ],
        [['GET', 'a', 0.005]],
        [['GET', 'a', 0.01]],
      ])
      const payee = 'eip155:8453:0x1111111111111111111111111111111111111111'
      expect(read.map((each) => each?.payees)).toEqual([[payee], [], [payee], []])
      expect(read[3]?.placeholder).toBe('YOUR_WALLET_ADDRESS')
    },
  )
})
