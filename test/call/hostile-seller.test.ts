import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { toCallProblem } from '../../functions/relay/call-plan.ts'
import { aListing, exchangeRaw, startRawSeller, startRelay } from './relay-world.ts'
import { GET, isOwn, PAID, tell } from './tell-seller.ts'

const HOUR_MS = 3_600_000

describe('slow', () => {
  const silent = () => {}
  const drippingHead = (socket: Socket) => {
    socket.write('HTTP/1.1 200 OK\r\n')
    const timer = setInterval(() => socket.write(`x-${Math.random()}: 1\r\n`), 20)
    socket.on('close', () => clearInterval(timer))
  }
  const endless103 = (socket: Socket) => {
    const timer = setInterval(
      () => socket.write('HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'),
      20,
    )
    socket.on('close', () => clearInterval(timer))
  }

  // Every other limit is far beyond the test's own: an answer at all is this limit's doing.
  test.each([
    ['silence', silent],
    ['a head that drips', drippingHead],
    ['endless interim answers', endless103],
  ])('%s: 504 by our own clock', async (_name, script) => {
    const reported = await tell(script, { limits: { responseHeadersMs: 300, idleBodyMs: HOUR_MS } })
    isOwn(reported, 504, 'seller-timeout', 'http_response_timeout')
    expect(reported.answer.body).toContain('may have settled')
    expect(reported.requests).toHaveLength(1)
  })

  const payload = { signature: '0x' }
  const accepted = { scheme: 'exact', network: 'eip155:8453', amount: '1', payTo: '0x1' }
  const challenge = { id: 'a', realm: 'b', method: 'evm', intent: 'charge', request: 'e30' }
  const [v1, v2, mpp] = [
    { x402Version: 1, scheme: 'exact', network: 'base', payload },
    { x402Version: 2, accepted, payload },
    { challenge, payload },
  ].map((payment) => Buffer.from(JSON.stringify(payment)).toString('base64url'))
  const withLine = (line: string) => GET.replace('\r\n\r\n', `\r\n${line}\r\n\r\n`)
  test.each([
    `X-PAYMENT: ${v1}`,
    `PAYMENT-SIGNATURE: ${v2}`,
    `Authorization: Payment ${mpp}`,
    `Payment-Authorization: Payment ${mpp}`,
  ])('a call paid by %s outlives an unpaid one that began later', async (line) => {
    const requested: Socket[] = []
    await using seller = await startRawSeller((socket) => requested.push(socket))
    await using world = await startRelay({
      listings: [aListing(seller.url)],
      limits: { responseHeadersMs: 300, paidResponseHeadersMs: HOUR_MS },
    })
    const first = exchangeRaw(world.port, withLine(line))
    await expect.poll(() => requested.length).toBe(1)
    expect((await exchangeRaw(world.port, GET)).status).toBe(504)
    requested[0]?.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi')
    expect(await first).toMatchObject({ status: 200, body: 'hi' })
  })

  test.each([
    'X-PAYMENT: made-up',
    `X-PAYMENT: ${Buffer.from('{"x402Version":1}').toString('base64')}`,
    `PAYMENT-SIGNATURE: ${v1?.slice(0, -8)}`,
    'Authorization: Payment abc',
    `Authorization: Bearer ${mpp}`,
  ])('%s reads as no payment and waits no longer than an unpaid call', async (line) => {
    const limits = { responseHeadersMs: 100, paidResponseHeadersMs: HOUR_MS }
    const reported = await tell(silent, { request: withLine(line), limits })
    isOwn(reported, 504, 'seller-timeout', 'http_response_timeout')
  })

  test('interim answers don’t disturb the final one', async () => {
    const reported = await tell((socket) => {
      socket.write('HTTP/1.1 103 Early Hints\r\nSet-Cookie: a=b\r\n\r\n')
      socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi')
    })
    expect(reported.answer.status).toBe(200)
    expect(reported.answer.body).toBe('hi')
    expect(reported.answer.text).not.toMatch(/early|set-cookie/i)
  })

  test('a body that falls silent: the caller’s connection is torn', async () => {
    const reported = await tell(
      (socket) => {
        socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n')
      },
      { limits: { idleBodyMs: 300 } },
    )
    expect(reported.answer.status).toBe(200)
    expect(reported.answer.body).toBe('2\r\nhi\r\n')
  })

  test('a TLS handshake that stalls ends at the connect deadline', async () => {
    await using seller = await startRawSeller(() => {})
    await using world = await startRelay({
      listings: [aListing(`https://seller.example:${seller.port}/`)],
      limits: { connectMs: 300, responseHeadersMs: HOUR_MS },
    })
    const answer = await exchangeRaw(world.port, GET)
    expect(answer.status).toBe(504)
    expect(answer.text).toContain('error=connection_timeout')
  })
})

