import { connect } from 'node:net'
import { describe, expect, test } from 'vitest'
import { PROBLEMS } from '../../src/domain/wire/problems.ts'
import { toTransportHeaders } from '../../src/domain/wire/published-files.ts'
import { ROUTES } from '../../src/domain/wire/routes.ts'
import { serveFixture } from '../support/running-service.ts'

const waypost = serveFixture()

/** Sends bytes as they are: clients would repair most of what is tried here. */
function sendRaw(text: string): Promise<{ status: number; head: string; body: string }> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(waypost.url).port), '127.0.0.1')
    let answer = ''
    socket.setTimeout(30_000, () => reject(new Error('no answer in 30 s')))
    socket.on('data', (chunk) => {
      answer += chunk.toString('latin1')
    })
    socket.on('close', () => {
      socket.setTimeout(0)
      const [head = '', ...body] = answer.split('\r\n\r\n')
      resolve({ status: Number(head.split(' ')[1]), head, body: body.join('\r\n\r\n') })
    })
    socket.on('error', reject)
    socket.write(text, 'latin1')
  })
}

const get = (target: string, extra = '') =>
  sendRaw(`GET ${target} HTTP/1.1\r\nHost: waypost.example\r\nConnection: close\r\n${extra}\r\n`)

/** Every error is problem+json whose type is one of our pages. */
function expectProblem(
  answer: { status: number; head: string; body: string },
  code: keyof typeof PROBLEMS,
) {
  expect(answer.head.toLowerCase()).toContain('content-type: application/problem+json')
  const problem = JSON.parse(
    answer.body.replace(/^[0-9a-f]+\r\n/, '').replace(/\r\n0\r\n\r\n$/, ''),
  )
  expect(problem).toMatchObject({
    code,
    status: PROBLEMS[code].status,
    type: `https://waypost.example/problems/${code}`,
  })
  expect(answer.status).toBe(PROBLEMS[code].status)
}

describe('hostile paths find nothing', () => {
  test.each([
    ['/api/v1/listings/..%2f..%2fetc%2fpasswd', 'listing-not-found'],
    ['/api/v1/listings/%252e%252e', 'listing-not-found'],
    ['/api/v1/listings/x402.a%00', 'listing-not-found'],
    ['/api/v1/listings/x402.%D0%B0pi', 'listing-not-found'],
    ['/api/v1/listings/constructor', 'listing-not-found'],
    ['/api/v1/listings/__proto__', 'listing-not-found'],
    [`/api/v1/listings/${'a'.repeat(8000)}`, 'listing-not-found'],
    ['/api/v1/listings/x402.nope/kit.json', 'listing-not-found'],
    ['/%zz', 'not-found'],
    ['/.env', 'not-found'],
    ['/../../etc/passwd', 'not-found'],
    ['//evil.example/%2f..', 'not-found'],
    ['/_server-islands/x', 'not-found'],
    ['/_image?href=http://169.254.169.254/', 'not-found'],
    ['/api/v1/nothing', 'not-found'],
    ['/data/listings.ndjson', 'not-found'],
  ] as const)('%s → %s', async (target, code) => {
    const answer = await get(target)
    expectProblem(answer, code)
    expect(answer.head.toLowerCase()).not.toContain('location:')
  })
})

