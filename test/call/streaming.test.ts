import { createHash } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { request } from 'undici'
import { describe, expect, test } from 'vitest'
import { longTest } from '../support/long.ts'
import { startSite } from '../support/site.ts'
import { aListing, exchangeRaw, startRawSeller, startRelay } from './relay-world.ts'

const MIB = 1024 * 1024
/** Raise for a long run: MIB_OF_LARGE=1024. */
const MIB_OF_LARGE = Number(process.env.MIB_OF_LARGE ?? 384)

describe('streams', () => {
  test('each event arrives before the seller sends the next', async () => {
    let send = (_text: string, _isLast: boolean) => {}
    await using seller = await startSite((_req, res) => {
      res.writeHead(200, { 'Content-Type': 'text/event-stream' })
      res.flushHeaders()
      send = (text, isLast) => void (isLast ? res.end(text) : res.write(text))
    })
    await using world = await startRelay({ listings: [aListing(seller.url)] })
    // The head is here before anything was sent; a relay that collected would wait for ever.
    const answer = await request(`${world.url}/x402.seller`)
    const events = answer.body[Symbol.asyncIterator]()
    send('data: 1\n\n', false)
    expect(String((await events.next()).value)).toBe('data: 1\n\n')
    send('data: 2\n\n', true)
    expect(String((await events.next()).value)).toBe('data: 2\n\n')
    expect((await events.next()).done).toBe(true)
  })

  test('a caller that reads slowly slows the seller down', async () => {
    let written = 0
    await using seller = await startSite((_req, res) => {
      const chunk = Buffer.alloc(64 * 1024)
      const more = () => {
        while (written < 64 * MIB) {
          written += chunk.length
          if (!res.write(chunk)) return void res.once('drain', more)
        }
        res.end()
      }
      more()
    })
    await using world = await startRelay({ listings: [aListing(seller.url)] })
    const socket = connect(world.port, '127.0.0.1')
    socket.write('GET /api/v1/call/x402.seller HTTP/1.1\r\nHost: w\r\n\r\n')
    await new Promise((resolve) => socket.once('readable', resolve))
    // The longer the wait, the surer a relay that collects is caught; one that doesn't never is.
    await sleep(700)
    // Kernel buffers of two loopback connections are all that fits in between.
    expect(written).toBeLessThan(24 * MIB)
    socket.resume()
    await expect.poll(() => written).toBeGreaterThanOrEqual(64 * MIB)
    socket.destroy()
  })

  longTest('a large answer passes whole, in flat memory', { timeout: 240_000 }, async () => {
    const chunk = Buffer.alloc(256 * 1024, 'waypost')
    const count = MIB_OF_LARGE * 4
    await using seller = await startSite((_req, res) => {
      let sent = 0
      const more = () => {
        while (sent < count) {
          sent += 1
          if (!res.write(chunk)) return void res.once('drain', more)
        }
        res.end()
      }
      more()
    })
    await using world = await startRelay({ listings: [aListing(seller.url)] })
    const expected = createHash('sha256')
    for (let n = 0; n < count; n += 1) expected.update(chunk)
    const before = process.memoryUsage().rss
    let peak = 0
    let length = 0
    const received = createHash('sha256')
    const answer = await request(`${world.url}/x402.seller`)
    for await (const part of answer.body) {
      length += part.length
      received.update(part)
      peak = Math.max(peak, process.memoryUsage.rss())
    }
    expect(length).toBe(MIB_OF_LARGE * MIB)
    expect(received.digest('hex')).toBe(expected.digest('hex'))
    // Seller, relay and caller in one process; collecting the body would add all of it.
    expect((peak - before) / MIB).toBeLessThan(128)
  })
})

