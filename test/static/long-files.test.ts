import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createStaticFiles } from '../../functions/static/static-files.ts'
import { listen } from '../support/listen.ts'
import { tempFolder } from '../support/temp-folder.ts'

/** A file that is too long for memory is sent from the disk. */
const ROWS = '{"seller":"x402.tides","amount":"10000"}\n'.repeat(230_000)
const LENGTH = Buffer.byteLength(ROWS)
const PATH = '/trust/payments.ndjson'

const root = tempFolder('long')
const failures: string[] = []
let server: Server
let port: number
beforeAll(async () => {
  mkdirSync(join(root, 'trust'))
  writeFileSync(join(root, PATH), ROWS)
  let files = open()
  server = createServer((req, res) => {
    // As after a new release.
    if (req.headers['x-anew'] !== undefined) files = open()
    files.serve(req, res, PATH)
  })
  port = await listen(server)
})
const open = () =>
  createStaticFiles(root, (event) => {
    failures.push(event)
    return new Response('damaged', { status: 500 })
  })
afterAll(() => server.close())

const ask = (init?: RequestInit) => fetch(`http://127.0.0.1:${port}${PATH}`, init)

test('many at once get every byte, with its length and the same strong tag', async () => {
  const answers = await Promise.all(Array.from({ length: 4 }, () => ask()))
  const tags = new Set(answers.map(({ headers }) => headers.get('etag')))
  expect([...tags].join()).toMatch(/^"[\w-]+"$/)
  for (const answer of answers) {
    expect(answer.headers.get('content-length')).toBe(String(LENGTH))
    expect((await answer.text()) === ROWS).toBe(true)
  }
})

test('HEAD and a known tag send no body', async () => {
  const head = await ask({ method: 'HEAD' })
  expect([head.status, head.headers.get('content-length')]).toEqual([200, String(LENGTH)])
  const again = await ask({ headers: { 'if-none-match': head.headers.get('etag') ?? '' } })
  expect(again.status).toBe(304)
})

test('a client that leaves in the middle takes nobody with it', async () => {
  for (let times = 0; times < 6; times += 1) {
    const socket = connect(port, '127.0.0.1')
    socket.write(`GET ${PATH} HTTP/1.1\r\nHost: waypost.example\r\n\r\n`)
    await new Promise((resolve) => socket.once('data', resolve))
    socket.destroy()
  }
  expect((await (await ask()).text()) === ROWS).toBe(true)
  expect(failures).toEqual([])
})

test('its compressed copy is not kept in memory either', async () => {
  const read = async (headers: Record<string, string>) => {
    const answer = await ask({ headers: { ...headers, 'accept-encoding': 'gzip' } })
    expect(answer.headers.get('content-encoding')).toBe('gzip')
    return answer.text()
  }
  writeFileSync(join(root, `${PATH}.gz`), gzipSync('one'))
  expect(await read({ 'x-anew': '' })).toBe('one')
  writeFileSync(join(root, `${PATH}.gz`), gzipSync('two'))
  expect(await read({})).toBe('two')
})
