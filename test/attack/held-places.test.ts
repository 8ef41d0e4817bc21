import { connect, type Socket } from 'node:net'
import { request } from 'undici'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { RELAY_LIMITS, type RelayLimits } from '../../functions/relay/call-plan.ts'
import {
  aListing,
  exchangeRaw,
  PAYMENT,
  type RelayWorld,
  startRawSeller,
  startRelay,
} from '../call/relay-world.ts'
import { aTransaction, settledHeaders } from '../receipts/observed-relay.ts'
import { IS_LONG, longTest } from '../support/long.ts'

/** What a seller never answers, and what it does answer, in the order it was asked. */
let requested: { socket: Socket; text: string }[] = []
let seller: Awaited<ReturnType<typeof startRawSeller>>
let world: RelayWorld
const [SETTLED] = Object.entries(settledHeaders('x402-v2', aTransaction(7))).map((pair) =>
  pair.join(': '),
)
let settled: string[] = []

beforeEach(async () => {
  seller = await startRawSeller((socket, text) => {
    if (text.includes('GET /ok')) socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
    else requested.push({ socket, text })
  })
})
afterEach(async () => {
  await world.close()
  await seller.close()
  requested = []
  settled = []
})

const LISTINGS = 8
const start = async (limits: Partial<RelayLimits> = {}) => {
  world = await startRelay({
    listings: Array.from({ length: LISTINGS }, (_, n) =>
      aListing(seller.url, { id: `x402.seller-${n}` }),
    ),
    env: { TRUST_PROXY: '1' },
    limits,
    ledger: {
      usage: { called: () => {} },
      hints: { note: (_listing, _client, transaction) => void settled.push(transaction) },
    },
  })
}

/** The nth of many calls: each listing in turn. */
const toCall = (client: string, n: number, lines: string[] = [], path = 'never') =>
  [
    `GET /api/v1/call/x402.seller-${n % LISTINGS}?endpoint=/${path} HTTP/1.1`,
    'Host: w',
    `X-Forwarded-For: ${client}`,
    'Connection: close',
    ...lines,
    '\r\n',
  ].join('\r\n')

const paid = [`X-PAYMENT: ${PAYMENT}`]

function ask(text: string): Socket {
  const socket = connect(world.port, '127.0.0.1')
  socket.on('error', () => {})
  socket.write(text)
  return socket
}

const honest = () =>
  request(`${world.url}/x402.seller-0?endpoint=/ok`, {
    headers: { 'X-Forwarded-For': '203.0.113.9' },
  })
const open = () => requested.filter(({ socket }) => !socket.destroyed).length
const LEFT = { perClient: 4, perNetwork: 8, inAll: 8 }

const PAID: [string, string[]][] = [
  ['that decodes', paid],
  ['made up', ['X-PAYMENT: made-up']],
]
test.each(IS_LONG ? PAID : PAID.slice(0, 1))(
  'callers who left with a payment %s leave their places, and few sellers are read on',
  async (_name, lines) => {
    await start({ draining: LEFT })
    for (const client of ['198.51.100.1', '198.51.100.2', '198.51.100.3']) {
      const before = requested.length
      const sockets = Array.from({ length: 40 }, (_, n) => ask(toCall(client, n, lines)))
      await expect.poll(() => requested.length).toBe(before + 40)
      for (const socket of sockets) socket.destroy()
      await expect.poll(open).toBeLessThanOrEqual(LEFT.inAll)
    }
    expect((await honest()).statusCode).toBe(200)
    expect(open()).toBe(LEFT.inAll)
  },
)

