import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PROBLEMS } from '../../src/domain/wire/problems.ts'
import { type RunningService, startService } from '../support/running-service.ts'

let waypost: RunningService
beforeAll(async () => {
  waypost = await startService()
})
afterAll(() => waypost.close())

/** Sends bytes as they are: clients would repair most of what is tried here. */
function sendRaw(text: string): Promise<{ status: number; head: string; body: string }> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(waypost.url).port), '127.0.0.1')
    let answer = ''
    socket.setTimeout(5000, () => reject(new Error('no answer in 5 s')))
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
    expectProblem(await get(`/api/v1/search?q=${'a'.repeat(9000)}`), 'uri-too-long')
  })

  test('absolute form for the same host is answered', async () => {
    expect((await get('http://waypost.example/api/v1/stats')).status).toBe(200)
  })
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

  test.each([
    ['GET', '/api/v1/sponsored'],
    ['POST', '/api/v1/sellers/verify'],
    ['POST', '/api/v1/tools/kit-builder'],
    ['GET', '/api/v1/buyers/account'],
  ])('%s %s is a stub and says so', async (method, path) => {
    const answer = await sendRaw(
      `${method} ${path} HTTP/1.1\r\nHost: waypost.example\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`,
    )
    expectProblem(answer, 'not-implemented')
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
})
