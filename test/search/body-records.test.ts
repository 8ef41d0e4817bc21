import { crc32 as zlibCrc32 } from 'node:zlib'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { deflateBlock } from '../../src/compile/engine/write-engine.ts'
import { packBody, partsOf, storedBlocks, unpackBody } from '../../src/search/index/body-records.ts'
import { crc32, joinCrc32 } from '../../src/search/index/crc32.ts'
import { readBody, readId } from '../../src/search/index/index-rows.ts'
import { indexOf, sampleDocument } from './search-samples.ts'

const bytes = fc.uint8Array({ maxLength: 300 })

test('a checksum is that of zip, and follows from those of the parts', () => {
  fc.assert(
    fc.property(bytes, bytes, (first, second) => {
      const whole = zlibCrc32(Buffer.concat([first, second]))
      expect(crc32(second, crc32(first))).toBe(whole)
      expect(joinCrc32(crc32(first), crc32(second), second.length)).toBe(whole)
    }),
  )
  const long = Buffer.alloc(70_000, 'abc')
  expect(joinCrc32(7, crc32(long), long.length)).toBe(zlibCrc32(long, 7))
})

test.each([
  ['compressed', deflateBlock],
  ['as it is', storedBlocks],
])('a body comes back from its record, %s', (_name, deflate) => {
  fc.assert(
    fc.property(fc.string({ maxLength: 200 }), fc.nat(70_000), (summary, more) => {
      const text = JSON.stringify({
        id: 'mcp.a',
        summary,
        more: 'x'.repeat(more),
        links: { a: 'b' },
      })
      const body = new TextEncoder().encode(text)
      const record = packBody('mcp.a', body, deflate)
      expect(new TextDecoder().decode(unpackBody(record))).toBe(text)
      expect(partsOf(record).length).toBe(body.length - '{"id":"mcp.a'.length - '}}'.length)
    }),
    { numRuns: 50 },
  )
})

test('more is read than is kept, and each body is its own', () => {
  const summary = 'x'.repeat(300_000)
  const index = indexOf(
    Array.from({ length: 100 }, (_, at) =>
      sampleDocument({ id: `mcp.n${at}`, name: `n${at}`, summary: `${at} ${summary}` }),
    ),
  )
  for (let at = 0; at < 300; at += 1) {
    const row = (at * 7) % 100
    const body = JSON.parse(new TextDecoder().decode(readBody(index, 'organic', row)))
    expect(body.id).toBe(readId(index, 'organic', row))
    expect(index.unpacked.bytes).toBeLessThanOrEqual(24 * 1024 * 1024)
  }
  const kept = [...index.unpacked.byPlace.values()].reduce((sum, { length }) => sum + length, 0)
  expect(index.unpacked.bytes).toBe(kept)
})
