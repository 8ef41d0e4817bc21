import { expect, test } from 'vitest'
import { parseAgentCard } from '../../seeds/sources/a2a/map-agent.ts'
import { findHostForgery, toShownHost } from '../../src/domain/listing/shown-host.ts'
import { withAsciiHosts } from '../../src/domain/listing/target-url.ts'
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

test('cards and rows are read with it', () => {
  const card = { name: 'Größe', description: 'Measures.', url: 'https://größe.example.org/a2a' }
  expect(parseAgentCard(card)).toMatchObject({
    row: { name: 'Größe', url: 'https://xn--gre-6ka8i.example.org/a2a' },
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
