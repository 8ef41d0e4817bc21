import { describe, expect, test } from 'vitest'
import {
  carriesPayment,
  REGISTERED_FIELDS,
  toCallerHeaders,
  valuesOf,
} from '../../src/domain/relay/relayed-headers.ts'
import { GET, PAID, tell } from './tell-seller.ts'

const OK = { status: 200, isPaid: false }

/** What a caller gets of these lines, ours left out. */
function passed(raw: string[], answer = OK): string[] {
  const ours = toCallerHeaders([], { ...answer, status: 402 }).length
  const kept = toCallerHeaders(['Cache-Control', 'no-store', ...raw], answer)
  return kept.slice(2, kept.length - ours + 2)
}

describe('registered fields', () => {
  test.each([
    'Use-As-Dictionary',
    'Secure-Session-Registration',
    'Speculation-Rules',
    'Activate-Storage-Access',
    'Observe-Browsing-Topics',
    'Reporting-Endpoints',
    'Permissions-Policy',
    'Cross-Origin-Resource-Policy',
    'No-Vary-Search',
    'Set-Cookie',
  ])('%s speaks of more than the answer and stays behind', (name) => {
    expect(passed([name, 'x', name.toUpperCase(), 'x'])).toEqual([])
  })

  test.each([
    'Content-Type',
    'Content-Language',
    'Repr-Digest',
    'ETag',
    'Last-Modified',
    'Vary',
    'Accept-Ranges',
    'Content-Range',
    'Link',
    'Retry-After',
    'WWW-Authenticate',
    'Allow',
    'Deprecation',
  ])('%s describes the answer and passes', (name) => {
    expect(passed([name, 'x', name, 'y'])).toEqual([name, 'x', name, 'y'])
  })

  test.each([
    'RateLimit',
    'PAYMENT-REQUIRED',
    'PAYMENT-RESPONSE',
    'Payment-Receipt',
    'X-PAYMENT-RESPONSE',
    'X-Request-Id',
    'Some-Seller-Field',
  ])('%s is registered nowhere and passes', (name) => {
    expect(passed([name, 'x'])).toEqual([name, 'x'])
  })

  test('the table of names is in lower case, as names are compared', () => {
    for (const name of REGISTERED_FIELDS) expect(name).toMatch(/^[a-z0-9-]+$/)
  })

  test('a file that a web server would fetch for the seller is not named', () => {
    expect(passed(['X-Accel-Redirect', '/private', 'X-Sendfile', '/etc/passwd'])).toEqual([])
  })
})

test.each([
  ['nothing', [], false],
  ['a token', ['Authorization', 'Bearer a'], false],
  ['a token and a payment', ['Authorization', 'Bearer a', 'Authorization', 'Payment b'], true],
  ['a payment header', ['PAYMENT-SIGNATURE', 'a'], true],
])('a request with %s', (_, raw, isPaying) => {
  expect(carriesPayment(raw)).toBe(isPaying)
})

describe('what a browser would run', () => {
  const dispositionOf = (type: string, given: string[] = [], status = 200) => {
    const kept = toCallerHeaders(['Content-Type', type, ...given], { status, isPaid: false })
    return valuesOf(kept, 'content-disposition')
  }

  test.each([
    'text/html',
    'TEXT/HTML; charset=utf-8',
    'text/html;',
    ' application/xhtml+xml',
    'image/svg+xml',
    'text/xml; charset="a"',
    'application/xml',
    'application/rss+xml',
    'text/plain, text/html',
  ])('%s is an attachment', (type) => {
    expect(dispositionOf(type)).toEqual(['attachment'])
    expect(dispositionOf(type, ['content-disposition', 'inline; filename=a.html'])).toEqual([
      'attachment',
    ])
  })

  test.each(['application/json', 'text/plain', 'image/png', 'text/event-stream'])(
    '%s is left as it is',
    (type) => {
      expect(dispositionOf(type)).toEqual([])
      expect(dispositionOf(type, ['Content-Disposition', 'inline'])).toEqual(['inline'])
    },
  )

  test('a seller cannot talk our answer out of it in Connection', () => {
    const own = ['Content-Disposition', 'attachment', 'Connection', 'content-disposition']
    expect(dispositionOf('text/html', own)).toEqual(['attachment'])
  })

  test('a payment page is shown', () => {
    expect(dispositionOf('text/html', [], 402)).toEqual([])
  })

  test('a seller’s own attachment keeps its file name', () => {
    const own = 'Attachment; filename="report.html"'
    expect(dispositionOf('text/html', ['Content-Disposition', own])).toEqual([own])
    const twice = ['Content-Disposition', own, 'Content-Disposition', 'inline']
    expect(dispositionOf('text/html', twice)).toEqual(['attachment'])
  })
})

describe('caches', () => {
  const cacheOf = (values: string[], isPaid: boolean, more: string[] = []) => {
    const raw = [...values.flatMap((value) => ['Cache-Control', value]), ...more]
    return valuesOf(toCallerHeaders(raw, { status: 200, isPaid }), 'cache-control').join(', ')
  }

  test.each([
    ['public', 'private'],
    ['public, max-age=60', 'private, max-age=60'],
    ['PUBLIC , S-MaxAge=600', 'private'],
    ['max-age=60, s-maxage="600"', 'private, max-age=60'],
    ['max-age=60', 'private, max-age=60'],
    ['private, public', 'private'],
    ['private="x-a, public", max-age=1', 'private, private="x-a, public", max-age=1'],
    ['no-store', 'no-store'],
    ['private', 'private'],
  ])('of a paid answer %s becomes %s', (given, expected) => {
    expect(cacheOf([given], true)).toBe(expected)
  })

  test('several lines are judged together', () => {
    expect(cacheOf(['public', 'max-age=60', 's-maxage=5'], true)).toBe('private, max-age=60')
  })

  test.each(['CDN-Cache-Control', 'Surrogate-Control', 'Cloudflare-CDN-Cache-Control'])(
    '%s of a paid answer becomes private',
    (name) => {
      const kept = toCallerHeaders([name, 'max-age=600'], { status: 200, isPaid: true })
      expect(valuesOf(kept, name.toLowerCase())).toEqual([])
      expect(valuesOf(kept, 'cache-control')).toEqual(['private'])
      expect(cacheOf(['no-store'], true, [name, 'max-age=600'])).toBe('no-store')
    },
  )

  test('an unpaid answer may be shared as its seller says', () => {
    expect(cacheOf(['public, s-maxage=600'], false)).toBe('public, s-maxage=600')
    expect(passed(['CDN-Cache-Control', 'max-age=600'])).toEqual([
      'CDN-Cache-Control',
      'max-age=600',
    ])
  })
})

describe('through the relay', () => {
  test('a paid page comes as a private attachment', async () => {
    const seller = 'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nCache-Control: public\r\n'
    const { answer } = await tell(
      (socket) => socket.end(`${seller}Speculation-Rules: "/r"\r\nContent-Length: 2\r\n\r\nhi`),
      { request: PAID },
    )
    expect(answer.lines).toContain('Cache-Control: private')
    expect(answer.lines).toContain('Content-Disposition: attachment')
    expect(answer.text).not.toMatch(/speculation|public/i)
  })

  test('a 204 carries no length', async () => {
    const { answer } = await tell(
      (socket) => socket.end('HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n'),
      { request: GET },
    )
    expect(answer.status).toBe(204)
    expect(answer.text).not.toMatch(/content-length|transfer-encoding/i)
  })
})
