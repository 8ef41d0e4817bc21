import { createServer, type RequestListener } from 'node:http'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { doTask } from '../../packages/client/src/do-task.ts'
import { createWaypost } from '../../packages/client/src/waypost.ts'
import { listen } from '../support/listen.ts'
import { IS_LONG, longTest } from '../support/long.ts'
import { WALLET } from '../tasks/seller-doubles.ts'

/** Bodies of sellers and directories are counted as they are unpacked, and given up at a bound. */
const KIB = 1024
const MIB = KIB * KIB

/** A directory whose every address answers like this, and what its client read of it. */
async function ask<Result>(
  answer: RequestListener,
  work: (waypost: ReturnType<typeof createWaypost>) => Promise<Result>,
  options: { timeoutMs?: number } = {},
) {
  const server = createServer(answer)
  const baseUrl = `http://127.0.0.1:${await listen(server)}`
  let held = 0
  const counting: typeof fetch = async (url, init) => {
    const { body, status, headers } = await fetch(url, init)
    if (body === null) return new Response(null, { status, headers })
    const reader = body.getReader()
    const counted = new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          const { value } = await reader.read()
          held += value?.length ?? 0
          if (value === undefined) controller.close()
          else controller.enqueue(value)
        },
        cancel: (reason) => reader.cancel(reason),
      },
      { highWaterMark: 0 },
    )
    return new Response(counted, { status, headers })
  }
  const waypost = createWaypost({ baseUrl, fetch: counting, retries: 0, ...options })
  const result: unknown = await work(waypost).catch((error: unknown) => error)
  server.closeAllConnections()
  server.close()
  return { result, held }
}

/** Bodies that take little on the wire. */
const packed = new Map<number, Buffer>()
beforeAll(() => {
  for (const size of [MIB, 20 * MIB, ...(IS_LONG ? [80 * MIB] : [])])
    packed.set(size, gzipSync(Buffer.alloc(size, ' '), { level: 1 }))
})
afterAll(() => packed.clear())
const answerOf =
  (status: number, size: number): RequestListener =>
  (_, res) =>
    res.writeHead(status, { 'content-encoding': 'gzip' }).end(packed.get(size))

const pay = { wallet: WALLET, maxUsd: 1 }

test('of a 402 no more than 256 KiB are read', async () => {
  const { result, held } = await ask(answerOf(402, 20 * MIB), (waypost) =>
    waypost.call('x402.seller', { pay }),
  )
  expect(result).toMatchObject({
    code: 'too-large',
    message: expect.stringMatching(
      /^The 402 from http.* is longer than 262144 bytes, decompressed; /,
    ),
  })
  expect(held).toBeLessThanOrEqual(512 * KIB)
})

test('of what a directory answers no more than 16 MiB', async () => {
  const { result, held } = await ask(answerOf(200, 20 * MIB), (waypost) => waypost.stats())
  expect(result).toMatchObject({ code: 'too-large' })
  expect(held).toBeLessThanOrEqual(17 * MIB)
})

const read = (maxBytes?: number) => async (waypost: ReturnType<typeof createWaypost>) => {
  const { response } = await waypost.call('x402.seller', { maxBytes })
  return (await response.arrayBuffer()).byteLength
}

longTest('of what a seller answers 64 MiB, or more where the caller says so', async () => {
  const { result, held } = await ask(answerOf(200, 80 * MIB), read())
  expect(result).toMatchObject({ code: 'too-large' })
  expect(held).toBeLessThanOrEqual(65 * MIB)
  expect((await ask(answerOf(200, 80 * MIB), read(80 * MIB))).result).toBe(80 * MIB)
})

test('of what a seller answers as much as the caller says', async () => {
  expect((await ask(answerOf(200, 20 * MIB), read(20 * MIB))).result).toBe(20 * MIB)
  const short = await ask(answerOf(200, MIB), read(1000))
  expect(short.result).toMatchObject({ code: 'too-large' })
  expect(short.held).toBeLessThanOrEqual(256 * KIB)
})

test('one that is never read is not unpacked', async () => {
  const { held } = await ask(answerOf(200, 20 * MIB), (waypost) => waypost.call('x402.seller'))
  expect(held).toBe(0)
})

test('a seller whose 402 is too long is passed over: the next one has its turn', async () => {
  const server = createServer((req, res) => {
    if (req.url?.startsWith('/long') === true) return answerOf(402, 20 * MIB)(req, res)
    if (req.url === '/good') return res.end('{"text":"done"}')
    const { port } = Object(server.address())
    const rowOf = (id: string) => ({
      ...{ seller: { id }, usd: 0.01, output: { text: 'text' }, digest: '' },
      request: { method: 'GET', url: `http://127.0.0.1:${port}/${id}` },
    })
    const output = { type: 'object', properties: { text: { type: 'string' } } }
    const isPlan = req.url?.includes('/plan') === true
    const plan = { rows: [rowOf('long'), rowOf('good')], total: 2, notes: [] }
    return res.end(JSON.stringify(isPlan ? plan : { output }))
  })
  const waypost = createWaypost({ baseUrl: `http://127.0.0.1:${await listen(server)}` })
  const done = await doTask(waypost, 't', {}, { pay })
  server.close()
  expect(done).toMatchObject({ output: { text: 'done' }, seller: 'good' })
  expect(done.attempts[0]).toMatchObject({ end: 'no_terms', paid: 'no' })
})

test('the time limit holds until the body is read', async () => {
  const stall: RequestListener = (_, res) => void res.writeHead(200).write('{')
  const late = { timeoutMs: 200 }
  const read = await ask(stall, (waypost) => waypost.stats(), late)
  expect(read.result).toMatchObject({ code: 'timeout' })
  const call = await ask(
    stall,
    async (waypost) => (await waypost.call('x402.seller')).response.text(),
    late,
  )
  expect(call.result).toMatchObject({ code: 'timeout' })
})

test('one that breaks off, or is not what its header says, is a failure with a reason', async () => {
  const read = async (waypost: ReturnType<typeof createWaypost>) =>
    (await waypost.call('x402.seller')).response.text()
  const torn: RequestListener = (_, res) => {
    res.writeHead(200, { 'content-length': '100' }).write('half')
    setImmediate(() => res.destroy())
  }
  expect((await ask(torn, read)).result).toMatchObject({ code: 'unreachable' })
  const wrong: RequestListener = (_, res) =>
    res.writeHead(200, { 'content-encoding': 'gzip' }).end('no gzip')
  expect((await ask(wrong, read)).result).toMatchObject({ code: 'unreachable' })
})
