import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { aListing, startRawSeller, startRelay } from '../call/relay-world.ts'
import { serveFixture } from '../support/running-service.ts'

const waypost = serveFixture()
let close: (() => unknown)[] = []
afterEach(async () => {
  for (const end of close.reverse()) await end()
  close = []
})

interface Reported {
  socket: Socket
  /** What came until the connection ended. */
  text: Promise<string>
}

/** Sends bytes and leaves its own side open: whoever ends the connection is the server. */
function tell(port: number, text: string): Reported {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  close.push(() => socket.destroy())
  socket.on('error', () => {})
  socket.write(text)
  const read = new Promise<string>((resolve) => {
    let answer = ''
    socket.on('data', (chunk) => {
      answer += chunk.toString('latin1')
    })
    socket.on('end', () => resolve(answer))
    socket.on('close', () => resolve(`${answer}<torn>`))
  })
  return { socket, text: read }
}

const post = (path: string, body: string, type = 'application/json') =>
  `POST ${path} HTTP/1.1\r\nHost: waypost.example\r\nContent-Type: ${type}\r\nTransfer-Encoding: chunked\r\n\r\n${body}`

const BROKEN = '5\r\n{"a":\r\nZZ\r\nnonsense\r\n'
const FORM = 'application/x-www-form-urlencoded'

test.each([
  ['/api/v1/sellers/login', 'application/json'],
  ['/api/v1/reports', 'application/json'],
  ['/mcp', 'application/json'],
  ['/a2a', 'application/json'],
  ['/report', FORM],
  ['/sellers/sign-in', FORM],
  ['/sellers/dashboard', FORM],
])(
  'a body at %s that is not chunks is 400 at once, and the connection ends',
  async (path, type) => {
    const { port } = new URL(waypost.url)
    const answer = await tell(Number(port), post(path, BROKEN, type)).text
    expect(answer).toMatch(/^HTTP\/1\.1 400 [\s\S]*"code":"malformed-request"/)
    expect(answer.match(/HTTP\/1\.1 /g)).toHaveLength(1)
    expect(answer).not.toContain('<torn>')
  },
)

test('an address that takes no form says so, and the connection ends too', async () => {
  const { port } = new URL(waypost.url)
  const answer = await tell(Number(port), post('/search', BROKEN, FORM)).text
  expect(answer).toMatch(/^HTTP\/1\.1 405 /)
  expect(answer.match(/HTTP\/1\.1 /g)).toHaveLength(1)
})

test.each([
  ['/api/v1/sellers/login', 'application/json'],
  ...['/report', '/sellers/sign-in', '/sellers/dashboard'].flatMap((path) =>
    [FORM, 'text/plain', ''].map((type): [string, string] => [path, type]),
  ),
])('a body at %s (%j) whose later chunk breaks is 400 as soon as it breaks', async (path, type) => {
  const { port } = new URL(waypost.url)
  const requested = once(waypost.service.server, 'request')
  const reported = tell(Number(port), post(path, '3\r\na=b\r\n', type))
  await requested
  // An answer to the part that came would be sent by now.
  await fetch(`${waypost.url}${path}`)
  reported.socket.write('ZZ\r\n')
  const answer = await reported.text
  expect(answer).toMatch(/^HTTP\/1\.1 400 [\s\S]*"code":"malformed-request"/)
  expect(answer.match(/HTTP\/1\.1 /g)).toHaveLength(1)
})

test.each(['text/plain', 'multipart/form-data; boundary=x', ''])(
  'a form that is whole and of type %j is refused for its type, not its length',
  async (type) => {
    const { port } = new URL(waypost.url)
    const reported = tell(Number(port), post('/report', '3\r\na=b\r\n0\r\n\r\n', type))
    reported.socket.end()
    expect(await reported.text).toMatch(/^HTTP\/1\.1 415 /)
  },
)

test.each(['/api/v1/sellers/login', '/api/v1/reports', '/mcp', '/a2a'])(
  'a caller that leaves in the middle of its body at %s is not a failure of ours',
  async (path) => {
    const { port } = new URL(waypost.url)
    const { server } = waypost.service
    const requested = once(server, 'request')
    const { socket } = tell(Number(port), post(path, '5\r\n{"a":\r\n'))
    const [, res]: ServerResponse[] = await requested
    socket.destroy()
    if (res !== undefined && !res.closed) await once(res, 'close')
  },
)

test('nothing is logged as a failure of ours for it', () => {
  expect(waypost.log.filter((line) => line.includes('"level":"error"'))).toEqual([])
})

test('the answer to the request before it comes first', async () => {
  const { port } = new URL(waypost.url)
  const first = 'GET /api/v1/stats HTTP/1.1\r\nHost: waypost.example\r\n\r\n'
  const answer = await tell(Number(port), first + post('/api/v1/sellers/login', BROKEN)).text
  expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 400'])
})

async function startCalls() {
  const requested: Socket[] = []
  const seller = await startRawSeller((socket) => requested.push(socket))
  const world = await startRelay({ listings: [aListing(seller.url)] })
  close.push(seller.close, world.close)
  return { port: world.port, requested, seller }
}

test.each([
  ['a length that is none', (socket: Socket) => socket.write('ZZ\r\n')],
  ['a chunk without its end', (socket: Socket) => socket.write('3\r\nabcdef')],
  ['no more after a half', (socket: Socket) => socket.end('5\r\nhe')],
])('at the relay the seller is let go at once, too: %s', async (_, breakBody) => {
  const { port, requested } = await startCalls()
  const reported = tell(port, post('/api/v1/call/x402.seller', '5\r\nhello\r\n'))
  await expect.poll(() => requested.length).toBe(1)
  const [seller] = requested
  const isReleased = new Promise((resolve) => seller?.once('close', () => resolve('let go')))
  breakBody(reported.socket)
  expect(await isReleased).toBe('let go')
  const answer = await reported.text
  expect(answer).toMatch(/^HTTP\/1\.1 400 [\s\S]*"code":"malformed-request"/)
  expect(answer.toLowerCase()).toContain('proxy-status: directory-relay; error=http_request_error')
})

test('a call whose body is broken from the start is never sent', async () => {
  const { port, seller } = await startCalls()
  const answer = await tell(port, post('/api/v1/call/x402.seller', 'ZZ\r\n')).text
  expect(answer).toMatch(/^HTTP\/1\.1 400 /)
  expect(seller.connections()).toBe(0)
})
