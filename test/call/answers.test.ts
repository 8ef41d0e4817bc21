import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { tell } from './tell-seller.ts'

describe('the answer', () => {
  const PASSED =
    'HTTP/1.1 402 Pay Up\r\n' +
    'Content-Type: application/json; charset=utf-8\r\n' +
    'PAYMENT-REQUIRED: eyJ4NDAyVmVyc2lvbiI6Mn0=\r\n' +
    'WWW-Authenticate: Payment id="a"\r\n' +
    'WWW-Authenticate: Payment id="b"\r\n' +
    'x-Latin: caf\xe9\r\n' +
    'Date: Fri, 20 Nov 2026 08:49:45 GMT\r\n'
  const DROPPED =
    'Set-Cookie: __Host-session=evil\r\n' +
    'Clear-Site-Data: "*"\r\n' +
    'Strict-Transport-Security: max-age=1\r\n' +
    'Alt-Svc: h3=":443"\r\n' +
    'Refresh: 0; url=https://evil.example\r\n' +
    'Service-Worker-Allowed: /\r\n' +
    'Access-Control-Allow-Origin: https://one.example\r\n' +
    'Access-Control-Allow-Credentials: true\r\n' +
    'EXTENSION-RESPONSES: x\r\n' +
    'X-Hop: 1\r\n' +
    'Keep-Alive: timeout=99\r\n' +
    'Proxy-Status: directory-relay; error=forged\r\n' +
    'Connection: close, x-hop\r\n'

  async function answerOf(bytes: string) {
    const { answer } = await tell((socket) => socket.end(Buffer.from(bytes, 'latin1')))
    return answer
  }

  test('a 402 passes byte for byte, less what would act on our origin', async () => {
    const answer = await answerOf(`${PASSED}${DROPPED}Content-Length: 2\r\n\r\n{}`)
    expect(answer.text).toBe(
      `${PASSED}Content-Length: 2\r\n` +
        'Content-Security-Policy: sandbox\r\n' +
        'X-Content-Type-Options: nosniff\r\n' +
        'Cache-Control: no-store\r\n' +
        'Access-Control-Allow-Origin: *\r\n' +
        'Access-Control-Expose-Headers: PAYMENT-REQUIRED, PAYMENT-RESPONSE, X-PAYMENT-RESPONSE, WWW-Authenticate, Payment-Receipt, Call-Receipt, Call-Receipt-Secret, RateLimit, RateLimit-Policy, Retry-After, Proxy-Status, Location\r\n' +
        'strict-transport-security: max-age=63072000\r\n' +
        'Connection: close\r\n\r\n{}',
    )
  })

  test('the seller’s Cache-Control and policies stand', async () => {
    const answer = await answerOf(
      "HTTP/1.1 200 OK\r\nCache-Control: private\r\nContent-Security-Policy: default-src 'none'\r\nContent-Length: 0\r\n\r\n",
    )
    expect(answer.lines).toContain('Cache-Control: private')
    expect(answer.lines).toContain("Content-Security-Policy: default-src 'none'")
    expect(answer.lines).toContain('Content-Security-Policy: sandbox')
    expect(answer.text).not.toContain('no-store')
  })

  test.each([
    200, 201, 204, 206, 304, 400, 401, 402, 403, 404, 409, 410, 412, 429, 500, 502, 503, 599,
  ])('%i passes', async (status) => {
    const answer = await answerOf(
      `HTTP/1.1 ${status} X\r\nPAYMENT-RESPONSE: abc\r\nContent-Length: 0\r\n\r\n`,
    )
    expect(answer.status).toBe(status)
    expect(answer.lines).toContain('PAYMENT-RESPONSE: abc')
    expect(answer.text).not.toMatch(/^proxy-status/im)
  })

  test('120 KiB of headers pass to the caller', async () => {
    const line = (name: string) => `${name}: ${'v'.repeat(40 * 1024)}\r\n`
    const answer = await answerOf(
      `HTTP/1.1 402 X\r\n${line('x-a')}${line('x-b')}${line('x-c')}Content-Length: 0\r\n\r\n`,
    )
    expect(answer.status).toBe(402)
    expect(answer.lines.filter((one) => one.length > 40_000)).toHaveLength(3)
  })

  test('more than that is a 502 of ours', async () => {
    const answer = await answerOf(`HTTP/1.1 200 X\r\nx-a: ${'v'.repeat(140 * 1024)}\r\n\r\n`)
    expect(answer.status).toBe(502)
    expect(answer.text).toContain('error=http_response_header_section_size')
  })

  test('a compressed body passes compressed', async () => {
    const zipped = gzipSync('x'.repeat(100_000))
    const answer = await answerOf(
      `HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${zipped.length}\r\n\r\n${zipped.toString('latin1')}`,
    )
    expect(answer.body).toBe(zipped.toString('latin1'))
    expect(answer.lines).toContain('Content-Encoding: gzip')
  })

  test('trailers are dropped, the body is whole', async () => {
    const answer = await answerOf(
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: Set-Cookie\r\n\r\n2\r\nhi\r\n0\r\nSet-Cookie: a=b\r\n\r\n',
    )
    expect(answer.body).toBe('2\r\nhi\r\n0\r\n\r\n')
    expect(answer.text).not.toMatch(/set-cookie|trailer/i)
  })

  test('nor does a trailer name a receipt, a settlement or a type', async () => {
    const names = ['Call-Receipt', 'PAYMENT-RESPONSE', 'Payment-Receipt', 'Content-Type']
    const trailers = names.map((name) => `${name}: 1\r\n`).join('')
    const answer = await answerOf(
      `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n${trailers}\r\n`,
    )
    expect(answer.body).toBe('2\r\nhi\r\n0\r\n\r\n')
    expect(answer.text).not.toMatch(/^(?:call-receipt|payment-|content-length|content-type):/im)
  })

  test('an answer that ends with its connection passes whole', async () => {
    const answer = await answerOf('HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nhello')
    expect(answer.status).toBe(200)
    expect(answer.body).toBe('5\r\nhello\r\n0\r\n\r\n')
  })
})
