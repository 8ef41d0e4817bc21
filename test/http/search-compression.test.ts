import { randomUUID } from 'node:crypto'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { createSearch } from '../../functions/search/search.ts'
import { HOSTILE_QUERIES } from '../bench/hostile-queries.ts'
import { decode, indexOf, sampleDocument } from '../search/search-samples.ts'

const SEARCH_ID = '00000000-0000-4000-8000-000000000000'
const index = indexOf([
  ...Array.from({ length: 80 }, (_, at) =>
    sampleDocument({
      id: `mcp.n${at}`,
      name: `Weather ${at} “é”`,
      summary: `Forecast ${'of rain and sun '.repeat(10 + (at % 9))}.`,
      tags: at % 2 === 0 ? ['wind'] : [],
    }),
  ),
  sampleDocument({ id: 'kit.ours', name: 'Weather kit', kind: 'kit', firstParty: true }),
])
const createOne = (uuid = () => SEARCH_ID) =>
  createSearch({
    index: () => index,
    texts: () => ({
      featured: ['kit.ours'],
      featured_label: 'Showcase',
      sponsored_policy: 'None '.repeat(40),
      also_search: [{ name: 'x', url: 'https://x.example', note: 'y' }],
      ranking: 'BM25F '.repeat(120),
      attribution: [],
    }),
    randomUuid: uuid,
  })
const search = createOne()

function answered(rawQuery: string, accepts?: string) {
  const reply = search(rawQuery, { accepts })
  if (reply.status !== 200) throw new Error('refused')
  return { headers: reply.headers, body: Buffer.from(reply.body) }
}

describe('a compressed answer unpacks to the plain one', () => {
  test.each([
    'q=weather',
    'q=weather&limit=50',
    'q=weather&limit=50&offset=30',
    'q=wind&view=compact&limit=50',
    'q=weather&explain=true&facets=kind,price',
    'q=nothing+here+zq',
    'limit=1',
    '',
  ])('%s', (rawQuery) => {
    const plain = answered(rawQuery)
    expect(plain.headers).not.toHaveProperty('Content-Encoding')
    for (let again = 0; again < 2; again += 1) {
      const gzip = answered(rawQuery, 'gzip, br')
      expect(gzip.headers).toMatchObject({ 'Content-Encoding': 'gzip', Vary: 'Accept-Encoding' })
      expect(gunzipSync(gzip.body).toString()).toBe(decode(plain.body))
    }
    const brotli = answered(rawQuery, 'br, gzip;q=0')
    expect(brotli.headers).toMatchObject({ 'Content-Encoding': 'br' })
    expect(brotliDecompressSync(brotli.body).toString()).toBe(decode(plain.body))
  })

  test('and takes a fraction of the bytes', () => {
    const plain = answered('q=weather&limit=50').body.length
    expect(answered('q=weather&limit=50', 'gzip').body.length).toBeLessThan(plain * 0.8)
    expect(answered('q=weather&limit=50&view=compact', 'gzip').body.length).toBeLessThan(plain / 8)
  })
})

test.each(Object.entries(HOSTILE_QUERIES))(
  '%s is answered the same, compressed or not',
  (_name, rawQuery) => {
    const [plain, gzip, brotli] = [undefined, 'gzip', 'br'].map((accepts) =>
      search(rawQuery, { accepts }),
    )
    if (plain?.status !== 200) {
      expect([gzip, brotli]).toEqual([plain, plain])
      expect(plain?.problems.length).toBeGreaterThan(0)
      return
    }
    if (gzip?.status !== 200 || brotli?.status !== 200) throw new Error('refused compressed')
    const text = decode(plain.body)
    expect(gunzipSync(gzip.body).toString()).toBe(text)
    expect(brotliDecompressSync(brotli.body).toString()).toBe(text)
    expect(JSON.parse(text).results.length).toBeLessThanOrEqual(50)
  },
)

test.each([
  'gzip'.repeat(2000),
  ','.repeat(4000),
  'gzip;'.repeat(1000),
  'gzip;q=-1',
  'GZIP;Q=0',
  'br;q=0, *;q=0',
  '\u0000gzip\u0000',
  '*;q=0',
])('Accept-Encoding made to confuse: %s', (accepts) => {
  const { headers, body } = answered('q=weather', accepts)
  const text = 'Content-Encoding' in headers ? gunzipSync(body) : body
  expect(JSON.parse(text.toString()).total).toBe(80)
})

test.each([undefined, '', 'identity', 'gzip;q=0', 'gzip;q=0.000, br;q=0', 'deflate', 'zstd'])(
  'Accept-Encoding: %s gets the plain answer',
  (accepts) => {
    const { headers, body } = answered('q=weather', accepts)
    expect(headers).not.toHaveProperty('Content-Encoding')
    expect(headers).toMatchObject({ Vary: 'Accept-Encoding' })
    expect(JSON.parse(decode(body)).total).toBe(80)
  },
)

test('answers compressed at the same time do not mix', () => {
  const other = createOne(randomUUID)
  const made = Array.from({ length: 40 }, (_, at) => {
    const reply = other(`q=weather&limit=${at + 1}`, { accepts: 'gzip' })
    if (reply.status !== 200) throw new Error('refused')
    return reply.body
  })
  made.forEach((body, at) => {
    expect(JSON.parse(gunzipSync(body).toString()).results).toHaveLength(at + 1)
  })
})
