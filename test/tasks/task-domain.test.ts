import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { readTaskInput } from '../../functions/search/endpoints.ts'
import { createOperationSchema } from '../../src/domain/listing/listing-facts.ts'
import { fillRequest } from '../../src/domain/tasks/filled-request.ts'
import { parseJsonPath, readJsonPath, writeJsonPath } from '../../src/domain/tasks/json-path.ts'
import { findMapFaults } from '../../src/domain/tasks/map-faults.ts'
import { TaskRowSchema, toTask } from '../../src/domain/tasks/task.ts'
import { readTaskOutput } from '../../src/domain/tasks/task-output.ts'
import { PUBLIC } from '../domain/listing-samples.ts'

const ROW = v.parse(TaskRowSchema, {
  id: 'web_search',
  name: 'Search the web',
  words: ['search the web', 'find pages'],
  input: {
    type: 'object',
    required: ['query'],
    properties: { query: { type: 'string', minLength: 1 }, max_results: { type: 'integer' } },
  },
  output: {
    type: 'object',
    required: ['results'],
    properties: {
      results: {
        type: 'array',
        minItems: 1,
        items: {
          type: 'object',
          required: ['url'],
          properties: { url: { type: 'string' }, year: { type: 'number' } },
        },
      },
    },
  },
  example: { query: 'tidal power', max_results: 5 },
})
const TASK = toTask(ROW)

const toOperation = (more: object) =>
  v.parse(createOperationSchema(PUBLIC), {
    method: 'POST',
    url: 'https://api.search.example/find',
    body: {
      schema: {
        type: 'object',
        required: ['q'],
        properties: { q: { type: 'string' }, n: { type: 'integer' }, depth: { type: 'string' } },
      },
      example: { q: 'cats' },
    },
    response: { example: { data: [{ link: 'https://a.example/', published: '2020' }] } },
    map: { query: 'q', max_results: 'n', results: 'data[].{url: link, year: published}' },
    ...more,
  })

describe('a path says where a value lies, and is data', () => {
  const value = { a: { b: [{ c: 1 }, { c: null }, { c: 3 }] }, 'odd name': { x: 'y' }, list: ['z'] }
  test.each([
    ['a.b[0].c', 1],
    ['a.b[].c', [1, 3]],
    ['a.b[].{n: c}', [{ n: 1 }, { n: 3 }]],
    ['"odd name".*', 'y'],
    ['list[0]', 'z'],
    ['list[7]', undefined],
    ['a[0]', undefined],
    ['list.*', undefined],
    ['a.b[0].{n: none}', undefined],
    ['a.none.c', undefined],
    ['@', value],
    ['a.b[].{all: @}', [{ all: { c: 1 } }, { all: { c: null } }, { all: { c: 3 } }]],
  ])('%s', (text, expected) => {
    const path = parseJsonPath(text)
    expect(path).not.toBeNull()
    expect(readJsonPath(value, path ?? [])).toEqual(expected)
  })

  test.each([
    '',
    '.',
    'a..b',
    'a.',
    'a[x]',
    'a | b',
    'length(@)',
    'a[?b]',
    '@.a',
    'a.{b}',
    'a.{b: }',
    'a`b`',
  ])('%j is not a path', (text) => {
    expect(parseJsonPath(text)).toBeNull()
  })

  test('a path of a request makes what lies on the way, and no prototype', () => {
    expect(parseJsonPath('a'.repeat(401))).toBeNull()
    const path = parseJsonPath('messages[0].content') ?? []
    expect(writeJsonPath({ model: 'm' }, path, 'Hi')).toEqual({
      model: 'm',
      messages: [{ content: 'Hi' }],
    })
    const evil = writeJsonPath({}, parseJsonPath('__proto__.polluted') ?? [], 1)
    expect(Reflect.get({}, 'polluted')).toBeUndefined()
    expect(Object.getPrototypeOf(evil)).toBe(Object.prototype)
  })
})

describe('a request is filled from the input alone', () => {
  test('body: what was asked, never the example of the seller', () => {
    expect(fillRequest(toOperation({ send: { depth: 'deep' } }), { query: 'ferries' })).toEqual({
      method: 'POST',
      url: 'https://api.search.example/find',
      headers: { 'Content-Type': 'application/json' },
      body: { depth: 'deep', q: 'ferries' },
    })
  })

  test('query, path and header, with a text put together from members', () => {
    const operation = v.parse(createOperationSchema(PUBLIC), {
      method: 'GET',
      url: 'https://api.pairs.example/{pair}/spot',
      params: [
        { name: 'pair', in: 'path', example: 'BTC-USD' },
        { name: 'lang', in: 'query', example: 'no' },
        { name: 'X-Kind', in: 'header' },
      ],
      map: { query: 'lang' },
      send: { pair: '{symbol}-USD', 'X-Kind': 'spot' },
    })
    expect(fillRequest(operation, { symbol: 'ETH', query: 'a b&c' })).toEqual({
      method: 'GET',
      url: 'https://api.pairs.example/ETH-USD/spot?lang=a%20b%26c',
      headers: { 'X-Kind': 'spot' },
    })
    expect(fillRequest(operation, { symbol: 'ETH' }).url).not.toContain('lang')
    expect(fillRequest(operation, { query: 'a' }).url).toContain('example//spot')
  })
})

