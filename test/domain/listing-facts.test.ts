import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { createListingFactsSchema } from '../../src/domain/listing/listing-facts.ts'
import { findFactFaults, findFaults, PUBLIC, SAMPLE_FACTS, toFacts } from './listing-samples.ts'

const PAYOUT = `eip155:8453:0x${'ab'.repeat(20)}`

describe('the front matter of a listing', () => {
  test('gives what is left out its plain meaning', () => {
    const { name, kind, url, summary, sources, added } = SAMPLE_FACTS
    expect(
      v.parse(createListingFactsSchema(PUBLIC), { name, kind, url, summary, sources, added }),
    ).toEqual({
      name,
      kind,
      url,
      summary,
      sources,
      added,
      categories: [],
      tags: [],
      first_party: false,
      closed: false,
      pricing: { model: 'unknown' },
      payout: [],
      auth: { type: 'unknown' },
      http: [],
      invoke: [],
      discovery: {},
      probe: true,
    })
  })

  test.each(['name', 'kind', 'url', 'summary', 'sources', 'added'])('needs %s', (key) => {
    const { [key]: _left, ...rest } = { ...SAMPLE_FACTS } as Record<string, unknown>
    expect(findFaults(createListingFactsSchema(PUBLIC), rest)).toEqual([
      expect.stringMatching(new RegExp(`^${key}: `)),
    ])
  })

  test.each([
    ['a field nobody knows', { trust: { score: 100 } }, /^trust: /],
    ['a status of its own', { status: 'claimed' }, /^status: /],
    [
      'an unknown kind',
      { kind: 'website' },
      /^kind: expected one of kit, http_api, mcp_server, a2a_agent$/,
    ],
    [
      'plain http',
      { url: 'http://api.weather.example/' },
      /^url: expected an https URL, got http$/,
    ],
    ['no URL', { url: 7 }, /^url: expected a URL$/],
    ['a tag twice', { tags: ['a', 'a'] }, /^tags: expected each entry once$/],
    ['31 tags', { tags: numbered(31) }, /^tags: expected at most 30 entries$/],
    ['nine categories', { categories: numbered(9) }, /^categories: expected at most 8 entries$/],
    ['a text for a list', { tags: 'weather' }, /^tags: expected a list$/],
    ['a text for yes', { closed: 'yes' }, /^closed: expected true or false$/],
    ['no source', { sources: [] }, /^sources: expected at least one source/],
    [
      'a source without its page',
      { sources: [{ source: 'a', ref: 'x' }] },
      /^sources\.0\.ref: expected an absolute URL/,
    ],
    ['a day off the calendar', { added: '2026-02-30' }, /^added: expected a date that exists/],
    ['a leap day of no leap year', { added: '2025-02-29' }, /^added: /],
    ['a day written otherwise', { added: '20.11.2026' }, /^added: expected a date that exists/],
    ['a moment', { added: '2026-11-20T00:00:00Z' }, /^added: /],
    [
      'one payout in two spellings',
      { payout: [PAYOUT, PAYOUT.toUpperCase().replace('EIP155', 'eip155').replace('0X', '0x')] },
      /^payout: expected each entry once$/,
    ],
    [
      'a method that is none',
      { http: [{ method: 'HEAD', url: SAMPLE_FACTS.url }] },
      /^http\.0\.method: expected one of GET, POST, PUT, PATCH, DELETE$/,
    ],
    [
      'an endpoint that is a template outside its path',
      { http: [{ method: 'GET', url: 'https://api.weather.example/now?city={city}' }] },
      /^http\.0\.url: .*template/,
    ],
    [
      'an unknown discovery file',
      { discovery: { robots: SAMPLE_FACTS.url } },
      /^discovery\.robots: /,
    ],
    [
      'a discovery file on a private host',
      { discovery: { openapi: 'https://nas.lan/openapi.json' } },
      /^discovery\.openapi: expected a public host, got nas\.lan$/,
    ],
  ])('refuses %s, and says what would be right', (_, changes, message) => {
    const faults = findFactFaults(changes)
    expect(faults).toHaveLength(1)
    expect(faults[0]).toMatch(message)
  })

  test('a leap day of a leap year is a day', () => {
    expect(toFacts({ added: '2028-02-29' }).added).toBe('2028-02-29')
  })

  test.each([
    ['{base_url}/docs', []],
    ['{base_url}', ['url: expected a path after {base_url}, such as /docs']],
    ['{base_url}.evil.example/', ['url: expected a path after {base_url}, such as /docs']],
    ['{base_url}/{id}', [expect.stringMatching(/^url: .*template/)]],
    ['{base_url}/a b', [expect.stringMatching(/^url: expected no spaces/)]],
    ['{base_url}/../x', ['url: expected a path without . and .. segments']],
    ['https://x.example/{base_url}/', [expect.stringMatching(/^url: .*template/)]],
  ])('an address of our own: %s', (url, faults) => {
    expect(findFactFaults({ url })).toEqual(faults)
  })
})

function numbered(count: number): string[] {
  return Array.from({ length: count }, (_, i) => `entry-${i}`)
}
