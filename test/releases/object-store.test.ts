import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync } from 'node:zlib'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { cutPieces, LARGEST } from '../../functions/releases/cut-pieces.ts'
import { parseManifest, parsePointer } from '../../functions/releases/manifest.ts'
import { pullRelease } from '../../functions/releases/pull-release.ts'
import { pushRelease } from '../../functions/releases/push-release.ts'
import { readCurrent, switchTo } from '../../src/compile/release/publish-release.ts'
import { writeSmallRelease } from '../support/small-release.ts'
import { type ObjectStore, startObjectStore } from './object-store.ts'

const [FIRST, SECOND] = ['a'.repeat(20), 'b'.repeat(20)] as const
const NOW = new Date('2026-11-20T00:00:00Z')

let store: ObjectStore
let root: string
beforeEach(async () => {
  store = await startObjectStore()
  root = mkdtempSync(join(tmpdir(), 'waypost-releases-'))
})
afterEach(async () => {
  await store.close()
  rmSync(root, { recursive: true, force: true })
})

/** A folder of releases whose current one has this name, and an index of 2 MB. */
function build(name: string, folder = 'built', index = ''): string {
  const outDir = join(root, folder)
  const dir = join(outDir, 'releases', name)
  writeSmallRelease(dir, name)
  writeFileSync(join(dir, 'data/large.index'), index)
  const packed = brotliCompressSync(readFileSync(join(dir, 'public/page-0/index.html')))
  writeFileSync(join(dir, 'public/page-0/index.html.br'), packed)
  const rows = readFileSync(join(dir, 'data/files.ndjson'), 'utf8')
  writeFileSync(join(dir, 'data/files.ndjson'), rows.replace('"br":0', `"br":${packed.length}`))
  mkdirSync(join(outDir, 'changes'), { recursive: true })
  writeFileSync(join(outDir, 'changes/head.json'), JSON.stringify({ release: name }))
  switchTo(outDir, name)
  return outDir
}

function filesOf(outDir: string): Record<string, string> {
  const dir = join(outDir, 'releases', readCurrent(outDir) ?? '')
  const names = readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== 'manifest.ndjson')
    .map((entry) => join(entry.parentPath, entry.name))
  return Object.fromEntries(
    names.map((file) => [file.slice(dir.length), readFileSync(file, 'latin1')]),
  )
}

function createIndex(): Buffer {
  let state = 1
  return Buffer.from(
    Uint8Array.from({ length: 2_000_000 }, () => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
      return state >>> 24
    }),
  )
}

const readManifest = async () => {
  const found = await store.bucket.get('current.json')
  const pointer = found === null || found === 'same' ? null : parsePointer(found.bytes)
  const parts = await Promise.all((pointer?.pieces ?? []).map(({ key }) => store.bucket.get(key)))
  const bytes = parts.map((part) =>
    part === null || part === 'same' ? Buffer.alloc(0) : part.bytes,
  )
  return parseManifest(Buffer.concat(bytes))
}

