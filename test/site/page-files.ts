import { brotliCompressSync } from 'node:zlib'
import { expect } from 'vitest'

/** Bytes of a listing page with its style sheet and scripts; compressed, with the face every page shows too. */
const MAX_BYTES = 60 * 1024
const MAX_COMPRESSED_BYTES = 30 * 1024
const MAX_REQUESTS = 8

type Read = (path: string) => Promise<Buffer>

/** The page, its style sheet, its scripts and what those import, and its face. */
async function readPageFiles(page: Buffer, read: Read): Promise<Buffer[]> {
  const html = page.toString()
  const sheets = [...html.matchAll(/<link rel="stylesheet" href="([^"]+)"/g)]
  const scripts = [...html.matchAll(/<script type="module" src="([^"]+)"/g)]
  const linked = await Promise.all([...sheets, ...scripts].map(([, file = '']) => read(file)))
  const imported = linked.flatMap((file) =>
    [...file.toString().matchAll(/(?:from|import)\s*"\.\/([^"]+)"/g)].map(
      ([, name = '']) => `/_astro/${name}`,
    ),
  )
  // What every page needs, and what listings need beside it.
  expect(sheets.length).toBe(2)
  const [, face = ''] = /<link rel="preload" href="([^"]+)"/.exec(html) ?? []
  expect(face).toMatch(/woff2$/)
  return [
    await read(face),
    page,
    ...linked,
    ...(await Promise.all([...new Set(imported)].map(read))),
  ]
}

/** @param read gives what the page links to */
export async function expectLight(page: Buffer, read: Read): Promise<void> {
  const files = await readPageFiles(page, read)
  expect(files.length).toBeLessThanOrEqual(MAX_REQUESTS)
  const [, ...texts] = files
  const bytes = texts.reduce((sum, { length }) => sum + length, 0)
  const compressed = files.reduce((sum, file) => sum + compressedLength(file), 0)
  expect(bytes).toBeLessThanOrEqual(MAX_BYTES)
  expect(compressed).toBeLessThanOrEqual(MAX_COMPRESSED_BYTES)
}

/** What pages share is compressed once. */
const lengths = new WeakMap<Buffer, number>()

function compressedLength(file: Buffer): number {
  const length = lengths.get(file) ?? brotliCompressSync(file).length
  lengths.set(file, length)
  return length
}
