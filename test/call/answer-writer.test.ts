import { createServer, type ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { createAnswerWriter } from '../../functions/relay/relay.ts'
import { listen } from '../support/listen.ts'
import { exchangeRaw } from './relay-world.ts'

const GET = 'GET / HTTP/1.1\r\nHost: w\r\nConnection: close\r\n\r\n'

/** What a caller gets of an answer that `write` writes. */
async function answerOf(write: (res: ServerResponse) => void): Promise<string> {
  const server = createServer((_req, res) => write(res))
  const port = await listen(server)
  const { body } = await exchangeRaw(port, GET)
  server.close()
  return body
}

test('the memory of a large chunk is free once it is written, and every byte arrives', async () => {
  const large = Buffer.from(new ArrayBuffer(256 * 1024)).fill('a')
  const small = Buffer.from(new ArrayBuffer(1024)).fill('b')
  const whole = Buffer.from(new ArrayBuffer(256 * 1024)).fill('c')
  const slice = whole.subarray(0, 128 * 1024)
  const body = await answerOf((res) => {
    const writer = createAnswerWriter(res, false, [], () => {})
    const headers = ['Content-Length', String(large.length + small.length + slice.length)]
    writer.head({ status: 200, reason: 'OK', headers })
    for (const chunk of [large, small, slice]) writer.data(chunk)
    writer.end()
  })
  expect(body).toBe('a'.repeat(256 * 1024) + 'b'.repeat(1024) + 'c'.repeat(128 * 1024))
  // Others may hold the rest of a slice's memory, and little ones are not worth the trouble.
  expect([large.length, small.length, slice.length]).toEqual([0, 1024, 128 * 1024])
})