test('of what is read on the largest holder’s oldest is ended first', async () => {
  await start({ draining: { perClient: 3, perNetwork: 3, inAll: 4 } })
  const leave = async (client: string, name: string) => {
    const socket = ask(toCall(client, 0, paid, name))
    await expect.poll(() => requested.some(({ text }) => text.includes(`/${name} `))).toBe(true)
    const before = open()
    socket.destroy()
    return before
  }
  const openNames = () =>
    requested.filter(({ socket }) => !socket.destroyed).map(({ text }) => text.split(' ')[1])
  for (const name of ['a1', 'a2', 'a3']) await leave('198.51.100.1', name)
  await leave('198.51.100.2', 'b1')
  await leave('198.51.100.3', 'c1')
  await expect.poll(openNames).toEqual(['/a2', '/a3', '/b1', '/c1'])
  await leave('198.51.100.1', 'a4')
  await expect.poll(openNames).toEqual(['/a3', '/b1', '/c1', '/a4'])
})

test('a settlement that comes after its caller left is still noted', async () => {
  await start({ inFlight: { ...RELAY_LIMITS.inFlight, inAll: 1 } })
  const socket = ask(toCall('198.51.100.1', 0, paid))
  await expect.poll(() => requested.length).toBe(1)
  socket.destroy()
  // The only place is free again while the seller is still read.
  await expect.poll(async () => (await honest()).statusCode).toBe(200)
  requested[0]?.socket.end(`HTTP/1.1 200 OK\r\n${SETTLED}\r\nContent-Length: 2\r\n\r\nhi`)
  await expect.poll(() => settled.join()).toContain(aTransaction(7))
})

longTest('nine clients that stay on the line with all they may hold keep nobody out', async () => {
  await start()
  const { perClient, inAll } = RELAY_LIMITS.inFlight
  const statuses: number[] = []
  const taken = Math.ceil(inAll / perClient) + 1
  for (let client = 1; client <= taken; client += 1)
    for (let n = 0; n < perClient; n += 1)
      void exchangeRaw(world.port, toCall(`198.51.100.${client}`, n, paid)).then(({ status }) =>
        statuses.push(status),
      )
  // What is refused or gave way is answered: exactly what there is places for stays.
  await expect.poll(() => statuses.length).toBe(taken * perClient - inAll)
  expect(new Set(statuses)).toEqual(new Set([503]))
  for (let turn = 0; turn < 5; turn += 1) expect((await honest()).statusCode).toBe(200)
})

test('who gives way hears so at once, and its payment is still read on', async () => {
  const inFlight = { ...RELAY_LIMITS.inFlight, perListing: 2 }
  await start({ inFlight })
  const [oldest] = [0, 0].map(() => exchangeRaw(world.port, toCall('198.51.100.1', 0, paid)))
  await expect.poll(() => requested.length).toBe(2)
  expect((await honest()).statusCode).toBe(200)
  const answer = await oldest
  expect(answer?.status).toBe(503)
  expect(answer?.lines.join('\n').toLowerCase()).toContain('retry-after: 1')
  expect(answer?.body).toContain('may have settled')
  expect(open()).toBe(2)
  requested[0]?.socket.end(`HTTP/1.1 200 OK\r\n${SETTLED}\r\n\r\n`)
  await expect.poll(() => settled.join()).toContain(aTransaction(7))
})

test('a hundred /64s of one /48 hold what their network may', async () => {
  await start({ inFlight: { ...RELAY_LIMITS.inFlight, perNetwork: 20 } })
  const statuses: number[] = []
  for (let n = 0; n < 100; n += 1)
    void exchangeRaw(world.port, toCall(`2001:db8:1:${n.toString(16)}::1`, n)).then(({ status }) =>
      statuses.push(status),
    )
  await expect.poll(() => statuses.length).toBe(80)
  expect(new Set(statuses)).toEqual(new Set([503]))
  expect(open()).toBe(20)
})

test('a redirect is let go with its head, however long its body', async () => {
  await start()
  const answered = exchangeRaw(world.port, toCall('198.51.100.1', 0, paid))
  await expect.poll(() => requested.length).toBe(1)
  requested[0]?.socket.write('HTTP/1.1 307 Go\r\nLocation: /other\r\nContent-Length: 9999\r\n\r\nx')
  expect((await answered).status).toBe(502)
  await expect.poll(open).toBe(0)
})
