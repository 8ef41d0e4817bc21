import { describe, expect, test } from 'vitest'
import { toCallRows } from '../../src/components/calls/call-rows.ts'
import { toFoundHttp } from '../../src/domain/kit/found-operations.ts'
import { toKitOperations } from '../../src/domain/kit/kit-entries.ts'
import { toOutputFields } from '../../src/domain/listing/operation.ts'
import { SAMPLE_FACTS, toListing } from '../domain/listing-samples.ts'

const JSON_TYPE = 'application/json'
const string = { type: 'string' }
const ref = 'https://weather.example/docs'

describe('the fields of an answer', () => {
  const item = { type: 'object', properties: { url: string, score: { type: 'number' } } }
  test.each<[string, object, string]>([
    [
      'an object',
      { properties: { a: string, b: { type: ['number', 'null'] } } },
      'a string, b number',
    ],
    [
      'a list inside',
      { properties: { results: { type: 'array', items: item } } },
      'results [{url, score}]',
    ],
    ['a list', { type: 'array', items: item }, '[].url string, [].score number'],
    [
      'parts',
      { allOf: [item, { properties: { more: { type: 'boolean' } } }] },
      'url string, score number, more boolean',
    ],
    ['a choice', { oneOf: [item, string] }, 'url string, score number'],
    ['a reference', { $ref: '#/$defs/item', $defs: { item } }, 'url string, score number'],
    ['a loop', { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/a' } } }, ''],
    ['text', string, ''],
    [
      'what is about the answer, last',
      { properties: { success: string, credits_charged: string, errors: string, user: string } },
      'user string, success string, credits_charged string, errors string',
    ],
  ])('%s', (_, schema, expected) => {
    const fields = toOutputFields({
      response: { content_type: JSON_TYPE, schema: { ...schema } },
    })
    expect(fields.map(({ name, type }) => `${name} ${type}`).join(', ')).toBe(expected)
  })

  test('come from the example where there is no schema', () => {
    const example = { data: [{ id: 1, tags: ['a'] }], next: null }
    expect(toOutputFields({ response: { content_type: JSON_TYPE, example } })).toMatchObject([
      { name: 'data', type: '[{id, tags}]' },
      { name: 'next', type: 'any' },
    ])
  })

  test('are first those of the task, then those that the schema requires or describes', () => {
    const properties = { head: string, id: string, note: { description: 'x' }, organic: string }
    const response = { content_type: JSON_TYPE, schema: { properties, required: ['id'] } }
    const result = { results: 'organic[].{url: link}' }
    const namesOf = (more: object) => toOutputFields({ response, ...more }).map(({ name }) => name)
    expect(namesOf({ result })).toEqual(['organic', 'id', 'note', 'head'])
    expect(namesOf({})).toEqual(['id', 'note', 'head', 'organic'])
  })
})

test('what comes back is in the kit, in found operations and on the page', () => {
  const { http, foundOf, rowsOf } = listingWith({ example: { tide: 3.2 }, ref })
  expect(http[0]).toMatchObject({ response: { example: { tide: 3.2 }, ref } })
  expect(foundOf(0)).toMatchObject({ output: 'tide' })
  expect(rowsOf()?.[0]).toMatchObject({
    returns: { type: null, fields: 'tide: number', example: '{\n  "tide": 3.2\n}', ref },
  })
})

test('of anything but JSON the media type is enough', () => {
  const { foundOf, rowsOf } = listingWith({ content_type: 'image/png' })
  expect(foundOf(0)).toMatchObject({ output: 'image/png' })
  expect(rowsOf()?.[0]).toMatchObject({ returns: { type: 'image/png', fields: '', example: null } })
})

test('a long example is cut on the page alone', () => {
  const { http, rowsOf } = listingWith({ example: { text: 'x'.repeat(3000) } })
  expect(JSON.stringify(http[0]?.response).length).toBeGreaterThan(3000)
  expect(rowsOf()?.[0]?.returns?.example?.length).toBeLessThanOrEqual(600)
})

function listingWith(response: object) {
  const listing = toListing({
    facts: { http: [{ method: 'GET', url: SAMPLE_FACTS.url, response }] },
  })
  const http = toKitOperations(listing, null)
  const auth = { type: 'payment' } as const
  const kit = { kind: 'http_api' as const, url: SAMPLE_FACTS.url, auth, operations: http }
  return {
    http,
    foundOf: (at: number) => http.slice(at, at + 1).map(toFoundHttp)[0],
    rowsOf: () => toCallRows({ ...kit, tools: [], skills: [] })?.rows,
  }
}