describe('an early answer', () => {
  test('a 402 sent before the body was read arrives whole', async () => {
    await using seller = await startRawSeller((socket) =>
      socket.write('HTTP/1.1 402 Pay\r\nContent-Length: 2\r\n\r\n{}'),
    )
    await using world = await startRelay({ listings: [aListing(seller.url)] })
    for (const body of [Buffer.alloc(10), Buffer.alloc(MIB), Buffer.alloc(9 * MIB)]) {
      const answer = await request(`${world.url}/x402.seller`, { method: 'POST', body })
      expect(answer.statusCode).toBe(402)
      expect(await answer.body.text()).toBe('{}')
    }
  })

  test('while the body still arrives, and the connection stays usable', async () => {
    await using seller = await startRawSeller((socket) =>
      socket.write('HTTP/1.1 402 Pay\r\nContent-Length: 2\r\n\r\n{}'),
    )
    await using world = await startRelay({ listings: [aListing(seller.url)] })
    const socket = connect(world.port, '127.0.0.1')
    let received = ''
    socket.on('data', (chunk) => {
      received += chunk.toString()
    })
    socket.write(
      'POST /api/v1/call/x402.seller HTTP/1.1\r\nHost: w\r\nContent-Length: 20\r\n\r\n0123456789',
    )
    await expect.poll(() => received).toContain('{}')
    socket.write('0123456789')
    socket.write(
      'GET /api/v1/call/x402.seller?relay_info HTTP/1.1\r\nHost: w\r\nConnection: close\r\n\r\n',
    )
    await expect.poll(() => received).toContain('"relayable":true')
    socket.destroy()
  })
})

describe('a caller that hangs up', () => {
  /** The caller is gone before the seller says a word; `ended` is how the seller's side closed. */
  async function hangUp(payment: string) {
    const requested = Promise.withResolvers<ServerResponse>()
    const seller = await startSite((req, res) => {
      req.resume().once('end', () => requested.resolve(res))
    })
    const world = await startRelay({ listings: [aListing(seller.url)] })
    const socket = connect(world.port, '127.0.0.1')
    socket.write(
      `POST /api/v1/call/x402.seller HTTP/1.1\r\nHost: w\r\nContent-Length: 2\r\n${payment}\r\nhi`,
    )
    const answer = await requested.promise
    const ended = new Promise<'whole' | 'early'>((resolve) =>
      answer.once('close', () => resolve(answer.writableFinished ? 'whole' : 'early')),
    )
    socket.destroy()
    return {
      answer,
      ended,
      world,
      close: async () => {
        await world.close()
        await seller.close()
      },
    }
  }

  test('unpaid: the seller’s connection is closed, though it never answers', async () => {
    const { ended, close } = await hangUp('')
    expect(await ended).toBe('early')
    await close()
  })

  test('paid: the seller’s answer is read to its end', async () => {
    const { answer, ended, world, close } = await hangUp('PAYMENT-SIGNATURE: p\r\n')
    // Time for the relay to see that the caller is gone; without it the test would prove less.
    await sleep(100)
    answer.writeHead(200, { 'PAYMENT-RESPONSE': 'x' })
    answer.write('a'.repeat(1000))
    await sleep(50)
    answer.end('b')
    expect(await ended).toBe('whole')
    await expect.poll(() => world.logged.join('')).toContain('"status":200')
    await close()
  })

  test('in the middle of its body: the seller never sees a whole request', async () => {
    const seen: string[] = []
    const half = Promise.withResolvers<void>()
    await using seller = await startSite((req) => {
      req.once('data', () => half.resolve())
      req.on('end', () => seen.push('end'))
      req.on('close', () => seen.push(req.complete ? 'complete' : 'torn'))
      req.on('error', () => {})
      req.resume()
    })
    await using world = await startRelay({ listings: [aListing(seller.url)] })
    const socket = connect(world.port, '127.0.0.1')
    socket.write(
      'POST /api/v1/call/x402.seller HTTP/1.1\r\nHost: w\r\nX-PAYMENT: p\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n',
    )
    await half.promise
    socket.destroy()
    await expect.poll(() => seen).toEqual(['torn'])
  })

  test('a body that stops arriving is refused in time', async () => {
    await using seller = await startRawSeller(() => {})
    await using world = await startRelay({
      listings: [aListing(seller.url)],
      limits: { idleBodyMs: 200 },
    })
    const answer = await exchangeRaw(
      world.port,
      'POST /api/v1/call/x402.seller HTTP/1.1\r\nHost: w\r\nContent-Length: 20\r\n\r\nhalf',
    )
    expect(answer.status).toBe(400)
    expect(answer.body).toContain('stopped arriving')
  })
})
