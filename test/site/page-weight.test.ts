import { brotliCompressSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type RunningService, startService } from '../support/running-service.ts'

/** Bytes of a listing page with its style sheet, scripts and the face every page shows. */
const MAX_BYTES = 60 * 1024
const MAX_COMPRESSED_BYTES = 30 * 1024

let waypost: RunningService
beforeAll(async () => {
  waypost = await startService()
})
afterAll(() => waypost?.close())

test.each(['x402.weather', 'mcp.harbour', 'api.hostile-text', 'a2a.planner'])(
  'the page of %s weighs at most 60 KB, 30 KB compressed with its face, in seven requests',
  async (id) => {
    const files = await readPage(`/listing/${id}`)
    expect(files.length).toBeLessThanOrEqual(7)
    const bytes = files.reduce((sum, { length }) => sum + length, 0)
    const compressed = files.reduce((sum, file) => sum + brotliCompressSync(file).length, 0)
    expect(bytes).toBeLessThanOrEqual(MAX_BYTES)
    expect(compressed).toBeLessThanOrEqual(MAX_COMPRESSED_BYTES)
  },
)

test('pages are sent compressed', async () => {
  const response = await fetch(`${waypost.url}/listing/x402.weather`, {
    headers: { 'accept-encoding': 'br' },
  })
  expect(response.headers.get('content-encoding')).toBe('br')
})

/** The page, its style sheets, its scripts and what those import. */
async function readPage(path: string): Promise<Buffer[]> {
  const page = await read(path)
  const html = page.toString()
  const sheets = [...html.matchAll(/<link rel="stylesheet" href="([^"]+)"/g)]
  const scripts = [...html.matchAll(/<script type="module" src="([^"]+)"/g)]
  const linked = await Promise.all([...sheets, ...scripts].map(([, file = '']) => read(file)))
  const imported = linked.flatMap((file) =>
    [...file.toString().matchAll(/(?:from|import)\s*"\.\/([^"]+)"/g)].map(
      ([, name = '']) => `/_astro/${name}`,
    ),
  )
  expect(sheets.length).toBe(1)
  const [, face = ''] = /<link rel="preload" href="([^"]+)"/.exec(html) ?? []
  expect(face).toMatch(/woff2$/)
  return [
    page,
    await read(face),
    ...linked,
    ...(await Promise.all([...new Set(imported)].map(read))),
  ]
}

async function read(path: string): Promise<Buffer> {
  const response = await fetch(waypost.url + path)
  expect([path, response.status]).toEqual([path, 200])
  return Buffer.from(await response.arrayBuffer())
}
