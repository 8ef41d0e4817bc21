import { describe, expect, test, vi } from 'vitest'
import {
  createNearestIds,
  isListingId,
  prefixesFor,
} from '../../src/domain/listing/listing-text.ts'
import { KINDS } from '../../src/domain/wire/vocabulary.ts'
import { guardHang } from '../support/hang-guard.ts'

describe('ids', () => {
  test.each([
    'x402.example-weather',
    'api.a',
    'mcp.io.github.owner_server',
    'a2a.agent-7',
    'kit.0',
    `x402.${'a'.repeat(115)}`,
  ])('%s is one', (id) => {
    expect(isListingId(id)).toBe(true)
  })

  test.each([
    '',
    'x402',
    'x402.',
    '.weather',
    'x402..weather',
    'x402.a..b',
    'x402.a--b',
    'x402.a__b',
    'x402.a.-b',
    'x402.-a',
    'x402.a-',
    'x402.a.',
    'X402.a',
    'x402.A',
    'x4020.a',
    'ax402.a',
    'web.a',
    'x402.a b',
    'x402.a/b',
    'x402.a%00',
    'x402.a\n',
    '\nx402.a',
    'x402.\u0430pi',
    'x402.é',
    '__proto__',
    'constructor',
    '../../etc/passwd',
    'x402.a/../../b',
    `x402.${'a'.repeat(116)}`,
  ])('%j is none', (id) => {
    expect(isListingId(id)).toBe(false)
  })

  test('past the longest id no pattern is asked', () => {
    const { mock, mockRestore } = vi.spyOn(RegExp.prototype, 'test')
    const requested = [115, 116, 1_000_000].map((length) => {
      const before = mock.calls.length
      isListingId(`x402.${'a'.repeat(length)}`)
      return mock.calls.length - before
    })
    mockRestore()
    expect(requested).toEqual([1, 0, 0])
  })

  test.each(['a', 'a-', 'a.', 'a_', 'a-b.'])('%j over and over is not a trap', (piece) => {
    const id = `x402.${piece.repeat(60)}`.slice(0, 119)
    guardHang(() => expect(isListingId(`${id}-`)).toBe(false))
  })
})

describe('prefixes', () => {
  test.each([
    ['http_api', true, ['x402']],
    ['http_api', false, ['api', 'x402']],
    ['mcp_server', true, ['mcp']],
    ['mcp_server', false, ['mcp']],
    ['a2a_agent', false, ['a2a']],
    ['kit', false, ['kit']],
  ] as const)('a %s, paid %s, may stand under %j', (kind, isPaid, prefixes) => {
    expect(prefixesFor(kind, isPaid)).toEqual(prefixes)
  })

  test('every kind has one', () => {
    for (const kind of KINDS) expect(prefixesFor(kind, true)).toHaveLength(1)
  })
})

describe('an id that nobody has', () => {
  const near = createNearestIds([
    ...['mcp.exa', 'x402.exa', 'x402.exa-search', 'x402.example', 'api.weather'],
    ...['mcp.github.com', 'kit.pdf', 'mcp.io.acme.tides', 'x402.weather-now'],
  ])
  test.each([
    ['exa', ['x402.exa', 'mcp.exa', 'x402.exa-search']],
    ['EXA', ['x402.exa', 'mcp.exa', 'x402.exa-search']],
    ['a2a.exa', ['x402.exa', 'mcp.exa', 'x402.exa-search']],
    ['api.wether', ['api.weather']],
    ['x402.weather', ['api.weather', 'x402.weather-now']],
    ['github', ['mcp.github.com']],
    ['mcp.githbu.com', ['mcp.github.com']],
    ['x', []],
    ['', []],
    ['x402.', []],
    ['../../etc/passwd', []],
    ['constructor', []],
    ['z'.repeat(8000), []],
  ])('%s is near %j', (requested, ids) => {
    expect(near(requested)).toEqual(ids)
  })

  test('is compared with a bounded number of others', () => {
    const many = Array.from({ length: 50_000 }, (_, n) => `mcp.same-start-${n}`)
    expect(createNearestIds(many)('mcp.same-start-777777').length).toBeLessThanOrEqual(3)
  })
})
