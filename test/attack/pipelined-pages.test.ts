import { once } from 'node:events'
import { connect } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { MAX_WAITING } from '../../functions/server/connections.ts'
import { type RunningService, startService } from '../support/running-service.ts'
import { type Answering, startAnswering } from './answering-server.ts'

let open: { close(): Promise<void> }[] = []
afterEach(async () => {
  await Promise.all(open.map((each) => each.close()))
  open = []
})

async function service(limits: string): Promise<RunningService> {
  const waypost = await startService({ RATE_LIMITS: limits })
  open.push(waypost)
  return waypost
}

async function answering(...args: Parameters<typeof startAnswering>): Promise<Answering> {
  const server = await startAnswering(...args)
  open.push(server)
  return server
}

const portOf = ({ url }: RunningService) => Number(new URL(url).port)

test('a client that pipelines a thousand pages is cut, and others are answered meanwhile', async () => {
  const waypost = await service('{"search":"600/60"}')
  let requests = 0
  waypost.service.server.on('request', () => {
    requests += 1
  })
  // As small as requests come: 64 KiB, what is read at once, holds more than a thousand.
  const attack = Array.from({ length: 5 }, () => {
    const socket = connect(portOf(waypost), '127.0.0.1').resume()
    socket.on('error', () => {})
    socket.write('GET /search HTTP/1.1\r\nHost: w\r\n\r\n'.repeat(1153))
    return once(socket, 'close')
  })
  const health = await fetch(`${waypost.url}/healthz`)
  expect(health.status).toBe(200)
  await Promise.all(attack)
  // Of the requests behind the one that went too far, none was even made an object of.
  expect(requests).toBeLessThanOrEqual(5 * (MAX_WAITING + 2) + 1)
})

test('pages count as searches: past the limit of searches none is rendered', async () => {
  const waypost = await service('{"search":"2/60"}')
  const page = (path: string) =>
    fetch(waypost.url + path, { headers: { accept: 'text/html,application/xhtml+xml' } })
  const first = await page('/search?q=weather')
  expect(first.status).toBe(200)
  expect(first.headers.get('ratelimit-policy')).toBe('"search";q=2;w=60')
  expect((await page('/api/v1/search')).status).toBe(200)
  const refused = await page('/search?q=weather')
  expect(refused.status).toBe(429)
  expect(refused.headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(refused.headers.get('ratelimit')).toMatch(/^"search";r=0;t=\d+$/)
  expect(refused.headers.get('cache-control')).toBe('no-store')
  expect(await refused.text()).toContain('Too many requests')
  const plain = await fetch(`${waypost.url}/search`, { headers: { accept: 'application/json' } })
  expect(plain.status).toBe(429)
  expect(await plain.json()).toMatchObject({ code: 'rate-limited' })
})

test('requests of a connection are answered in order, one at a time', async () => {
  const running = { now: 0, most: 0 }
  const server = await answering(async (req, res) => {
    running.now += 1
    running.most = Math.max(running.most, running.now)
    await new Promise((resolve) => setImmediate(resolve))
    running.now -= 1
    res.end(`${req.url};`)
  })
  const socket = connect(server.port, '127.0.0.1')
  let text = ''
  socket.on('data', (chunk) => {
    text += chunk
  })
  const targets = Array.from({ length: MAX_WAITING }, (_, n) => `/${n}`)
  const last = 'GET /last HTTP/1.1\r\nHost: w\r\nConnection: close\r\n\r\n'
  socket.write(targets.map((path) => `GET ${path} HTTP/1.1\r\nHost: w\r\n\r\n`).join('') + last)
  await once(socket, 'close')
  expect(text.match(/\/\w+;/g)).toEqual([...targets, '/last'].map((path) => `${path};`))
  expect(running.most).toBe(1)
})

test('no work is begun for a connection that is gone', async () => {
  const begun: string[] = []
  const { promise: isReleased, resolve: release } = Promise.withResolvers<void>()
  const server = await answering(async (req, res) => {
    begun.push(req.url ?? '')
    await isReleased
    res.end()
  })
  const socket = connect(server.port, '127.0.0.1')
  socket.write('GET /first HTTP/1.1\r\nHost: w\r\n\r\nGET /second HTTP/1.1\r\nHost: w\r\n\r\n')
  await expect.poll(() => begun).toEqual(['/first'])
  socket.destroy()
  await expect.poll(() => server.connections()).toBe(0)
  release()
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect(begun).toEqual(['/first'])
})

test('of answers nobody reads one is held, and its connection is closed after a time', async () => {
  const size = 8 * 1024 * 1024
  let answers = 0
  const server = await answering(
    (_req, res) => {
      answers += 1
      res.end(Buffer.alloc(size))
    },
    { graceMs: 300, bytesPerSecond: 64 * 1024 * 1024, everyMs: 50 },
  )
  const socket = connect(server.port, '127.0.0.1').pause()
  socket.on('error', () => {})
  socket.write('GET / HTTP/1.1\r\nHost: w\r\n\r\n'.repeat(20))
  await expect.poll(() => answers).toBe(1)
  expect(server.heldBytes()).toBeLessThanOrEqual(size + 1024)
  await expect.poll(() => server.connections()).toBe(0)
  expect(answers).toBe(1)
})

test('a reader that takes its time, but takes, gets everything', async () => {
  const size = 8 * 1024 * 1024
  const server = await answering((_req, res) => void res.end(Buffer.alloc(size)), {
    graceMs: 200,
    bytesPerSecond: 512 * 1024,
    everyMs: 20,
  })
  const socket = connect(server.port, '127.0.0.1')
  socket.write('GET / HTTP/1.1\r\nHost: w\r\nConnection: close\r\n\r\n')
  let read = 0
  socket.on('data', (chunk) => {
    read += chunk.length
    socket.pause()
    setTimeout(() => socket.resume(), 5)
  })
  await once(socket, 'close')
  expect(read).toBeGreaterThan(size)
})

test('an answer that its source is slow with is not a fault of the reader', async () => {
  const server = await answering(
    async (_req, res) => {
      for (let n = 0; n < 10; n += 1) {
        res.write('x')
        await new Promise((resolve) => setTimeout(resolve, 40))
      }
      res.end()
    },
    { graceMs: 50, bytesPerSecond: 1024, everyMs: 10 },
  )
  const answer = await fetch(`http://127.0.0.1:${server.port}/`)
  expect(await answer.text()).toBe('xxxxxxxxxx')
})

test('garbage behind a request does not cut the answer to it', async () => {
  const waypost = await service('{}')
  const socket = connect(portOf(waypost), '127.0.0.1')
  let text = ''
  socket.on('data', (chunk) => {
    text += chunk
  })
  socket.write('GET /search HTTP/1.1\r\nHost: w\r\n\r\nHELLO there\r\n\r\n')
  await once(socket, 'close')
  expect(text).toMatch(/^HTTP\/1\.1 200 /)
  expect(text).toMatch(/<\/html>\s*(?:0\r\n\r\n)?HTTP\/1\.1 400 Bad Request\r\n/)
})
