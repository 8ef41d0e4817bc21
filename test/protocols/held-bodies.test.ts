import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { connect, type Socket } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { BODY_LIMITS } from '../../functions/protocols/requests.ts'
import { longTest } from '../support/long.ts'
import { type RunningService, startService } from '../support/running-service.ts'

let running: RunningService
let open: Socket[] = []
const start = async (limit: string) => {
  running = await startService({ TRUST_PROXY: '1', RATE_LIMITS: `{"search":"${limit}"}` })
}
beforeEach(() => {
  open = []
})
afterEach(async () => {
  for (const socket of open) socket.resetAndDestroy()
  await running.close()
})

/** Sends the head of a request and the beginning of its body; resolves with the status it is answered. */
function begin(path: string, client: string, announced: number, sent: Buffer | string) {
  const socket = connect(Number(new URL(running.url).port), '127.0.0.1')
  open.push(socket)
  socket.on('error', () => {})
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: waypost.example\r\nX-Forwarded-For: ${client}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nContent-Length: ${announced}\r\n\r\n`,
  )
  socket.write(sent)
  const answered = new Promise<{ status: number; text: string }>((resolve) => {
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1')
    })
    socket.on('close', () => resolve({ status: Number(text.split(' ')[1] ?? 0), text }))
  })
  return { socket, answered }
}

const MESSAGES: Record<string, string> = {
  '/mcp': '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
  '/a2a':
    '{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"kind":"message","messageId":"m","role":"user","parts":[{"kind":"text","text":"weather"}]}}}',
  '/ard/search': '{"query":{"text":"weather"}}',
}

async function post(
  path: string,
  client: string,
  body = MESSAGES[path] ?? '',
  type = 'application/json',
) {
  const response = await fetch(`${running.url}${path}`, {
    method: 'POST',
    headers: {
      'content-type': type,
      accept: 'application/json, text/event-stream',
      'x-forwarded-for': client,
    },
    body,
  })
  await response.text()
  const left = /r=(\d+)/.exec(response.headers.get('ratelimit') ?? '')?.[1]
  return { status: response.status, left: Number(left) }
}

test('every protocol counts what it refuses, and answers a caller whose limit is used up before its body has come', async () => {
  await start('3/60')
  for (const [place, path] of Object.keys(MESSAGES).entries()) {
    const [client, refused] = [`198.51.100.${place}`, [400, 415]]
    expect(refused, path).toContain((await post(path, client, '{}', 'text/plain')).status)
    expect(refused, path).toContain((await post(path, client, '{')).status)
    const long = await post(path, client, `"${'x'.repeat(1_100_000)}"`)
    expect([400, 413], path).toContain(long.status)
    expect((await post(path, client)).status, path).toBe(429)
    expect((await begin(path, client, 1000, '').answered).status, path).toBe(429)
    expect((await post(path, `203.0.113.${place}`)).status, path).toBe(200)
  }
})

describe('bodies that are read', () => {
  test('a batch of a megabyte counts as many requests, and so does one long message', async () => {
    await start('600/60')
    const batch = await post('/mcp', '198.51.100.1', `[${Array(349_000).fill('{}').join()}]`)
    expect(batch).toEqual({ status: 400, left: 600 - 32 })
    const long = await post('/mcp', '198.51.100.2', JSON.stringify({ x: 'y'.repeat(1_000_000) }))
    expect(long).toEqual({ status: 400, left: 600 - 16 })
    expect((await post('/mcp', '198.51.100.3')).left).toBe(599)
  })

  test('hold a bounded share for a client, and leave the others theirs', async () => {
    await start('off')
    const piece = Buffer.alloc(200 * 1024, '"')
    const many = Array.from({ length: 80 }, () => begin('/mcp', '198.51.100.1', 1_000_000, piece))
    const fits = BODY_LIMITS.perClient / piece.length
    const refused = await firstAnswered(many, many.length - Math.ceil(fits))
    expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([429]))
    expect(refused[0]?.text).toMatch(/Retry-After: 1/i)
    expect((await post('/mcp', '198.51.100.2')).status).toBe(200)
    for (const { socket } of many) socket.resetAndDestroy()
    await expect.poll(async () => (await post('/mcp', '198.51.100.1')).status).toBe(200)
  })

  longTest(
    'give way, the oldest of the largest network first, where everything is taken',
    async () => {
      await start('off')
      const piece = Buffer.alloc(950_000, '"')
      const greedy = Array.from({ length: 80 }, (_, n) =>
        begin('/mcp', `2001:db8:${Math.floor(n / 16) + 1}:${n % 16}::1`, 1_000_000, piece),
      )
      // Five networks want 15 MiB each, and four of them have room.
      const [cut] = await firstAnswered(greedy, 1)
      expect(cut?.status).toBe(503)
      expect((await post('/mcp', '198.51.100.9')).status).toBe(200)
    },
  )

  test('that break off are nobody’s error, and are given back', async () => {
    await start('off')
    for (let round = 0; round < 12; round += 1) {
      const { socket: torn } = begin('/mcp', '198.51.100.1', 1_000_000, Buffer.alloc(900_000, '"'))
      await new Promise((resolve) => torn.once('drain', resolve).once('close', resolve))
      torn.resetAndDestroy()
    }
    await expect.poll(async () => (await post('/mcp', '198.51.100.1')).status).toBe(200)
    expect(running.log.filter((line) => line.includes('"error"'))).toEqual([])
  })
})

describe('a request refused before its body came', () => {
  longTest('is forgotten once its connection is closed', async () => {
    await start('1/60')
    await post('/mcp', '198.51.100.1')
    const requested: WeakRef<object>[] = []
    const keep = (message: unknown) => requested.push(new WeakRef(Object(message).request))
    subscribe('http.server.request.start', keep)
    const refused = Array.from({ length: 8 }, () =>
      begin('/mcp', '198.51.100.1', 1_000_000, Buffer.alloc(900_000, '"')),
    )
    await firstAnswered(refused, refused.length)
    unsubscribe('http.server.request.start', keep)
    expect(requested).toHaveLength(refused.length)
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc')
    await expect
      .poll(() => {
        collect()
        return requested.filter((request) => request.deref() !== undefined).length
      })
      .toBeLessThanOrEqual(1)
  })
})

type Begun = ReturnType<typeof begin>

/** The first answers that come, in their order. */
async function firstAnswered(many: readonly Begun[], count: number) {
  const answers: Awaited<Begun['answered']>[] = []
  for (const { answered } of many) void answered.then((answer) => answers.push(answer))
  await expect.poll(() => answers.length).toBeGreaterThanOrEqual(count)
  return answers.slice(0, count)
}
