import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createObjectCache } from '../../functions/static/object-cache.ts'
import { createStaticFiles } from '../../functions/static/static-files.ts'
import { objectPath, openObjects } from '../../src/store/objects.ts'
import { listen } from '../call/relay-world.ts'

/** An object that is too long for memory is proven, and then sent from the disk. */
const ROWS = '{"seller":"x402.tides","amount":"10000"}\n'.repeat(20_000)
const LENGTH = Buffer.byteLength(ROWS)
const PATH = '/trust/payments.ndjson'

const outDir = mkdtempSync(join(tmpdir(), 'waypost-long-'))
const failures: string[] = []
let stored: { size: number; digest: string }
let server: Server
let port: number
beforeAll(async () => {
  mkdirSync(join(outDir, 'objects'))
  stored = openObjects(outDir, new Set()).put(ROWS)
  const file = { ...stored, file: PATH.slice(1), type: 'application/x-ndjson' }
  const cache = createObjectCache(outDir, { maxRead: 1024 })
  const files = createStaticFiles(new Map([[PATH, file]]), cache, (event) => {
    failures.push(event)
    return new Response('damaged', { status: 500 })
  })
  server = createServer((req, res) => void files.serve(req, res, PATH))
  port = await listen(server)
})
afterAll(() => {
  server.close()
  rmSync(outDir, { recursive: true })
})

const ask = (init?: RequestInit) => fetch(`http://127.0.0.1:${port}${PATH}`, init)

test('many at once get every byte, with its length and its tag', async () => {
  const answers = await Promise.all(Array.from({ length: 20 }, () => ask()))
  for (const answer of answers) {
    expect(answer.headers.get('content-length')).toBe(String(LENGTH))
    expect(answer.headers.get('etag')).toBe(`"${stored.digest.slice(0, 32)}"`)
    expect(await answer.text()).toBe(ROWS)
  }
})

test('HEAD and a known tag send no body', async () => {
  const head = await ask({ method: 'HEAD' })
  expect([head.status, head.headers.get('content-length')]).toEqual([200, String(LENGTH)])
  const again = await ask({ headers: { 'if-none-match': head.headers.get('etag') ?? '' } })
  expect(again.status).toBe(304)
})

test('a client that leaves in the middle takes nobody with it', async () => {
  for (let times = 0; times < 20; times += 1) {
    const socket = connect(port, '127.0.0.1')
    socket.write(`GET ${PATH} HTTP/1.1\r\nHost: waypost.example\r\n\r\n`)
    await new Promise((resolve) => socket.once('data', resolve))
    socket.destroy()
  }
  expect(await (await ask()).text()).toBe(ROWS)
  expect(failures).toEqual([])
})

test('one that was changed after it was proven is found before a byte of it is sent', async () => {
  writeFileSync(objectPath(outDir, stored.digest), ROWS.replace('10000', '90000'))
  const answer = await ask()
  expect([answer.status, await answer.text()]).toEqual([500, 'damaged'])
  expect(failures).toEqual(['file.damaged'])
  writeFileSync(objectPath(outDir, stored.digest), ROWS)
  expect((await ask()).status).toBe(200)
})