describe('lost', () => {
  test('refused: 502', async () => {
    await using world = await startRelay({ listings: [aListing(`http://gone.example:1/`)] })
    const answer = await exchangeRaw(world.port, GET)
    expect(answer.status).toBe(502)
    expect(answer.text).toContain('error=connection_refused')
  })

  test('counted are calls that the seller answered, however', async () => {
    const counted: string[] = []
    const ledger = {
      usage: { called: (id: string) => void counted.push(id) },
      hints: { note: () => {} },
    }
    await using answers = await startRawSeller((socket) => socket.end('HTTP/1.1 500 No\r\n\r\n'))
    await using hangsUp = await startRawSeller((socket) => socket.resetAndDestroy())
    const urls = {
      'x402.gone': 'http://gone.example:1/',
      'x402.answers': answers.url,
      'x402.hangs-up': hangsUp.url,
    }
    const listings = Object.entries(urls).map(([id, url]) => aListing(url, { id }))
    await using world = await startRelay({ listings, ledger })
    for (const { id } of listings) await exchangeRaw(world.port, GET.replace('x402.seller', id))
    await expect.poll(() => world.logged.filter((line) => line.includes('relayed')).length).toBe(3)
    expect(counted).toEqual(['x402.answers'])
  })

  test('a name without addresses: 502', async () => {
    await using world = await startRelay({
      listings: [aListing('http://nowhere.example/')],
      resolver: {
        addresses: async () => {
          throw Object.assign(new Error('no such name'), { code: 'ENOTFOUND' })
        },
        txt: async () => [],
      },
    })
    const answer = await exchangeRaw(world.port, GET)
    expect(answer.status).toBe(502)
    expect(answer.text).toContain('error=dns_error')
  })

  test('an address that is not public: 502 and nothing sent', async () => {
    await using seller = await startRawSeller(() => {})
    await using world = await startRelay({
      listings: [aListing(`http://127.0.0.1:${seller.port}/`)],
      env: { UNSAFE_ALLOW_PRIVATE_TARGETS: 'false' },
    })
    const answer = await exchangeRaw(world.port, GET)
    expect(answer.status).toBe(502)
    expect(answer.text).toContain('error=destination_ip_prohibited')
    expect(answer.body).toContain('seller-refused')
    expect(seller.connections()).toBe(0)
  })

  test.each(['GET', 'POST'])('reset after the %s was read: 502, sent once', async (method) => {
    const reported = await tell((socket) => socket.resetAndDestroy(), {
      request: PAID.replace('GET', method),
    })
    isOwn(reported, 502, 'seller-unreachable', 'connection_terminated')
    expect(reported.answer.body).toContain('may have settled')
    await sleep(50)
    expect(reported.requests).toHaveLength(1)
  })

  test.each([
    ['a length', 'Content-Length: 100\r\n\r\nhalf', (socket: Socket) => socket.end()],
    ['chunks', 'Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n', (socket: Socket) => socket.end()],
    ['a length', 'Content-Length: 100\r\n\r\nhalf', (socket: Socket) => socket.resetAndDestroy()],
    [
      'chunks',
      'Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n',
      (socket: Socket) => socket.resetAndDestroy(),
    ],
    ['the connection’s end', 'X: y\r\n\r\nhalf', (socket: Socket) => socket.resetAndDestroy()],
  ])('mid-body, framed by %s: torn, never a clean end', async (_name, rest, leave) => {
    const reported = await tell((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\n${rest}`)
      setTimeout(() => leave(socket), 50)
    })
    expect(reported.answer.status).toBe(200)
    expect(reported.answer.body).toContain('half')
    expect(reported.answer.body).not.toContain('0\r\n\r\n')
  })
})

describe('queue poisoning', () => {
  test('a second, unasked answer reaches nobody', async () => {
    let calls = 0
    await using seller = await startRawSeller((socket) => {
      calls += 1
      socket.write(
        `HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\ncall${String(calls).padStart(3, '0')}`,
      )
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison')
      setTimeout(() => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison'), 5)
    })
    await using world = await startRelay({ listings: [aListing(seller.url)] })
    const bodies = new Set<string>()
    for (let n = 0; n < 50; n += 1) {
      const answers = await Promise.all([1, 2, 3].map(() => exchangeRaw(world.port, GET)))
      for (const { body } of answers) bodies.add(body)
      await sleep(n % 10)
    }
    expect([...bodies].filter((body) => !body.startsWith('call'))).toEqual([])
    expect(bodies.size).toBe(150)
    expect(seller.connections()).toBe(150)
  })
})

test('no payment, credential or query reaches the log', async () => {
  const request = PAID.replace('x402.seller', 'x402.seller?key=secret-marker-query').replace(
    '\r\n\r\n',
    '\r\nAuthorization: Bearer secret-marker-auth\r\nPAYMENT-SIGNATURE: secret-marker-sig\r\nCookie: secret-marker-cookie\r\n\r\n',
  )
  const scripts: ((socket: Socket, received: string) => void)[] = [
    (socket, received) => socket.end(`HTTP/1.1 200 OK\r\n\r\n${received}`),
    (socket) => socket.resetAndDestroy(),
    () => {},
    (socket, received) => socket.end(received),
  ]
  for (const script of scripts) {
    const { logged, answer } = await tell(script, {
      request,
      limits: { responseHeadersMs: 200 },
    })
    expect(logged.length).toBeGreaterThan(0)
    expect(logged.join('')).not.toContain('secret-marker')
    if (answer.status !== 200) expect(answer.text).not.toContain('secret-marker')
  }
})

test.each([
  ['ENODATA', 'dns_error'],
  ['ETIMEOUT', 'dns_timeout'],
  ['EHOSTUNREACH', 'destination_ip_unroutable'],
  ['ENETUNREACH', 'destination_ip_unroutable'],
  ['EPROTO', 'tls_protocol_error'],
  ['ERR_SSL_WRONG_VERSION_NUMBER', 'tls_protocol_error'],
  ['ECONNRESET', 'connection_terminated'],
])('a connection that ends in %s is a %s, without the words of the error', (code, error) => {
  const problem = toCallProblem(Object.assign(new Error('secret-marker'), { code }))
  expect(problem.error).toBe(error)
  expect(JSON.stringify(problem)).not.toContain('secret-marker')
})
