import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { registrySlug } from '../../seeds/sources/mcp-registry.ts'
import { isListingId } from '../../src/domain/listing/listing-text.ts'
import { IS_LONG } from '../support/long.ts'

describe('the slug of a registry name', () => {
  test.each([
    ['io.github.user/weather', /^io\.github\.user\.weather$/],
    ['io.github.User/weather', /^io\.github\.user\.weather$/],
    ['com.example/my_server-2', /^com\.example\.my_server-2$/],
    ['io.github.user/Weather', /^io\.github\.user\.weather-[0-9a-f]{8}$/],
    ['io.github.user/my.server', /^io\.github\.user\.my\.server-[0-9a-f]{8}$/],
    ['io.github.user/a--b', /^io\.github\.user\.a-b-[0-9a-f]{8}$/],
    ['io.github.user/weather-0123abcd', /^io\.github\.user\.weather-0123abcd-[0-9a-f]{8}$/],
    ['../..', /^server-[0-9a-f]{8}$/],
    ['-./..-', /^server-[0-9a-f]{8}$/],
    [`io.github.user/${'x'.repeat(180)}`, /^io\.github\.user\.x+-[0-9a-f]{8}$/],
  ])('%s', (name, slug) => {
    expect(registrySlug(name)).toMatch(slug)
    expect(registrySlug(name)).toBe(registrySlug(name))
    expect(isListingId(`mcp.${registrySlug(name)}`)).toBe(true)
  })

  test('is an id for every name, and two names never share it', () => {
    const part = fc.stringMatching(/^[abAB01._-]{1,8}$/)
    const name = fc.tuple(part, part).map(([a, b]) => `${a.replaceAll('_', '.')}/${b}`)
    fc.assert(
      fc.property(name, name, (one, other) => {
        expect(isListingId(`mcp.${registrySlug(one)}`)).toBe(true)
        if (ownerless(one) !== ownerless(other))
          expect(registrySlug(one)).not.toBe(registrySlug(other))
      }),
      { numRuns: IS_LONG ? 20_000 : 200 },
    )
  })
})

/** The case of a namespace tells no two owners apart. */
function ownerless(name: string): string {
  const [namespace = '', server = ''] = name.split('/')
  return `${namespace.toLowerCase()}/${server}`
}
