import { expect, test } from 'vitest'
import {
  findHostForgery,
  toAsciiAddress,
  toShownHost,
  withAsciiHosts,
} from '../../src/domain/listing/target-url.ts'
import { readAgentCard } from '../../src/domain/probe/a2a.ts'
import { toListing } from './listing-samples.ts'

test.each([
  ['https://größe.example.org/a?q=ü#é', 'https://xn--gre-6ka8i.example.org/a?q=ü#é'],
  ['https://例え.テスト/x', 'https://xn--r8jz45g.xn--zckzah/x'],
  ['https://ＡＰＩ.example/x', 'https://api.example/x'],
  ['https://api.example/ü', 'https://api.example/ü'],
  ['ü is a letter', 'ü is a letter'],
  ['https://a%C3%BC.example/', 'https://a%C3%BC.example/'],
  ['https://ü@evil.example/', 'https://ü@evil.example/'],
])('%s is written as %s', (text, written) => {
  expect(withAsciiHosts({ list: [{ url: text }] })).toEqual({ list: [{ url: written }] })
})

test.each([
  ['größe.example', 'xn--gre-6ka8i.example'],
  ['Größe.example/a?b=ü', 'xn--gre-6ka8i.example/a?b=ü'],
  ['https://größe.example', 'https://xn--gre-6ka8i.example'],
  ['例え.テスト', 'xn--r8jz45g.xn--zckzah'],
  ['shop.example/a', 'shop.example/a'],
  ['größe und länge', 'größe und länge'],
  ['größe', 'größe'],
  ['ü@evil.example', 'ü@evil.example'],
])('a person who types %j means %j', (typed, meant) => {
  expect(toAsciiAddress(typed)).toBe(meant)
})

test('cards and rows are read with it', () => {
  const card = { name: 'Größe', description: 'Measures.', url: 'https://größe.example.org/a2a' }
  expect(readAgentCard(card)).toMatchObject({
    card: { name: 'Größe', url: 'https://xn--gre-6ka8i.example.org/a2a' },
  })
})

test.each([
  ['xn--gre-6ka8i.example.org', 'größe.example.org'],
  ['xn--r8jz45g.xn--zckzah', '例え.テスト'],
  ['xn--80ak6aa92e.example', 'аррӏе.example'],
  ['api.example', 'api.example'],
  ['xn--', 'xn--'],
  ['xn--a-ecp.ru:8443', 'xn--a-ecp.ru:8443'],
  ['xn--99999999.example', 'xn--99999999.example'],
])('%s is shown as %s', (host, shown) => {
  expect(toShownHost(host)).toBe(shown)
})

test('a host with letters of two scripts in one word is shown as it is written, and marked', () => {
  const host = new URL('https://p\u0430ypal.example').host
  expect(toShownHost(host)).toBe(host)
  expect(findHostForgery(host)).toContain('Latin mixed with Cyrillic')
  expect(findHostForgery('xn--gre-6ka8i.example.org')).toBeNull()
  const listing = toListing({ facts: { url: `https://${host}/` } })
  expect(listing.notices).toMatchObject([
    { id: 'suspicious_text', note: expect.stringContaining(host) },
  ])
})
