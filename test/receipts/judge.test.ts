import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { DeclaredResponse } from '../../src/domain/relay/declared-answer.ts'
import { condenseJson, judgeDelivery } from '../../src/domain/relay/judge.ts'
import { drawsOf } from '../support/long.ts'

const JSON_TYPE = 'application/json'
const judge = (response: DeclaredResponse, body: unknown, more = {}) =>
  judgeDelivery(response, {
    ...{ status: 200, end: 'whole' as const },
    body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
    ...more,
  })
const shape = (schema: unknown) => ({ content_type: JSON_TYPE, schema })
const object = (properties: object, more: object = {}) =>
  shape({ type: 'object', properties, ...more })

describe('what is odd but right', () => {
  const hit = { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] }
  it.each([
    ['no hits', object({ results: { type: 'array' } }), { results: [] }],
    ['an empty list', shape({ type: 'array', items: hit }), []],
    [
      'a check that failed is the answer',
      object({ ok: { type: 'boolean' }, url: { type: 'string' } }),
      { ok: false, url: 'https://down.example' },
    ],
    [
      'the state of a job',
      object({ status: { type: 'string' }, block: { type: 'integer' } }),
      { status: 'failed', block: 12 },
    ],
    ['an answer made of flags', object({ success: { type: 'boolean' } }), { success: false }],
    [
      'a null for what nobody knows',
      object({ a: { type: 'string' }, b: { type: 'string' } }, { required: ['a', 'b'] }),
      { a: 'x', b: null },
    ],
    ['a number for an id', shape(hit), { id: 7 }],
    ['a map without entries', shape({ type: 'object', additionalProperties: hit }), {}],
    ['lines of JSON', shape(hit), '{"id":"a"}\n{"id":"b"}\n'],
    ['one event of several', shape(hit), 'data: {"state":"working"}\n\ndata: {"id":"a"}\n\n'],
    ['false', shape({ type: 'boolean' }), false],
    ['zero', shape({ type: 'number' }), 0],
    ['one, for true', shape({ type: 'boolean' }), 1],
    ['another text than the example', { content_type: JSON_TYPE, example: 'high' }, '"low"'],
    ['what the example leaves open', { content_type: JSON_TYPE, example: null }, { tide: 'low' }],
    ['other items than the example', { content_type: JSON_TYPE, example: [1] }, ['low']],
    ['one of two types', shape({ type: ['string', 'array'] }), ['x']],
    ['members of no type', shape({ properties: { a: {} } }), { a: 'x' }],
    [
      'a declaration that contradicts itself',
      { ...shape(hit), example: { name: 'x' } },
      { name: 'y' },
    ],
    [
      'its schema, where the example only hints at the rest',
      {
        ...object({
          web: { type: 'object', properties: { results: { type: 'array' } } },
          news: { type: 'object', properties: { results: { type: 'array' } } },
        }),
        example: { web: { results: [] }, news: { '...': '...' } },
      },
      { web: { results: [{ title: 'One' }] }, news: { results: [{ title: 'Two' }] } },
    ],
  ])('%s', (_, response, body) => {
    expect(judge(response, body)).toMatchObject({ verdict: 'as_declared' })
  })
})

describe('what is surely wrong', () => {
  const quote = object({
    price: { type: 'number' },
    symbol: { type: 'string' },
    error: { type: 'string' },
  })
  it.each([
    ['empty', quote, '{}'],
    ['empty', quote, 'null'],
    ['empty', quote, { price: null, symbol: '' }],
    ['error_in_200', quote, { error: 'upstream timed out' }],
    ['error_in_200', quote, { price: null, error: 'upstream timed out' }],
    ['error_in_200', quote, { status: 'error', message: 'x' }],
    ['error_in_200', shape({ type: 'object' }), { results: [], error: 'upstream timed out' }],
    ['error_in_200', quote, { code: 500, message: 'x' }],
    ['error_in_200', quote, 'Internal Server Error'],
    ['error_in_200', { content_type: 'image/png' }, { detail: 'x', error: 'no model' }],
    ['error_in_200', { content_type: 'text/plain' }, 'Rate limit exceeded'],
    ['other_shape', quote, { price: 'a lot', symbol: 'X' }],
    ['other_shape', quote, [1, 2]],
    ['other_shape', quote, { data: null, note: 'x' }],
    ['other_shape', { content_type: JSON_TYPE, example: [1] }, { tide: 'low' }],
    ['other_shape', shape({ type: ['string', 'array'] }), { price: 1 }],
    ['other_shape', { content_type: 'image/png' }, 'a picture of a cat'],
    ['other_shape', { content_type: 'text/csv' }, '<!doctype html><html></html>'],
    ['cut_off', quote, '{"price": 12.5, "symbol": "X'],
    ['cut_off', { content_type: 'image/png' }, Buffer.from('89504e470d0a1a0a0000', 'hex')],
  ])('%s', (verdict, response, body) => {
    const bytes = Buffer.isBuffer(body) ? { body } : {}
    expect(judge(response, body, bytes)).toMatchObject({ verdict })
  })
  it.each([
    ['empty', '{}\n{}\n'],
    ['empty', 'data: {}\n\ndata: {"price":null}\n\n'],
    ['too_large_to_judge', '{"greeting":"hello"}\n{"plan":"free"}\n'],
    ['too_large_to_judge', 'data: {"greeting":"hello"}\n\n'],
  ])('%s, and not as declared, in pieces of which none is what is declared', (verdict, body) => {
    expect(judge(quote, body).verdict).toBe(verdict)
  })
  it('in UTF-16, by its byte order mark', () => {
    const body = Buffer.from('\ufeff{"price":1}', 'utf16le')
    expect(judge(quote, '', { body }).verdict).toBe('as_declared')
  })
  it('by the status alone', () => {
    expect(judge(quote, '', { status: 402 }).verdict).toBe('payment_asked_again')
    expect(judge(quote, '', { status: 500 }).verdict).toBe('refused')
    expect(judge(quote, '', { status: null }).verdict).toBe('cut_off')
  })
})

