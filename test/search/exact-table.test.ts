import { describe, expect, test } from 'vitest'
import { createExactKeys, type ExactKind, findExact } from '../../src/search/index/exact-table.ts'
import { domainFact } from '../support/shared-hosts.ts'

const isFoundBy = (url: string, name: string) => {
  const keys = createExactKeys()
  keys.add({ id: 'api.a', url, name, ...domainFact(url) })
  const table = keys.finish(Uint32Array.of(0))
  return (kind: ExactKind, text: string) => [...findExact(table, kind, text)].length > 0
}

describe('what a listing is exactly', () => {
  test.each([
    ['https://api.acme.com/v1', 'acme.com', 'com'],
    ['https://api.acme.co.uk/v1', 'acme.co.uk', 'co.uk'],
    ['https://acme.com.au/', 'acme.com.au', 'com.au'],
    ['https://deep.api.acme.ai/', 'acme.ai', 'ai'],
  ])('at %s: its domain, and never the suffix', (url, domain, suffix) => {
    const isFound = isFoundBy(url, 'Acme Maps')
    expect([isFound('host', domain), isFound('host', suffix)]).toEqual([true, false])
    expect([isFound('vendor', 'Acme'), isFound('vendor', 'co')]).toEqual([true, false])
  })

  test('at an account on a shared host: named after the account, and nothing else', () => {
    const isFound = isFoundBy('https://github.com/acme/maps', 'Acme Maps (community)')
    expect([isFound('vendor', 'acme'), isFound('vendor', 'github')]).toEqual([true, false])
    expect([isFound('product', 'Acme Maps'), isFound('host', 'github.com')]).toEqual([true, true])
  })
})
