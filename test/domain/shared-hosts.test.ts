import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import {
  findHostOwner,
  hostOf,
  isProvedAt,
  isWebmail,
  ownerDomainOf,
  SharedHostsSchema,
} from '../../src/domain/sellers/claim-rules.ts'
import { SHARED_HOSTS } from '../support/shared-hosts.ts'

describe('whose a host is', () => {
  test.each([
    ['127.0.0.1', null],
    ['[::1]', null],
    ['localhost', null],
    ['co.uk', null],
    ['vercel.app', null],
    ['modal.run', null],
    ['eastus.azurecontainerapps.io', 'eastus.azurecontainerapps.io'],
    ['api.shop.example', 'shop.example'],
    ['api.shop.co.uk', 'shop.co.uk'],
    ['a.shop.vercel.app', 'shop.vercel.app'],
    ['ann--agent.modal.run', 'ann--agent.modal.run'],
    ['ann.fastmcp.app', 'ann.fastmcp.app'],
    ['www.mcp.run', 'www.mcp.run'],
    ['docs.mintlify.app', 'docs.mintlify.app'],
    ['a.b.eastus.azurecontainerapps.io', 'a.b.eastus.azurecontainerapps.io'],
    ['notmodal.run', 'notmodal.run'],
    ['github.com', 'github.com'],
  ])('%s is of %s', (host, domain) => {
    expect(ownerDomainOf(host, SHARED_HOSTS)).toBe(domain)
  })

  test.each([
    ['shop.vercel.app', 'tenant'],
    ['ann--agent.modal.run', 'tenant'],
    ['modal.run', 'nobody'],
    ['api.shop.example', 'owned'],
  ])('%s: %s', (host, kind) => {
    expect(findHostOwner(host, SHARED_HOSTS).kind).toBe(kind)
  })

  test.each([
    ['https://api.shop.example/x', 'api.shop.example', true],
    ['https://api.shop.example/x', 'shop.example', false],
    ['https://github.com/Acme/tides/tree/main', 'github.com/acme/tides', true],
    ['https://github.com/acme/tides.git', 'github.com/acme/tides', true],
    ['https://github.com/acme/tides-2', 'github.com/acme/tides', false],
    ['https://github.com/acme', 'github.com/acme/tides', false],
    ['https://evil.example/acme/tides', 'github.com/acme/tides', false],
    ['https://github.com/acme/tides', undefined, false],
  ])('%s lies at what was proved, %s: %s', (url, place, isThere) => {
    expect(isProvedAt(url, place)).toBe(isThere)
  })

  test('a page on a platform is known as one', () => {
    expect(findHostOwner('gist.github.com', SHARED_HOSTS)).toMatchObject({ isPlatform: true })
    expect(findHostOwner('github.example', SHARED_HOSTS)).toMatchObject({ isPlatform: false })
  })

  test.each([
    'gmail.com',
    'yahoo.co.uk',
    'yahoo.fr',
    'hotmail.de',
    'gmx.at',
    'mailbox.org',
    'duck.com',
    't-online.de',
    'live.co.uk',
  ])('anybody gets a mailbox at %s', (domain) => {
    expect(isWebmail(domain, SHARED_HOSTS)).toBe(true)
  })

  test.each(['shop.example', 'live.dev', 'yahoo.shop.example', 'yahooo.com'])(
    'but not at %s',
    (domain) => {
      expect(isWebmail(domain, SHARED_HOSTS)).toBe(false)
    },
  )

  test('the trailing dot of a host says nothing', () => {
    expect(hostOf('https://api.shop.example./x')).toBe('api.shop.example')
    expect(hostOf('{base_url}/x')).toBe(null)
  })
})

test.each([
  ['Shop.example'],
  ['https://shop.example'],
  ['shop'],
  ['*.shop.example'],
  ['shop.example.'],
])('the table takes no %s', (host) => {
  const table = { platforms: [host], tenants: [], webmail: [] }
  expect(v.is(SharedHostsSchema, table)).toBe(false)
})

test('the table takes each host once', () => {
  const table = { platforms: ['a.example', 'a.example'], tenants: [], webmail: [] }
  expect(v.is(SharedHostsSchema, table)).toBe(false)
})
