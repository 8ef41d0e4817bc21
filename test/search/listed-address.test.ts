import { describe, expect, test } from 'vitest'
import { noteOnAddress, whyNotListed } from '../../functions/search/search-routes.ts'
import {
  createFindNotListed,
  toOtherHosts,
  withoutListed,
} from '../../src/domain/sellers/not-listed.ts'
import { SHARED_HOSTS } from '../support/shared-hosts.ts'
import { indexOf, sampleDocument } from './search-samples.ts'

const shop = {
  id: 'x402.shop',
  facts: {
    url: 'https://shop.dev/docs',
    http: [{ method: 'GET' as const, url: 'https://calls.elsewhere.dev/v1/tides' }],
    invoke: [
      { kind: 'mcp' as const, transport: 'streamable-http' as const, url: 'https://shop.dev/mcp' },
    ],
  },
}
const rows = [
  {
    id: 'inputs_not_public',
    title: 'Inputs',
    reason: 'its inputs are not public',
    why: 'Nobody knows what to send.',
    needed: 'Publish them.',
    hosts: ['secret.dev', 'hub.dev/tides', 'shop.dev', 'xn--gre-6ka8i.dev'],
  },
]
const index = indexOf([
  sampleDocument({ id: 'x402.shop', name: 'Shop', url: 'https://api.shop.dev/' }),
])
const search = {
  search: index,
  findNotListed: createFindNotListed(rows, toOtherHosts([shop])),
  sharedHosts: SHARED_HOSTS,
}
const noteOn = (text: string) => noteOnAddress(index, text, search)

describe('a search for an address without a listing', () => {
  test('may be written in letters of any language', () => {
    for (const text of ['größe.dev', 'https://größe.dev/v1'])
      expect(noteOn(text)).toMatch(/^größe\.dev is not listed: its inputs are not public/)
  })

  test.each(['secret.dev', 'https://www.secret.dev/v1?q=a', 'HTTPS://SECRET.DEV'])(
    '%s says why, and what would list it',
    (text) => {
      expect(noteOn(text)).toBe(
        'secret.dev is not listed: its inputs are not public. Nobody knows what to send. How it could be listed: Publish them.',
      )
    },
  )

  test('of a host that strangers share is answered by the beginning of its path', () => {
    expect(noteOn('hub.dev/tides/now')).toContain('hub.dev/tides is not listed: its inputs')
    expect(noteOn('hub.dev/ships')).toContain('hub.dev is not listed: nobody has proposed it yet.')
  })

  test('where a listing is called names that listing', () => {
    expect(noteOn('calls.elsewhere.dev')).toBe('calls.elsewhere.dev belongs to x402.shop.')
  })

  test.each([
    'api.shop.dev',
    'shop.dev',
    'docs.shop.dev',
    'x402.shop',
    'node.js',
    'weather',
    'a.b c.d',
    '1.5',
  ])('%s has no note', (text) => {
    expect(noteOn(text)).toBeNull()
  })
})

test('a check of an address says the same, unless a listing is called there', () => {
  expect(whyNotListed(search, 'https://secret.dev/a')?.needed).toBe('Publish them.')
  expect(whyNotListed(search, 'https://calls.elsewhere.dev/v1')).toBeNull()
  expect(whyNotListed(search, 'https://api.shop.dev/x')).toBeNull()
})

test('a host that got a listing leaves the table', () => {
  expect(withoutListed(rows, [shop])[0]?.hosts).toEqual([
    'secret.dev',
    'hub.dev/tides',
    'xn--gre-6ka8i.dev',
  ])
})