describe('malformed requests are refused as such', () => {
  test.each([
    [
      'two Host lines',
      'GET / HTTP/1.1\r\nHost: waypost.example\r\nHost: evil.example\r\nConnection: close\r\n\r\n',
    ],
    [
      'a Host with a path',
      'GET / HTTP/1.1\r\nHost: waypost.example/abc?\r\nConnection: close\r\n\r\n',
    ],
    ['a Host with a user', 'GET / HTTP/1.1\r\nHost: a@evil.example\r\nConnection: close\r\n\r\n'],
    [
      'absolute form for another host',
      'GET http://evil.example/ HTTP/1.1\r\nHost: waypost.example\r\nConnection: close\r\n\r\n',
    ],
    [
      'both framings',
      'POST / HTTP/1.1\r\nHost: waypost.example\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    [
      'two lengths',
      'POST / HTTP/1.1\r\nHost: waypost.example\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nabcde',
    ],
    ['a bare LF in a header', 'GET / HTTP/1.1\r\nHost: waypost.example\r\nX: a\nb\r\n\r\n'],
    ['a NUL in a header', 'GET / HTTP/1.1\r\nHost: waypost.example\r\nX: a\0b\r\n\r\n'],
    ['no HTTP at all', 'HELO there\r\n\r\n'],
  ])('%s', async (_, bytes) => {
    expectProblem(await sendRaw(bytes), 'malformed-request')
  })

  test('a target of over 8 KiB is 414', async () => {
    const search = (length: number) => get('/api/v1/search?q='.padEnd(length, 'a'))
    expectProblem(await search(8193), 'uri-too-long')
    expectProblem(await search(8192), 'invalid-parameter')
  })

  test('absolute form for the same host is answered', async () => {
    for (const path of ['stats', 'search?q=weather'])
      expect((await get(`http://waypost.example/api/v1/${path}`)).status).toBe(200)
  })
})

test.each([
  ['GET', '/healthz'],
  ['HEAD', '/readyz'],
  ['GET', '/'],
  ['GET', '/api/v1/search?q=weather'],
  ['GET', '/api/v1/stats'],
  ['GET', '/search?q=weather'],
  ['GET', '/llms.txt'],
])('HTTP/1.0 needs no Host: %s %s', async (method, path) => {
  const answer = await sendRaw(`${method} ${path} HTTP/1.0\r\n\r\n`)
  expect(answer.status).toBe(200)
  expect(answer.head.toLowerCase()).not.toContain('transfer-encoding')
})

test('HTTP/1.0 may name a Host, but not a wrong one', async () => {
  expect((await sendRaw('GET /healthz HTTP/1.0\r\nHost: a.example\r\n\r\n')).status).toBe(200)
  expectProblem(await sendRaw('GET /healthz HTTP/1.0\r\nHost: a/b\r\n\r\n'), 'malformed-request')
})

describe('methods', () => {
  test.each([
    ['POST', '/api/v1/search', 'GET, HEAD, OPTIONS'],
    ['DELETE', '/api/v1/listings/x402.weather', 'GET, HEAD, OPTIONS'],
    ['PUT', '/api/v1/sellers/login', 'POST, OPTIONS'],
    ['TRACE', '/api/v1/stats', 'GET, HEAD, OPTIONS'],
  ])('%s %s is 405 and says what is allowed', async (method, path, allowed) => {
    const answer = await sendRaw(
      `${method} ${path} HTTP/1.1\r\nHost: waypost.example\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`,
    )
    expectProblem(answer, 'method-not-allowed')
    expect(answer.head.toLowerCase()).toContain(`allow: ${allowed.toLowerCase()}`)
  })
})

describe('pages and files', () => {
  test.each([
    ['POST', '/'],
    ['PUT', '/search'],
    ['DELETE', '/problems/not-found'],
    ['PATCH', '/openapi.json'],
    ['TRACE', '/robots.txt'],
    ['POST', '/search.atom'],
    ['PUT', '/listing/x402.weather.md'],
    ['POST', '/healthz'],
    ['DELETE', '/readyz'],
  ])('%s %s is 405 and says what is allowed', async (method, path) => {
    const answer = await sendRaw(
      `${method} ${path} HTTP/1.1\r\nHost: waypost.example\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`,
    )
    expectProblem(answer, 'method-not-allowed')
    expect(answer.head.toLowerCase()).toContain('allow: get, head, options')
  })

  test.each(['/', '/search', '/problems/not-found', '/openapi.json', '/healthz', '/readyz', '*'])(
    'OPTIONS %s says what is allowed',
    async (target) => {
      const answer = await sendRaw(
        `OPTIONS ${target} HTTP/1.1\r\nHost: waypost.example\r\nConnection: close\r\n\r\n`,
      )
      expect(answer.status).toBe(204)
      expect(answer.head.toLowerCase()).toContain('allow: get, head, options')
    },
  )

  test('a method nobody knows at an address nobody has is still a 404', async () => {
    const answer = await sendRaw(
      'PUT /nothing-here HTTP/1.1\r\nHost: waypost.example\r\nConnection: close\r\nContent-Length: 0\r\n\r\n',
    )
    expectProblem(answer, 'not-found')
  })
})

