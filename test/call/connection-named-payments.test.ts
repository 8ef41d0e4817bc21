import { describe, expect, test } from 'vitest'
import { forAllTests } from '../support/for-tests.ts'
import { aListing, exchangeRaw, startRawSeller, startRelay } from './relay-world.ts'

const seller = forAllTests(() =>
  startRawSeller((socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')),
)
const world = forAllTests(() => startRelay({ listings: [aListing(seller.url)] }))

const send = (lines: string[]) =>
  exchangeRaw(
    world.port,
    ['GET /api/v1/call/x402.seller HTTP/1.1', 'Host: w', ...lines, '', ''].join('\r\n'),
  )

describe('a payment that Connection would have dropped is refused', () => {
  test.each([
    [['X-PAYMENT: a', 'Connection: close, X-PAYMENT']],
    [['x-payment: a', 'connection: close ,\t x-Payment ,']],
    [['X-PAYMENT: a', 'Connection: close', 'Connection: keep-alive, x-payment']],
    [['Connection: Payment-Signature', 'Connection: close', 'PAYMENT-SIGNATURE: a']],
    [['Payment-Authorization: a', 'Connection: payment-authorization, close']],
    [['Authorization: Payment abc', 'Connection: close, authorization']],
    [['authorization: PAYMENT\tabc', 'Connection: close', 'connection: AUTHORIZATION']],
  ])('%j', async (lines) => {
    const before = seller.connections()
    const answer = await send(lines)
    expect(answer.status, answer.text).toBe(400)
    expect(answer.body).toContain('"code":"malformed-request"')
    expect(answer.body).toContain('named in Connection')
    expect(seller.connections()).toBe(before)
  })
})

test('a key that is not a payment may be named: it is dropped as its sender asked', async () => {
  const answer = await send(['Authorization: Bearer abc', 'Connection: close, authorization'])
  expect(answer.status).toBe(200)
  expect(seller.requests.at(-1)).not.toMatch(/authorization/i)
})

test('two lines of Authorization of which one pays are refused', async () => {
  const lines = ['Authorization: Payment abc', 'Authorization: Bearer b', 'Connection: close']
  expect((await send(lines)).status).toBe(400)
})
