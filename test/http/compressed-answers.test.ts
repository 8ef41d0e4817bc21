import { createServer, type ServerResponse } from 'node:http'
import { brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { compressAnswer } from '../../functions/server/node-answers.ts'
import { listen } from '../support/listen.ts'
import { askRaw, type RawAnswer } from '../support/raw-answer.ts'
import { serveFixture } from '../support/running-service.ts'

/** What differs from one answer to the next. */
const OWN = /[0-9a-f]{8}-[0-9a-f-]{27}/g
/** Beside gzip at its first level, the fastest that packs at all. */
const MOST_BYTES = 1.15
const UNPACK = { br: brotliDecompressSync, gzip: gunzipSync }

const running = serveFixture({ RATE_LIMITS: '{"search":"100000/60"}' })
/** `fetch` unpacks what it gets: here the bytes are looked at. */
const ask = (path: string, accepts?: string, base = running.url) =>
  askRaw(base, { path, headers: accepts === undefined ? {} : { 'accept-encoding': accepts } })

function unpack({ headers, bytes }: RawAnswer): string {
  const coding = headers['content-encoding']
  const plain = coding === 'br' || coding === 'gzip' ? UNPACK[coding](bytes) : bytes
  return plain.toString().replaceAll(OWN, 'own')
}

describe('an answer made for its request is compressed as a whole', () => {
  test.each([
    '/api/v1/search?q=weather&limit=50',
    '/api/v1/search?q=weather&limit=50&view=compact',
    '/api/v1/search/?q=weather&limit=50',
    '/api/v1/search?limit=50&explain=true&facets=kind,price',
    '/api/v1/operations?q=weather&limit=20',
    '/api/v1/compare?ids=x402.acme-data,mcp.acme-tools',
    '/api/v1/changes',
    '/v0.1/servers',
    '/api/v1/nothing-here',
    '/search?q=weather',
    '/compare?ids=x402.acme-data,mcp.acme-tools',
  ])('%s', async (path) => {
    const plain = await ask(path)
    expect(plain.headers).not.toHaveProperty('content-encoding')
    expect(plain.headers.vary).toMatch(/accept-encoding/i)
    expect(plain.bytes.length).toBeGreaterThan(0)
    for (const coding of ['br', 'gzip'] as const) {
      const packed = await ask(path, coding)
      expect(packed.status).toBe(plain.status)
      expect(unpack(packed)).toBe(unpack(plain))
      if (plain.bytes.length < 1024) continue
      expect(packed.headers).toMatchObject({
        'content-encoding': coding,
        'content-length': String(packed.bytes.length),
        vary: expect.stringMatching(/accept-encoding/i),
      })
      const most = MOST_BYTES * gzipSync(plain.bytes, { level: 1 }).length
      expect(packed.bytes.length).toBeLessThan(most)
    }
    const both = await ask(path, 'gzip, deflate, br')
    if (plain.bytes.length >= 1024) expect(both.headers['content-encoding']).toBe('br')
  })

  test('HEAD and an answer of less than a kibibyte stay as they are', async () => {
    const small = await ask(`/api/v1/search?q=zzzz&view=compact`, 'br')
    expect(small.bytes.length).toBeLessThan(1024)
    expect(small.headers).not.toHaveProperty('content-encoding')
    const head = await fetch(`${running.url}/api/v1/search?q=weather`, { method: 'HEAD' })
    expect(head.headers.get('content-encoding')).toBeNull()
    expect(head.headers.get('vary')).toMatch(/accept-encoding/i)
  })

  test.each([undefined, '', 'identity', 'gzip;q=0', 'gzip;q=0.000, br;q=0', 'deflate', '*;q=0'])(
    'Accept-Encoding: %s gets the plain answer',
    async (accepts) => {
      const { headers, bytes } = await ask(`/api/v1/search?limit=50`, accepts)
      expect(headers).not.toHaveProperty('content-encoding')
      expect(JSON.parse(bytes.toString()).query.limit).toBe(50)
    },
  )

  test.each(['gzip'.repeat(2000), ','.repeat(4000), 'gzip;q=-1', 'GZIP;Q=0', 'br;q=0, *'])(
    'Accept-Encoding made to confuse: %s',
    async (accepts) => {
      const answer = await ask(`/api/v1/search?limit=50`, accepts)
      expect(JSON.parse(unpack(answer)).query.limit).toBe(50)
    },
  )
})

test('what holds a secret beside a stranger’s words is never compressed', async () => {
  for (const path of ['/api/v1/sellers/me', '/api/v1/sellers/me/', '/sellers/dashboard']) {
    const { headers } = await ask(path, 'br, gzip')
    expect(headers).not.toHaveProperty('content-encoding')
    // What is short is not compressed anyway; this says that it might have been.
    expect(headers.vary ?? '').not.toMatch(/accept-encoding/i)
  }
  const text = 'x'.repeat(5000)
  await serve(
    '/sellers/check',
    (res) => {
      res.writeHead(200, { 'Content-Type': 'text/plain', 'Set-Cookie': 'a=b' }).end(text)
    },
    ({ headers, bytes }) => {
      expect(headers).not.toHaveProperty('content-encoding')
      expect(bytes.toString()).toBe(text)
    },
  )
})

describe('an answer written in pieces', () => {
  const piece = 'Öffnungszeiten und Wege. '.repeat(100)
  const html = { 'Content-Type': 'text/html; charset=utf-8', ETag: '"abc"' }

  test('is sent whole, its ETag no longer that of the very bytes', async () => {
    await serve(
      '/search',
      (res) => {
        res.writeHead(200, 'Fine', Object.entries(html).flat())
        let reported = 0
        res.write(piece, () => (reported += 1))
        res.write(Buffer.from(piece).toString('base64'), 'base64')
        res.end(piece, () => expect(reported).toBe(1))
      },
      (answer) => {
        expect(answer.headers).toMatchObject({ 'content-encoding': 'br', etag: 'W/"abc"' })
        expect(unpack(answer)).toBe(piece.repeat(3))
      },
    )
  })

  test('above a mebibyte goes out as it is, without being held back', async () => {
    const chunk = 'y'.repeat(400_000)
    await serve(
      '/search',
      (res) => {
        res.writeHead(200, html)
        for (let at = 0; at < 5; at += 1) res.write(chunk)
        res.end()
      },
      ({ headers, bytes }) => {
        expect(headers).not.toHaveProperty('content-encoding')
        expect(bytes.length).toBe(5 * chunk.length)
      },
    )
  })

  test.each([
    ['events', { 'Content-Type': 'text/event-stream' }],
    ['a picture', { 'Content-Type': 'image/png' }],
    ['packed bytes', { ...html, 'Content-Encoding': 'gzip' }],
    ['what may not be changed', { ...html, 'Cache-Control': 'no-store, no-transform' }],
  ])('%s are passed on as they come', async (_name, headers) => {
    await serve(
      '/search',
      (res) => {
        res.writeHead(200, headers)
        res.write(piece)
        expect(res.headersSent).toBe(true)
        res.end(piece)
      },
      (answer) => {
        expect(answer.bytes.toString()).toBe(piece.repeat(2))
      },
    )
  })
})

/** One answer behind the compression alone. */
async function serve(
  path: string,
  answer: (res: ServerResponse) => void,
  look: (answer: RawAnswer) => void,
): Promise<void> {
  const server = createServer((req, res) => {
    compressAnswer(req, res)
    answer(res)
  })
  const port = await listen(server)
  try {
    look(await ask(path, 'br, gzip', `http://127.0.0.1:${port}`))
  } finally {
    server.closeAllConnections()
    server.close()
  }
}
