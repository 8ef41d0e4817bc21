import { brotliCompressSync, gzipSync } from 'node:zlib'
import { judgeCall, type SeenCall } from '../../functions/receipts/observe-call.ts'

/**
 * What one judged call takes, heap and buffers together, in a process whose young garbage stays where it is: the
 * sum of all that its copies and its judgement make. Prints `{ kind: [verdict, MiB] }`.
 */
const MIB = 1024 * 1024
const weather = { city: 'Oslo', temperature: 7, wind: { speed: 3, direction: 'NW' } }
const listOf = (size: number, item: (n: number) => unknown) => {
  const items: string[] = []
  for (let length = 0; length < size; ) {
    items.push(JSON.stringify(item(items.length)))
    length += Buffer.byteLength(items.at(-1) ?? '') + 1
  }
  return Buffer.from(`{"city":"Oslo","items":[${items.slice(0, -2).join(',')}]}`)
}
const MOST = MIB - 1024
const [PACKED] = [250 * 1024]
const gzip: [Buffer, string] = [Buffer.alloc(0), 'gzip']
const KINDS: Record<string, [Buffer, string]> = {
  'numbers, as they are': [listOf(PACKED, (n) => n), ''],
  'objects, as they are': [listOf(PACKED, (n) => ({ ...weather, n })), ''],
  'one text, as it is': [Buffer.from(JSON.stringify({ city: 'x'.repeat(PACKED) })), ''],
  'wide texts, as they are': [listOf(PACKED, () => `Ωмега ${'Ж'.repeat(40)}`), ''],
  ...Object.fromEntries(
    [
      ['objects', listOf(MOST, (n) => ({ ...weather, n }))] as const,
      ['numbers', listOf(MOST, (n) => n % 10)] as const,
      ['lists', listOf(MOST, () => [[[]]])] as const,
      ['wide texts', listOf(MOST, (n) => `Ωмега ${'Ж'.repeat(n % 400)}`)] as const,
      ['one text', Buffer.from(JSON.stringify({ city: 'Ж'.repeat(MOST / 2 - 20) }))] as const,
      ['events', Buffer.from(`data: ${JSON.stringify(weather)}\n\n`.repeat(MOST / 80))] as const,
      ['markup', Buffer.from(`<html>${'<p>x</p>'.repeat(MOST / 8 - 8)}`)] as const,
    ].flatMap(([name, body]) => [
      [`${name}, by gzip`, [gzipSync(body), gzip[1]]],
      [`${name}, by brotli`, [brotliCompressSync(body, { params: { 1: 3 } }), 'br']],
    ]),
  ),
}
const response = {
  content_type: 'application/json',
  schema: { type: 'object', properties: { city: { type: 'string' }, items: { type: 'array' } } },
  example: { city: 'Paris', items: [1] },
}
const row = {
  ...{ listing_id: 'x402.a', digest: 'd', method: 'GET' as const, url: 'https://a.example/{city}' },
  response,
}
function toCall([bytes, coding]: [Buffer, string]): SeenCall {
  const chunks: Buffer[] = []
  for (let at = 0; at < bytes.length; at += 16 * 1024)
    chunks.push(Buffer.from(bytes.subarray(at, at + 16 * 1024)))
  return {
    ...{ id: 'x'.repeat(22), secret: Buffer.alloc(32), listingId: 'x402.a' },
    ...{ startedAt: 0, status: 200 },
    request: { method: 'GET', path: '/Oslo', body: [], isComplete: true },
    ...{ accepted: undefined, encodings: coding === '' ? [] : [coding], transaction: null, ms: 1 },
    answer: { chunks, end: bytes.length > 256 * 1024 ? 'unread' : 'whole' },
  }
}
const settle = async () => {
  for (let n = 0; n < 3; n += 1) {
    globalThis.gc?.()
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}
function used(): number {
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

// By brotli too in `npm run test:long`: it is unpacked on the same way.
const kinds = Object.entries(KINDS).filter(
  ([name]) => process.env.LONG_TESTS === '1' || !name.endsWith('by brotli'),
)
const judge = (kind: [Buffer, string]) => judgeCall(toCall(kind), row, null).receipt.verdict
for (const [, kind] of kinds) judge(kind)
const reported: Record<string, [string, number]> = {}
for (const [name, kind] of kinds) {
  await settle()
  const before = used()
  const verdict = judge(kind)
  reported[name] = [verdict, Math.round(((used() - before) / MIB) * 100) / 100]
}
console.log(JSON.stringify(reported, null, 1))
