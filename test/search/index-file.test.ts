import fc from 'fast-check'
import { expect, test } from 'vitest'
import { buildSearchIndex } from '../../src/search/index/build-index.ts'
import {
  type IndexData,
  loadSearchIndex,
  readBody,
  readId,
  readIndexHead,
  readIndexHeader,
  SearchIndexError,
  toIndexFile,
} from '../../src/search/index/index-file.ts'
import { toBody } from '../../src/search/index/search-document.ts'
import { searchIndex } from '../../src/search/query/search-index.ts'
import { sampleDocument } from './search-samples.ts'

const documents = ['alpha', 'beta', 'gamma'].map((name) =>
  sampleDocument({ id: `mcp.${name}`, name, tags: ['greek'], summary: `The letter ${name}.` }),
)
const file = buildSearchIndex(documents)

test('the same documents in any order give the same bytes', () => {
  fc.assert(
    fc.property(fc.shuffledSubarray(documents, { minLength: 3 }), (shuffled) => {
      expect(buildSearchIndex(shuffled)).toEqual(file)
    }),
  )
})

test('every single changed byte is noticed', () => {
  for (let at = 0; at < file.length; at += 1) {
    const damaged = file.slice()
    damaged[at] = (damaged[at] ?? 0) ^ 0x10
    expect(() => loadSearchIndex(damaged), `byte ${at}`).toThrow(SearchIndexError)
  }
})

test.each([0, 7, 39, 40, 41, 1000, file.length - 1])(
  'a file cut to %i bytes is refused',
  (length) => {
    expect(() => loadSearchIndex(file.slice(0, length))).toThrow(SearchIndexError)
  },
)

test('a file of another version is refused with both versions', () => {
  const other = file.slice()
  new DataView(other.buffer).setUint32(8, 99, true)
  expect(() => loadSearchIndex(other)).toThrow(/format 99.*reads format \d+.*Build it again/s)
})

test('something else altogether is refused', () => {
  expect(() => loadSearchIndex(new TextEncoder().encode('{"not": "an index"}'.repeat(9)))).toThrow(
    /not a search index/,
  )
})

test('a file at an odd place in memory loads all the same', () => {
  const roomy = new Uint8Array(file.length + 3)
  roomy.set(file, 3)
  const index = loadSearchIndex(roomy.subarray(3))
  expect(new TextDecoder().decode(readBody(index, 0))).toContain('"id":"mcp.alpha"')
})

test('no listings at all make an index that answers', () => {
  expect(loadSearchIndex(buildSearchIndex([])).organicRows).toBe(0)
})

test('bit sets are read by their names, wherever they are in the file', () => {
  const payers = (['api_key', 'none', 'payment'] as const).map((auth) =>
    sampleDocument({ id: `x402.${auth.replace('_', '-')}`, auth, kind: 'http_api' }),
  )
  const bodies = payers.map(({ body }) => Buffer.from(body))
  const data = dataOf(buildSearchIndex(payers))
  const words = data.filterBits.length / data.filterValues.length
  const sets = data.filterValues.map((_, at) =>
    data.filterBits.subarray(at * words, (at + 1) * words),
  )
  const turned = {
    ...data,
    filterValues: data.filterValues.toReversed(),
    filterBits: Uint32Array.from(sets.toReversed().flatMap((set) => [...set])),
  }
  const index = loadSearchIndex(Buffer.concat([...toIndexFile(turned, bodies)]))
  const { rows } = searchIndex(index, { auth: 'none', limit: 5, offset: 0 }).organic
  expect(rows.map(({ row }) => readId(index, row))).toEqual(['x402.none'])
})

test('a program and an index that know different filters refuse each other', () => {
  const data = dataOf(file)
  const write = (filterValues: readonly string[]) => () =>
    loadSearchIndex(
      Buffer.concat([
        ...toIndexFile(
          { ...data, filterValues },
          documents.map(({ body }) => Buffer.from(body)),
        ),
      ]),
    )
  expect(write(data.filterValues)).not.toThrow()
  expect(write(data.filterValues.filter((value) => value !== 'auth:none'))).toThrow(
    /lacks the filter value “auth:none”/,
  )
  expect(write(['auth:magic', ...data.filterValues])).toThrow(
    /“auth:magic”, which this program does not know/,
  )
})

test('the builder refuses an id twice', () => {
  expect(() => buildSearchIndex([...documents, ...documents])).toThrow(/mcp\.alpha appears twice/)
})

test('a body is completed whatever the order of its members', () => {
  const links = { listing: '/api/v1/listings/mcp.x' }
  const members = { id: 'mcp.x', name: 'X', kind: 'kit', summary: ',"links":{', status: 'live' }
  const { id, ...others } = members
  const view = { links, more: [1], ...others, id }
  expect(toBody(view)).toBe(JSON.stringify({ ...members, more: [1], links }))
})

function dataOf(bytes: Uint8Array): IndexData {
  const header = readIndexHeader(bytes)
  return readIndexHead(bytes.slice(0, header.headBytes), header)
}
