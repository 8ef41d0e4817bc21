import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { openClient, openSite } from './probe-world.ts'

/** Probes read as much of a 402 as the relay and the client do, counted after unpacking. */

test.each([
  ['plain', (text: string) => text, {}],
  ['compressed', (text: string) => gzipSync(text), { 'content-encoding': 'gzip' }],
])('a long 402 that is %s is cut', async (_, pack, headers) => {
  const read = async (status: number, length: number) => {
    const site = await openSite((_req, res) =>
      res.writeHead(status, headers).end(pack(' '.repeat(length))),
    )
    const reply = await openClient().fetch({ method: 'GET', url: site.url })
    return reply.answered ? [reply.answer.cut, reply.answer.body.length] : []
  }
  expect(await read(402, 256 * 1024)).toEqual([null, 256 * 1024])
  expect((await read(402, 256 * 1024 + 1))[0]).toBe('size')
  expect(await read(200, 300 * 1024)).toEqual([null, 300 * 1024])
})
