import type { ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { request } from 'undici'
import { afterEach, expect, test, vi } from 'vitest'
import { RELAY_LIMITS } from '../../functions/relay/call-plan.ts'
import type { RelayParts } from '../../functions/relay/relay.ts'
import {
  aListing,
  allInFlight,
  PAYMENT,
  type RelayWorld,
  type RelayWorldOptions,
  startRelay,
} from '../call/relay-world.ts'
import { aTransaction, settledHeaders } from '../receipts/observed-relay.ts'
import { startSite } from '../support/site.ts'

const MIB = 1024 * 1024
const STRICT = { graceMs: 300, bytesPerSecond: 64 * MIB, everyMs: 50 }

let open: (() => unknown)[] = []
afterEach(async () => {
  vi.useRealTimers()
  for (const close of open.reverse()) await close()
  open = []
})

interface BigSeller {
  url: string
  requested(): number
  /** Answers that were written to their end, and those whose connection broke before. */
  whole(): number
  torn(): number
}

/** A seller whose every answer has more bytes than the sockets on its way can hold. */
async function bigSeller(bytes = 32 * MIB): Promise<BigSeller> {
  const counts = { requested: 0, whole: 0, torn: 0 }
  const chunk = Buffer.alloc(64 * 1024)
  const seller = await startSite((_req, res) => {
    counts.requested += 1
    res.once('close', () => {
      counts[res.writableFinished ? 'whole' : 'torn'] += 1
    })
    res.writeHead(200, { ...settledHeaders('x402-v2', aTransaction(7)), 'Content-Length': bytes })
    send(res, chunk, bytes / chunk.length)
  })
  open.push(seller.close)
  return {
    url: seller.url,
    requested: () => counts.requested,
    whole: () => counts.whole,
    torn: () => counts.torn,
  }
}

function send(res: ServerResponse, chunk: Buffer, count: number): void {
  for (let left = count; left > 0; left -= 1)
    if (!res.write(chunk)) return void res.once('drain', () => send(res, chunk, left - 1))
  res.end()
}

interface Waypost extends RelayWorld {
  settled: string[]
}

async function startWaypost(origin: string, options: Partial<RelayWorldOptions>): Promise<Waypost> {
  const settled: string[] = []
  const ledger: RelayParts['ledger'] = {
    usage: { called: () => {} },
    hints: { note: (_listing, _client, transaction) => void settled.push(transaction) },
  }
  const env = { TRUST_PROXY: '1' }
  const world = await startRelay({ listings: [aListing(origin)], ledger, env, ...options })
  open.push(world.close)
  return { ...world, settled }
}

/** Asks, and takes nothing of the answer. */
function neverRead(port: number, client: string, payment = ''): Socket {
  const socket = connect(port, '127.0.0.1')
  socket.pause()
  socket.on('error', () => {})
  socket.write(
    `GET /api/v1/call/x402.seller HTTP/1.1\r\nHost: w\r\nX-Forwarded-For: ${client}\r\n${payment}\r\n`,
  )
  open.push(() => socket.destroy())
  return socket
}

const callAs = async (url: string, client: string) => {
  const answer = await request(`${url}/x402.seller`, { headers: { 'X-Forwarded-For': client } })
  let length = 0
  for await (const part of answer.body) length += part.length
  return [answer.statusCode, length]
}

test('a client that reads none of its answers holds an eighth of the places at most', async () => {
  const seller = await bigSeller()
  const { perListing, perListingAndClient } = RELAY_LIMITS.inFlight
  expect(perListingAndClient).toBe(perListing / 8)
  const { url, port } = await startWaypost(seller.url, {})
  for (let n = 0; n < perListingAndClient + 8; n += 1) neverRead(port, '198.51.100.1')
  await expect.poll(seller.requested).toBe(perListingAndClient)
  expect(await callAs(url, '198.51.100.9')).toEqual([200, 32 * MIB])
  expect(seller.requested()).toBe(perListingAndClient + 1)
})

test('a reader below the least rate is cut, and its place and the seller are free again', async () => {
  const seller = await bigSeller()
  // Time goes on for the reader that takes nothing alone: how fast the other can read does not matter.
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const inFlight = allInFlight(1)
  const { url, port } = await startWaypost(seller.url, { readLimits: STRICT, limits: { inFlight } })
  neverRead(port, '198.51.100.1')
  await expect.poll(seller.requested).toBe(1)
  const wait = () => {
    vi.advanceTimersByTime(STRICT.everyMs)
    return seller.torn()
  }
  await expect.poll(wait).toBe(1)
  expect(await callAs(url, '198.51.100.9')).toEqual([200, 32 * MIB])
})

test('while a reader takes nothing its seller is not the one that is late', async () => {
  const seller = await bigSeller()
  const { port } = await startWaypost(seller.url, { limits: { idleBodyMs: 200 } })
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  const socket = neverRead(port, '198.51.100.1')
  await expect.poll(seller.requested).toBe(1)
  // The seller's clock stands still once it is the reader that is waited for.
  await expect.poll(vi.getTimerCount).toBe(0)
  vi.advanceTimersByTime(900)
  let length = 0
  socket.on('data', (chunk) => {
    length += chunk.length
  })
  socket.resume()
  await expect.poll(() => length).toBeGreaterThan(32 * MIB)
  await expect.poll(seller.whole).toBe(1)
  expect(seller.torn()).toBe(0)
})

test('a paid call whose reader takes nothing is read to its end for its settlement', async () => {
  const seller = await bigSeller()
  const waypost = await startWaypost(seller.url, {
    readLimits: STRICT,
    limits: { idleBodyMs: 100 },
  })
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'],
  })
  neverRead(waypost.port, '198.51.100.1', `X-PAYMENT: ${PAYMENT}\r\n`)
  await expect.poll(seller.requested).toBe(1)
  const wait = () => {
    // Only the look at readers is due: nothing is waited for but the reader.
    if (vi.getTimerCount() === 1) vi.advanceTimersByTime(STRICT.everyMs)
    return seller.whole()
  }
  await expect.poll(wait).toBe(1)
  expect(seller.torn()).toBe(0)
  expect(waypost.settled.join()).toContain(aTransaction(7))
})

test('a paid call whose reader is gone is given up when its answer has no end', async () => {
  const requested: ServerResponse[] = []
  const seller = await startSite((_req, res) => {
    requested.push(res)
    res.writeHead(200)
    const timer = setInterval(() => res.write('x'), 20)
    res.once('close', () => clearInterval(timer))
  })
  open.push(seller.close)
  const { port } = await startWaypost(seller.url, { limits: { paidResponseHeadersMs: 400 } })
  const socket = neverRead(port, '198.51.100.1', `X-PAYMENT: ${PAYMENT}\r\n`)
  await expect.poll(() => requested.length).toBe(1)
  socket.destroy()
  await expect.poll(() => requested[0]?.destroyed).toBe(true)
})

test('a seller may think longer than a connection of ours may stand still', async () => {
  const seller = await startSite((_req, res) => void setTimeout(() => res.end('done'), 800))
  open.push(seller.close)
  const { url } = await startWaypost(seller.url, { stillMs: 150 })
  const answer = await request(`${url}/x402.seller`, { headers: { 'X-PAYMENT': PAYMENT } })
  expect([answer.statusCode, await answer.body.text()]).toEqual([200, 'done'])
})
