import { describe, expect, test } from 'vitest'
import { fillCall } from '../../src/domain/kit/filled-call.ts'
import { chooseOperation, toKitOperations } from '../../src/domain/kit/kit-entries.ts'
import { toListing } from '../domain/listing-samples.ts'

const RELAY = 'https://waypost.example/api/v1/call/x402.one'
const offer = (rail: 'x402' | 'mpp') => ({
  rail,
  network: rail === 'x402' ? 'eip155:8453' : 'eip155:4217',
  min_usd: 0.01,
  max_usd: 0.01,
})
const AT = 'https://one.example'
const operations = toKitOperations(
  toListing({
    facts: {
      url: AT,
      auth: { type: 'api_key', in: 'header', name: 'X-API-Key' },
      http: [
        { method: 'GET', url: `${AT}/free` },
        {
          method: 'POST',
          url: `${AT}/mpp`,
          offers: [offer('mpp')],
          body: { content_type: 'application/json', example: { q: 1 } },
        },
        {
          method: 'POST',
          url: `${AT}/both`,
          offers: [offer('mpp'), offer('x402')],
          body: { content_type: 'application/json', example: { q: 'cats' } },
        },
        {
          method: 'GET',
          url: `${AT}/users/{id}`,
          offers: [offer('x402')],
          params: [{ name: 'id', in: 'path' }],
        },
        {
          method: 'DELETE',
          url: `${AT}/users/{id}`,
          offers: [offer('x402')],
          params: [{ name: 'id', in: 'path', example: 'u1' }],
        },
      ],
    },
  }),
  RELAY,
)
const fill = (requested = {}) => fillCall(operations, requested, 'x402')

describe('operations and rails', () => {
  test('the relay stands only beside what is sold on x402', () => {
    const isRelayed = ({ relay_url }: { relay_url?: string | undefined }) => relay_url !== undefined
    const relayed = [false, false, true, true, true]
    expect(operations.map(isRelayed)).toEqual(relayed)
    expect(operations.map(({ example }) => isRelayed(example))).toEqual(relayed)
  })

  test('the first of a rail is chosen where the rail is asked for, else the first that is sold on several, or has a price', () => {
    expect(chooseOperation(operations)?.url).toBe(`${AT}/both`)
    expect(chooseOperation(operations.slice(0, 2))?.url).toBe(`${AT}/mpp`)
    expect(chooseOperation(operations, 'mpp')?.url).toBe(`${AT}/mpp`)
    expect(chooseOperation(operations, 'x402')?.url).toBe(`${AT}/both`)
    expect(chooseOperation([])).toBeUndefined()
  })

  test('before that, what is mapped to its task, of the task that most of them do', () => {
    const price = { min_usd: 1, max_usd: 1, per: 'call' } as const
    const [suggest, search, result] = [{ task: 'seo', price }, { task: 'search' }, { a: 'b' }]
    const mapped = { ...search, result }
    expect(chooseOperation([suggest, search, mapped, { task: 'news', result }])).toBe(mapped)
    expect(chooseOperation([suggest, { task: 'x' }, { task: 'y' }, mapped])).toBe(mapped)
    expect(chooseOperation([suggest, { ...suggest }, search, mapped])).toBe(suggest)
    const few = [{ task: 'x' }, { task: 'y' }, { task: 'z' }, { task: 'news', result }]
    expect(chooseOperation([search, ...few, { ...search, price }])).toMatchObject({ price })
    expect(chooseOperation([...few, search, { ...search, price }])).toBe(few[3])
  })
})

describe('a call takes from its operation what its caller leaves out', () => {
  test('everything, of the first that is sold on x402', () => {
    expect(fill()).toEqual({
      method: 'POST',
      endpoint: `${AT}/both`,
      // The key's placeholder stays here: only its owner can fill it.
      headers: { 'Content-Type': 'application/json' },
      body: '{"q":"cats"}',
    })
  })

  test('what the caller says wins', () => {
    const headers = { 'content-type': 'application/cbor', 'X-API-Key': 'mine' }
    expect(fill({ endpoint: '/both?page=2', headers, body: 'raw' })).toEqual({
      method: 'POST',
      endpoint: '/both?page=2',
      headers,
      body: 'raw',
    })
  })

  test('the operation is the one that the endpoint names, placeholders filled or not', () => {
    expect(fill({ endpoint: `${AT}/users/7` })).toMatchObject({
      method: 'GET',
      endpoint: `${AT}/users/7`,
    })
    expect(fill({ method: 'DELETE', endpoint: '/users/7' })).toMatchObject({ method: 'DELETE' })
    expect(fill({ method: 'DELETE' })).toMatchObject({ endpoint: `${AT}/users/u1` })
  })

  test('a method or an endpoint that no operation has goes out as it is', () => {
    expect(fill({ method: 'PUT' })).toEqual({ method: 'PUT', headers: {} })
    expect(fill({ endpoint: '/other' })).toEqual({ method: 'GET', endpoint: '/other', headers: {} })
    expect(fill({ endpoint: '/other', body: {} })).toMatchObject({ method: 'POST', body: {} })
    expect(fillCall([], {}, 'x402')).toEqual({ method: 'GET', headers: {} })
  })

  test('a value that only the caller knows is asked for, never sent as its placeholder', () => {
    expect(fill({ method: 'GET' })).toMatch(/<ID>.*Send endpoint and body/)
  })
})