describe('an answer becomes the output of the contract, or not', () => {
  const map = { results: 'data[].{url: link, year: published}' }
  const read = (answer: unknown) => readTaskOutput(ROW.output ?? {}, map, answer)
  test('a numeric text is a number where the contract wants one, and null is absent', () => {
    expect(
      read({
        data: [
          { link: 'u', published: '2020' },
          { link: 'w', published: null },
        ],
      }),
    ).toEqual({
      output: { results: [{ url: 'u', year: 2020 }, { url: 'w' }] },
    })
    expect(read({ data: [{ link: 7, published: ['2020'] }] })).toHaveProperty('fault')
    expect(read({ data: [{ link: 7 }] })).toEqual({ output: { results: [{ url: '7' }] } })
  })
  test.each([{}, { data: [] }, { data: [{ title: 'no link' }] }, 'text', null, { data: {} }])(
    '%j does not fit',
    (answer) => {
      expect(read(answer)).toHaveProperty('fault')
    },
  )
  test('a page of text is as long as it likes', () => {
    const schema = { type: 'object', required: ['text'], properties: { text: { type: 'string' } } }
    expect(readTaskOutput(schema, { text: '@' }, 'x'.repeat(90_000))).toHaveProperty('output')
  })
})

describe('check names what is wrong with a map', () => {
  const faultsOf = (more: object) =>
    findMapFaults(toOperation(more), TASK).map(
      ({ path, message }) => `${path.join('.')}: ${message}`,
    )
  const HREF = { properties: { href: {} } }
  const LINK = { properties: { link: {} } }
  const withData = (data: object) => ({ type: 'object', properties: { data } })
  const answered = (schema: object, results = 'data[].{url: link}') => ({
    ...{ map: { query: 'q', results }, response: { schema } },
  })
  test('a good one has no faults', () => {
    expect(faultsOf({})).toEqual([])
    expect(faultsOf(answered(withData({ prefixItems: [HREF, LINK] }), 'data[1].link'))).toEqual([])
  })
  test.each([
    [{ map: { results: 'data[].{url: link}' } }, 'map: expected query too: the task requires it'],
    [{ map: { query: 'q', results: 'data[' } }, 'map.results: expected a path such as'],
    [
      { map: { query: 'q[]', results: 'data[].{url: link}' } },
      'map: expected the name of a parameter',
    ],
    [{ map: { query: 'q', result: 'data', results: 'data[].{url: link}' } }, 'got result'],
    [{ map: { query: 'n', results: 'data[].{url: link}' } }, 'map: the filled body: expected'],
    [
      { map: { query: 'q', results: 'data[].{url: href}' } },
      'map: the example answer, mapped: expected',
    ],
    [{ response: undefined }, 'map: expected a `response`'],
    [{ map: undefined, send: { depth: 'deep' } }, 'send: expected a `map` too'],
    [{ params: [{ name: 'host', in: 'query', required: true }] }, 'required parameter host'],
    [{ params: [{ name: 'n', in: 'query', schema: { type: 'boolean' } }] }, 'map: n: expected'],
    [{ method: 'GET', body: undefined }, 'map: expected a parameter of this operation, got q'],
    [
      { response: { content_type: 'text/plain' } },
      'map.results: the answer is not JSON: expected @',
    ],
    [answered({ $ref: '#/$defs/a', $defs: { a: withData({ items: HREF }) } }), 'link is not in it'],
    [answered({ allOf: [withData({ items: HREF })] }), 'link is not in it'],
    [answered(withData({ prefixItems: [LINK, HREF] })), 'the list is not in it'],
    [answered(withData({ prefixItems: [LINK, HREF] }), 'data[1].link'), 'link is not in it'],
    [answered(withData(HREF), '*.link'), 'link is not in it'],
    [
      { response: { schema: { type: 'object', properties: { items: { type: 'array' } } } } },
      'map.results: expected a path in the answer: data is not in it',
    ],
  ])('%j', (more, expected) => {
    expect(faultsOf(more).join('\n')).toContain(expected)
  })
  test('without a contract there is nothing to map to', () => {
    expect(findMapFaults(toOperation({}), null)).toHaveLength(1)
  })
})

describe('a contract holds together', () => {
  const faultOf = (more: object) =>
    v
      .safeParse(TaskRowSchema, { ...ROW, ...more })
      .issues?.map(({ message }) => message)
      .join()
  test.each([
    [{ output: undefined }, 'expected input, output and example together'],
    [{ example: {} }, 'example: expected a value that fits the schema'],
    [{ input: { type: 'object' } }, '1 to 12 properties'],
    [{ output: { type: 'object', properties: { query: {} } } }, 'query in both'],
    [
      { input: { type: 'object', properties: { rail: {} } }, example: {} },
      'expected a name other than rail',
    ],
  ])('%j', (more, expected) => {
    expect(faultOf(more)).toContain(expected)
  })
})

test('members of a query are typed by the contract', () => {
  if (TASK === null) throw new Error('expected a contract')
  const read = (texts: Record<string, string>) =>
    readTaskInput(TASK, new Map(Object.entries(texts)))
  expect(read({ query: '7', max_results: '3' })).toEqual({ input: { query: '7', max_results: 3 } })
  const properties = {
    ...Object(TASK.input.properties),
    fast: { type: 'boolean' },
    of: { type: 'array' },
  }
  const wide = { ...TASK, input: { ...TASK.input, properties } }
  const texts = new Map(Object.entries({ query: 'a', fast: 'false', of: '["b"]' }))
  expect(readTaskInput(wide, texts)).toEqual({ input: { query: 'a', fast: false, of: ['b'] } })
  expect(readTaskInput(wide, texts.set('fast', 'no'))).toHaveProperty('faults')
  expect(read({ max_results: 'many' })).toEqual({
    faults: [
      { name: 'query', detail: 'the task requires it' },
      { name: 'max_results', detail: expect.stringContaining('expected') },
    ],
  })
})
