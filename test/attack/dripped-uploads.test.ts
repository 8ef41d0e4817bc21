import type { IncomingMessage } from 'node:http'
import { connect, type Socket } from 'node:net'
import { request } from 'undici'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { RELAY_LIMITS } from '../../functions/relay/call-plan.ts'
import { aListing, allInFlight, type RelayWorld, startRelay } from '../call/relay-world.ts'
import { type Site, startSite } from '../support/site.ts'

let seller: Site
let world: RelayWorld
let sockets: Socket[] = []

beforeEach(async () => {
  seller = await startSite((req, res) => {
    req.resume()
    req.on('end', () => res.end('done'))
  })
})
afterEach(async () => {
  vi.useRealTimers()
  for (const socket of sockets) socket.destroy()
  sockets = []
  await world.close()
  await seller.close()
})

const relay = async (limits: Parameters<typeof startRelay>[0]['limits'] = {}) => {
  world = await startRelay({
    listings: [aListing(seller.url)],
    env: { TRUST_PROXY: '1', UNSAFE_ALLOW_PRIVATE_TARGETS: 'true' },
    limits,
  })
}

/** An upload that begins and then drips; resolves with the status it ends with. */
function drip(client: string, everyMs: number): Promise<number> {
  return new Promise((resolve) => {
    const socket = connect(world.port, '127.0.0.1')
    sockets.push(socket)
    let text = ''
    socket.write(
      `POST /api/v1/call/x402.seller HTTP/1.1\r\nHost: w\r\nX-Forwarded-For: ${client}\r\nContent-Length: 100000\r\nConnection: close\r\n\r\nx`,
    )
    const timer = setInterval(() => socket.write('x'), everyMs)
    socket.on('error', () => {})
    socket.on('data', (chunk) => {
      text += chunk
    })
    socket.on('close', () => {
      clearInterval(timer)
      resolve(Number(text.split(' ')[1] ?? 0))
    })
  })
}

test('three clients that drip as many uploads as they can leave a seller callable', async () => {
  await relay()
  const statuses: number[] = []
  const clients = ['198.51.100.1', '198.51.100.2', '198.51.100.3']
  const perClient = 100
  for (const client of clients)
    for (let n = 0; n < perClient; n += 1)
      void drip(client, 20_000).then((status) => statuses.push(status))
  const { perListingAndClient } = RELAY_LIMITS.inFlight
  await expect.poll(() => statuses.length).toBe(clients.length * (perClient - perListingAndClient))
  expect(new Set(statuses)).toEqual(new Set([503]))
  const other = await request(`${world.url}/x402.seller`, {
    headers: { 'X-Forwarded-For': '198.51.100.9' },
  })
  expect([other.statusCode, await other.body.text()]).toEqual([200, 'done'])
})

test('an upload that drips is ended and gives its place back', async () => {
  await relay({
    upload: { graceMs: 200, minBytesPerSecond: 1024, maxMs: 60_000 },
    inFlight: allInFlight(1),
  })
  expect(await drip('198.51.100.1', 20)).toBe(400)
  const next = await request(`${world.url}/x402.seller`)
  expect(next.statusCode).toBe(200)
  await next.body.dump()
})

test('an upload that is fast enough but takes too long in all is ended, too', async () => {
  await relay({ upload: { graceMs: 200, minBytesPerSecond: 1, maxMs: 400 } })
  expect(await drip('198.51.100.1', 5)).toBe(400)
})

test('an upload that the seller is slow to take is not a fault of its caller', async () => {
  const requested = Promise.withResolvers<IncomingMessage>()
  const slow = await startSite((req, res) => {
    req.pause()
    requested.resolve(req)
    req.on('end', () => res.end('done'))
  })
  const upload = Promise.withResolvers<IncomingMessage>()
  world = await startRelay({
    listings: [aListing(slow.url)],
    limits: { upload: { graceMs: 300, minBytesPerSecond: 1024 * 1024 * 1024, maxMs: 60_000 } },
    onRequest: upload.resolve,
  })
  // Time goes on while the seller is waited for, and only then.
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const answered = request(`${world.url}/x402.seller`, {
    method: 'POST',
    body: Buffer.alloc(10 * 1024 * 1024),
  })
  const [stopped, held] = await Promise.all([requested.promise, upload.promise])
  let waitedMs = 0
  const wait = () => {
    if (held.isPaused()) {
      vi.advanceTimersByTime(100)
      waitedMs += 100
    }
    return waitedMs
  }
  await expect.poll(wait).toBe(900)
  stopped.resume()
  const answer = await answered
  expect([answer.statusCode, await answer.body.text()]).toEqual([200, 'done'])
  await slow.close()
})
