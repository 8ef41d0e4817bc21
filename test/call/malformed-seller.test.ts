import { describe, expect, test } from 'vitest'
import type { CallObserver } from '../../functions/relay/seller-call.ts'
import { startSite } from '../support/site.ts'
import { aListing, PAYMENT, startRelay } from './relay-world.ts'
import { isOwn, PAID, tell } from './tell-seller.ts'

describe('malformed', () => {
  const head = 'HTTP/1.1 200 OK\r\n'
  test.each([
    ['two lengths', `${head}Content-Length: 2\r\nContent-Length: 3\r\n\r\nhi`],
    [
      'length and chunks',
      `${head}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    ],
    ['a length that is none', `${head}Content-Length: +2\r\n\r\nhi`],
    ['two lengths in one line', `${head}Content-Length: 2, 3\r\n\r\nhi`],
    ['another transfer coding', `${head}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`],
    ['bare CR in a value', `${head}X-A: a\rSet-Cookie: b=c\r\n\r\n`],
    ['bare LF', 'HTTP/1.1 200 OK\nX-A: b\n\nhi'],
    ['NUL in a value', `${head}X-A: a\0b\r\n\r\n`],
    ['a folded line', `${head}X-A: a\r\n b\r\n\r\n`],
    ['a space before the colon', `${head}X-A : b\r\n\r\n`],
    ['status 999', 'HTTP/1.1 999 Odd\r\nContent-Length: 0\r\n\r\n'],
    ['status 099', 'HTTP/1.1 099 Odd\r\nContent-Length: 0\r\n\r\n'],
    ['status 600', 'HTTP/1.1 600 Odd\r\nContent-Length: 0\r\n\r\n'],
    ['an unasked upgrade', 'HTTP/1.1 101 Switching\r\nUpgrade: h2c\r\nConnection: upgrade\r\n\r\n'],
    ['an unasked 100', 'HTTP/1.1 100 Continue\r\n\r\n'],
    ['HTTP/0.9', '<html>hi</html>'],
    ['an SSH banner', 'SSH-2.0-OpenSSH_9.6\r\n'],
    ['HTTP/2 preface', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['nothing at all', '', 'connection_terminated'],
    ['half a head', `${head}X-A: `, 'connection_terminated'],
  ])('%s: 502', async (_name, bytes, error = 'http_protocol_error') => {
    const reported = await tell((socket) => socket.end(Buffer.from(bytes, 'latin1')))
    isOwn(reported, 502, 'seller-unreachable', error)
    expect(reported.answer.text).not.toMatch(/set-cookie/i)
    expect(reported.requests).toHaveLength(1)
  })

  test('a reason phrase beyond ASCII does no harm', async () => {
    const reported = await tell((socket) =>
      socket.end(Buffer.from('HTTP/1.1 200 caf\xe9\r\nContent-Length: 2\r\n\r\nhi', 'latin1')),
    )
    expect(reported.answer.status).toBe(200)
    expect(reported.answer.body).toBe('hi')
  })
})

describe('redirects are neither followed nor passed on', () => {
  test.each([
    [301, 'https://evil.example/x', 'https://evil.example/x'],
    [302, 'http://169.254.169.254/latest', 'http://169.254.169.254/latest'],
    [303, '/other', /^http:\/\/127\.0\.0\.1:\d+\/other$/],
    [307, '//evil.example/y', 'http://evil.example/y'],
    [308, 'https://evil.example/z', 'https://evil.example/z'],
    [300, 'a', /\/a$/],
  ])('%i to %s', async (status, location, expected) => {
    const reported = await tell(
      (socket) =>
        socket.end(
          `HTTP/1.1 ${status} Go\r\nLocation: ${location}\r\nPAYMENT-RESPONSE: eyJ9\r\nContent-Length: 0\r\n\r\n`,
        ),
      { request: PAID },
    )
    isOwn(reported, 502, 'seller-redirected', 'http_protocol_error')
    expect(reported.answer.lines.join('\n')).not.toMatch(/^location:/im)
    expect(reported.answer.lines.join('\n')).toMatch(/^payment-response: eyJ9$/im)
    const problem = JSON.parse(reported.answer.body)
    expect(problem.location).toEqual(
      typeof expected === 'string' ? expected : expect.stringMatching(expected),
    )
    expect(reported.requests).toHaveLength(1)
  })
})

test.each([
  ['in one piece', 'short'],
  ['in many', 'x'.repeat(500_000)],
])('who observes a call hears once that its answer ended: %s', async (_, body) => {
  const heard: string[] = []
  const hear = (what: string) => () => void heard.push(what)
  const observer: CallObserver = {
    observe: () => ({
      ...{ headers: [], transaction: null, onRequestBody: () => {}, onData: () => {} },
      ...{ onHead: hear('head'), onEnd: hear('end'), onFail: hear('failed') },
    }),
  }
  await using seller = await startSite((_req, res) => void res.end(body))
  await using world = await startRelay({ listings: [aListing(seller.url)], observer })
  const answer = await fetch(`${world.url}/x402.seller`, { headers: { 'X-PAYMENT': PAYMENT } })
  expect(await answer.text()).toBe(body)
  expect(heard).toEqual(['head', 'end'])
})