describe('an error of ours on the path of calls says that it is ours', () => {
  const call = '/api/v1/call/x402.weather'
  test.each([
    ['a target of over 8 KiB', `GET ${call}?q=${'a'.repeat(9000)} HTTP/1.1\r\nHost: w\r\n`, 414],
    ['two Host lines', `POST ${call} HTTP/1.1\r\nHost: w\r\nHost: v\r\n`, 400],
    ['a NUL in a header', `POST ${call} HTTP/1.1\r\nHost: w\r\nX: a\0b\r\n`, 400],
    [
      'both framings',
      `POST ${call} HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n`,
      400,
    ],
  ])('%s', async (_, head, status) => {
    const answer = await sendRaw(`${head}Connection: close\r\n\r\n`)
    expect(answer.status).toBe(status)
    expect(answer.head.toLowerCase()).toContain(
      'proxy-status: directory-relay; error=http_request_error',
    )
  })

  test('elsewhere nothing is said of a proxy', async () => {
    const answer = await get(`/api/v1/search?q=${'a'.repeat(9000)}`)
    expect(answer.head.toLowerCase()).not.toContain('proxy-status')
  })
})

describe('a body in another coding than chunked, which would be lost on the way', () => {
  test.each(['gzip, chunked', 'gzip,chunked', 'identity, chunked', 'Deflate, Chunked'])(
    '%s',
    async (coding) => {
      const head = `Host: w\r\nTransfer-Encoding: ${coding}\r\nConnection: close\r\n\r\n`
      const body = '2\r\nhi\r\n0\r\n\r\n'
      const answer = await sendRaw(`POST /api/v1/call/x402.weather HTTP/1.1\r\n${head}${body}`)
      expectProblem(answer, 'malformed-request')
      expect(answer.body).toContain('only be chunked')
    },
  )
})

test('header fields that are too large are said to be too large', async () => {
  const answer = await get('/api/v1/stats', `X-Large: ${'a'.repeat(170 * 1024)}\r\n`)
  expectProblem(answer, 'malformed-request')
  expect(answer.head).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/)
  expect(answer.body).toMatch(/header fields[^"]* too large[^"]*163840 bytes/)
})

describe('an answer by https', () => {
  test.each([
    '/',
    '/search',
    '/api/v1/stats',
    '/api/v1/search',
    '/openapi.json',
    '/nothing',
    '/healthz',
  ])('%s forbids plain http from then on', async (path) => {
    expect((await get(path)).head.toLowerCase()).toContain(
      'strict-transport-security: max-age=63072000',
    )
  })

  test('a malformed request is answered so, too', async () => {
    const answer = await sendRaw('HELLO there\r\n\r\n')
    expect(answer.head.toLowerCase()).toContain('strict-transport-security')
  })

  test('a server of plain http says nothing of the kind', () => {
    expect(toTransportHeaders('http://localhost:4321')).toEqual({})
  })
})

describe('a browser', () => {
  test('gets an HTML 404 page for a page, JSON for the API', async () => {
    const headers = { accept: 'text/html,application/xhtml+xml' }
    const page = await fetch(`${waypost.url}/nothing-here`, { headers })
    const api = await fetch(`${waypost.url}/api/v1/nothing`, { headers })
    expect([page.status, page.headers.get('content-type')]).toEqual([
      404,
      'text/html; charset=utf-8',
    ])
    expect(api.headers.get('content-type')).toBe('application/problem+json')
  })

  test('gets at each endpoint what any client gets', async () => {
    const read = Object.values(ROUTES).filter(({ methods }) => methods.some((m) => m === 'GET'))
    const requested = async (path: string, accept: string) => {
      const options = { headers: { accept }, redirect: 'manual' } as const
      const answer = await fetch(waypost.url + path, options)
      await answer.arrayBuffer()
      return [path, answer.status, answer.headers.get('content-type')]
    }
    for (const { path: pattern } of read) {
      const path = pattern.replace(':listing_id', 'mcp.harbour').replace(/:\w+/g, 'something')
      expect(await requested(path, 'text/html')).toEqual(await requested(path, '*/*'))
    }
  })
})