describe('what a hostile seller declares or answers', () => {
  it('never runs a pattern', () => {
    const response = object({ a: { type: 'string', pattern: '^(a+)+$' } })
    expect(judge(response, { a: `${'a'.repeat(50_000)}!` }).verdict).toBe('as_declared')
  })
  it('follows references that lead in a circle for a bounded number of steps', () => {
    const node = { anyOf: [{ $ref: '#/$defs/a' }, { $ref: '#/$defs/b' }] }
    const response = shape({ ...node, $defs: { a: { allOf: [node, node, node] }, b: node } })
    expect(judge(response, { a: [[1]] }).verdict).toBe('as_declared')
  })
  it('does not judge what is too deep or has too many values', () => {
    const response = shape({ type: 'array' })
    expect(judge(response, '['.repeat(5000)).verdict).toBe('too_large_to_judge')
    const members = Array.from({ length: 20_000 }, (_, n) => `"${n}":0`).join(',')
    expect(judge(shape({ type: 'object' }), `{${members}}`).verdict).toBe('too_large_to_judge')
  })
  it('judges a long answer by the beginning of its lists and texts', () => {
    const schema = { type: 'array', items: { type: 'object', required: ['name'] } }
    const listOf = (item: object) => JSON.stringify(Array(9_000).fill(item))
    const wide = { name: 'Ж\\"😀]}'.repeat(900), of: [[1, '"'], {}] }
    expect(judge(shape(schema), listOf({ name: 'a,b]' })).verdict).toBe('as_declared')
    expect(judge(shape(schema), JSON.stringify(Array(40).fill(wide))).verdict).toBe('as_declared')
    expect(judge(shape(schema), listOf({ title: 'a' })).verdict).toBe('other_shape')
    expect(judge(shape(schema), listOf({ name: 'a' }).slice(0, -1)).verdict).toBe('cut_off')
    expect(judge(shape(schema), JSON.stringify(Array(40).fill(wide)).slice(0, 90_000))).toEqual(
      expect.objectContaining({ verdict: 'cut_off' }),
    )
    // What was left out may be more than nothing.
    const late = JSON.stringify([...Array(9_000).fill(null), ...Array(9).fill({ name: 'a' })])
    expect(judge(shape(schema), late).verdict).toBe('as_declared')
    expect(judge(shape(schema), `<p>${'x'.repeat(90_000)}</p>`).verdict).toBe('other_shape')
  })
  it('cuts JSON to JSON, whatever it is made of', () => {
    const parts = ['"', '\\', '[', ']', '{', '}', ',', ':', 'u', '0', 'é', '😀', 'x'.repeat(2_100)]
    const isJson = (text: string) => {
      try {
        return JSON.parse(text) !== undefined
      } catch {
        return false
      }
    }
    const values = fc.array(fc.oneof(fc.jsonValue(), fc.constant(parts.join('').repeat(3))), {
      maxLength: 60,
      size: 'max',
    })
    const texts = fc.oneof(
      fc.array(fc.constantFrom(...parts), { maxLength: 60 }).map((all) => all.join('')),
      values.map((value) => JSON.stringify(value)),
    )
    fc.assert(
      fc.property(texts, (text) => {
        const read = condenseJson(Buffer.from(text))
        if (read === null || !isJson(text)) return true
        const kept = Buffer.from(read.json).toString()
        return !read.isOpen && isJson(kept) && (!read.isComplete || kept === text)
      }),
      { numRuns: drawsOf(300) },
    )
  })
  it.each([
    ['é', '\u00e9', '\\', '"', '😀', '\ud83d\ude00', 'x'].join(''),
    // One place between two escapes.
    '\\nxxxxx',
  ])('cuts a long text of any characters between two of them: %j', (part) => {
    const text = part.repeat(5_000)
    for (let before = 0; before < 8; before += 1) {
      const body = `{"pad":"${'x'.repeat(before)}","text":"${text}","last":1}`
      const schema = {
        type: 'object',
        required: ['last'],
        properties: { last: { type: 'number' } },
      }
      expect(judge(shape(schema), body).verdict).toBe('as_declared')
      expect(condenseJson(Buffer.from(body))?.json.length).toBeLessThan(2_100)
    }
  })
  it('reads names of prototypes as names', () => {
    const response = object(
      { constructor: { type: 'string' }, toString: { type: 'number' } },
      { required: ['constructor'] },
    )
    expect(judge(response, { a: 1 }).verdict).toBe('other_shape')
    expect(judge(response, '{"__proto__":{"constructor":"x"}}').verdict).toBe('other_shape')
    expect(judge({ content_type: 'constructor/x' }, 'anything').verdict).toBe('as_declared')
    expect(Object.prototype).not.toHaveProperty('isGood')
  })
  it('says nothing of what was answered', () => {
    const marker = 'PLANTED-7f3a'
    const response = object({ a: { type: 'object' } })
    for (const body of [{ a: marker }, { [marker]: 1 }, { error: marker }, marker, [marker]])
      expect(judge(response, body).reason).not.toContain('PLANTED')
  })
})