describe('a release in a store', () => {
  test('is the same files on the other side, with the headers our server sends', async () => {
    const built = build(FIRST, 'built', createIndex().toString('latin1'))
    await pushRelease(store.bucket, built, NOW)
    const taken = join(root, 'taken')
    await pullRelease(store.bucket, taken)
    expect(readCurrent(taken)).toBe(FIRST)
    expect(filesOf(taken)).toEqual(filesOf(built))
    expect(readFileSync(join(taken, 'changes/head.json'), 'utf8')).toContain(FIRST)
    const page = (await readManifest()).find(({ path }) => path === 'public/page-7/index.html')
    const headers = await store.headers(page?.pieces[0]?.key ?? '')
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(headers.get('cache-control')).toContain('s-maxage=3600')
    expect(headers.get('x-amz-meta-content-security-policy')).toContain("default-src 'none'")
  })

  test('that did not change moves nothing', async () => {
    const built = build(FIRST)
    await pushRelease(store.bucket, built, NOW)
    expect(await pushRelease(store.bucket, built, NOW)).toMatchObject({ objects: 0, changed: [] })
    const taken = join(root, 'taken')
    await pullRelease(store.bucket, taken)
    const { etag } = Object(await store.bucket.get('current.json'))
    expect(await store.bucket.get('current.json', etag)).toBe('same')
    store.asked = []
    await pullRelease(store.bucket, taken)
    expect(store.asked).toHaveLength(2)
  })

  test('moves what changed alone, in both directions, and names the addresses', async () => {
    const index = createIndex()
    const built = build(FIRST, 'built', index.toString('latin1'))
    await pushRelease(store.bucket, built, NOW)
    const taken = join(root, 'taken')
    await pullRelease(store.bucket, taken)
    const longer = Buffer.concat([
      index.subarray(0, 900_000),
      Buffer.from('new'),
      index.subarray(900_000),
    ])
    const next = join(built, 'releases', SECOND)
    build(SECOND, 'built', longer.toString('latin1'))
    // Pages name their release: all but one are put back.
    for (let n = 1; n < 40; n += 1)
      writeFileSync(join(next, `public/page-${n}/index.html`), `${FIRST} page-${n}/index.html`)
    const pushed = await pushRelease(store.bucket, built, NOW)
    expect(pushed.changed).toEqual(['/page-0'])
    expect(pushed.objects).toBeLessThan(12)
    expect(pushed.bytes).toBeLessThan(1_000_000)
    store.asked = []
    await pullRelease(store.bucket, taken)
    expect(filesOf(taken)).toEqual(filesOf(built))
    expect(store.asked.length).toBeLessThan(15)
  })

  test('killed at any write leaves the one before, and the next run goes on', async () => {
    const built = build(FIRST)
    await pushRelease(store.bucket, built, NOW)
    const taken = join(root, 'taken')
    await pullRelease(store.bucket, taken)
    build(SECOND)
    for (let writes = 0, isDone = false; !isDone; writes += 15) {
      let left = writes
      store.onPut = () => left-- > 0
      isDone = await pushRelease(store.bucket, built, NOW).then(
        () => true,
        () => false,
      )
      const fresh = join(root, `fresh-${writes}`)
      await pullRelease(store.bucket, fresh)
      expect(readCurrent(fresh)).toBe(isDone ? SECOND : FIRST)
    }
    await pullRelease(store.bucket, taken)
    expect(filesOf(taken)).toEqual(filesOf(built))
  })

  test('with a lost object is refused whole, and publishing again mends it', async () => {
    const built = build(FIRST)
    await pushRelease(store.bucket, built, NOW)
    const taken = join(root, 'taken')
    await pullRelease(store.bucket, taken)
    build(SECOND)
    await pushRelease(store.bucket, built, NOW)
    const page = (await readManifest()).find(({ path }) => path === 'public/page-3/index.html')
    const lost = page?.pieces[0]?.key ?? ''
    store.remove(lost)
    await expect(pullRelease(store.bucket, taken)).rejects.toThrow(`${lost} is missing`)
    expect(readCurrent(taken)).toBe(FIRST)
    await pushRelease(store.bucket, built, NOW)
    await pullRelease(store.bucket, taken)
    expect(readCurrent(taken)).toBe(SECOND)
  })

  test('names the objects that nobody needs any more', async () => {
    const built = build(FIRST)
    expect((await pushRelease(store.bucket, built, NOW)).idle).toEqual([])
    build(SECOND)
    expect((await pushRelease(store.bucket, built, NOW)).idle).toEqual([])
    build('c'.repeat(20))
    const { idle } = await pushRelease(store.bucket, built, NOW)
    expect(idle.length).toBeGreaterThan(40)
    for (const key of idle) await store.bucket.remove(key)
    await pullRelease(store.bucket, join(root, 'taken'))
    expect(filesOf(join(root, 'taken'))).toEqual(filesOf(built))
  })

  test('that another publisher replaced meanwhile is not written over', async () => {
    const [mine, theirs] = [build(FIRST, 'mine'), build(SECOND, 'theirs')]
    const { replace } = store.bucket
    const slow = {
      ...store.bucket,
      async replace(...given: Parameters<typeof replace>) {
        await pushRelease(store.bucket, theirs, NOW)
        return replace(...given)
      },
    }
    await expect(pushRelease(slow, mine, NOW)).rejects.toThrow('Another publisher')
    await pullRelease(store.bucket, join(root, 'taken'))
    expect(readCurrent(join(root, 'taken'))).toBe(SECOND)
  })

  test('is mended where the disk damaged what would be linked, whole or in part', async () => {
    const index = createIndex()
    const built = build(FIRST, 'built', index.toString('latin1'))
    await pushRelease(store.bucket, built, NOW)
    const taken = join(root, 'taken')
    await pullRelease(store.bucket, taken)
    writeFileSync(
      join(taken, 'releases', FIRST, 'data/large.index'),
      Buffer.alloc(index.toString('latin1').length),
    )
    const linked = 'server/00000000000000000000000000000000/entry.mjs'
    writeFileSync(join(taken, 'releases', FIRST, linked), 'export const handler = () => {1')
    build(SECOND, 'built', `${index.toString('latin1')}more`)
    await pushRelease(store.bucket, built, NOW)
    await pullRelease(store.bucket, taken)
    expect(filesOf(taken)).toEqual(filesOf(built))
  })

  test.each(['public/../../x', '/etc/x', 'public/./x', 'elsewhere/x', 'public//x'])(
    'never writes to %s',
    (path) => {
      const row = { path, digest: 'a'.repeat(64), pieces: [] }
      expect(() => parseManifest(Buffer.from(JSON.stringify(row)))).toThrow()
    },
  )

  test('says what is missing: a release, keys, a store that answers', async () => {
    await expect(pushRelease(store.bucket, join(root, 'none'), NOW)).rejects.toThrow(
      'npm run build',
    )
    await expect(pullRelease(store.bucket, join(root, 'none'))).rejects.toThrow('npm run publish')
  })
})

test('pieces are the bytes again, and an insertion changes few of them', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 400_000, minLength: 0 }), (bytes) => {
      const pieces = cutPieces(bytes)
      expect(Buffer.concat(pieces)).toEqual(Buffer.from(bytes))
      expect(pieces.every(({ length }) => length > 0 && length <= LARGEST)).toBe(true)
    }),
    { numRuns: 20 },
  )
  const index = createIndex()
  const before = new Set(cutPieces(index).map((piece) => piece.join()))
  const after = cutPieces(Buffer.concat([Buffer.from('new'), index]))
  expect(after.length).toBeGreaterThan(15)
  expect(after.filter((piece) => !before.has(piece.join())).length).toBeLessThanOrEqual(2)
})
