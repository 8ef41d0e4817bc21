import { describe, expect, test } from 'vitest'
import { toSearchAnswer } from '../../src/domain/pages/search/search-answer.ts'
import {
  parseSearchForm,
  toApiQuery,
  toSearchPath,
} from '../../src/domain/pages/search/search-form.ts'
import { isAnsweredHere, toFilters } from '../../src/scripts/search-query.ts'

const parse = (query: string) => parseSearchForm(new URLSearchParams(query))

describe('the form in the address', () => {
  test.each([
    ['empty fields are no filters', 'q=&kind=&rail=x402', { rail: 'x402' }],
    ['spaces around words do not count', 'q=+web+search+', { q: 'web search' }],
    ["others' parameters are left out", 'q=a&utm_source=mail&limit=50', { q: 'a' }],
    ['control characters are spaces', 'q=%00a%0Ab%7F', { q: 'a b' }],
    ['remote is a field of the page', 'remote=true', { remote: 'true' }],
  ])('%s', (_, query, form) => {
    expect(parse(query)).toEqual(form)
  })

  test('the search function gets the fields it knows, and 20 results are asked for', () => {
    expect(toApiQuery(parse('q=a+b&remote=true&min_trust=40'))).toBe('limit=20&q=a+b&min_trust=40')
  })

  test.each([
    [{}, '/search'],
    [{ q: 'a&b', offset: '' }, '/search?q=a%26b'],
    [{ kind: 'http_api', remote: 'true' }, '/search?kind=http_api&remote=true'],
  ])('%o is the address %s', (form, path) => {
    expect(toSearchPath(form)).toBe(path)
  })
})

describe('what the index in the browser answers', () => {
  test.each([
    ['words', 'q=weather', true],
    ['a price that is a step', 'max_price_usd=0.01', true],
    ['any other price', 'max_price_usd=0.05', false],
    ['a trust that is a step', 'min_trust=40', true],
    ['having a score at all', 'min_trust=0', true],
    ['any other trust', 'min_trust=41', false],
    ['discovery files', 'has=openapi', false],
    ['paid listings of any rail', 'paid_only=true', false],
    ['our own kits', 'kind=kit', false],
  ])('%s: %s → %s', (_, query, isHere) => {
    expect(isAnsweredHere(parse(query))).toBe(isHere)
  })

  test('fields become the filters of the index', () => {
    expect(toFilters(parse('q=a&kind=mcp_server&max_price_usd=0.1&remote=true'))).toEqual({
      kind: 'mcp_server',
      price: '0.1',
      remote: 'true',
    })
  })
})

describe('what the page makes of an answer', () => {
  test('problems are reasons', () => {
    const problems = [{ name: 'kind', detail: 'expected one of kit, http_api', in: 'query' }]
    expect(toSearchAnswer({ problems })).toEqual({
      kind: 'refused',
      reasons: ['kind: expected one of kit, http_api'],
    })
  })

  test.each([[undefined], [null], [{}], ['text']])('%o is no answer', (answer) => {
    expect(toSearchAnswer(answer)).toEqual({ kind: 'unavailable' })
  })
})
