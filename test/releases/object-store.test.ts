import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  fetchList,
  keyOf,
  parseForeignList,
  parsePointer,
} from '../../functions/releases/pointer.ts'
import { pullRelease } from '../../functions/releases/pull-release.ts'
import { pushRelease } from '../../functions/releases/push-release.ts'
import { nameBytes, readObjectSync } from '../../src/store/objects.ts'
import { readReleaseList } from '../../src/store/release-list.ts'
import { readCurrent } from '../../src/store/releases.ts'
import { releasedPath } from '../support/fixture-release.ts'
import { publishSmallRelease } from '../support/small-release.ts'
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

/** A folder of releases whose current one has this name. */
function build(
  name: string,
  folder = 'built',
  edited: Readonly<Record<string, string | Uint8Array>> = {},
): string {
  const outDir = join(root, folder)
  publishSmallRelease(outDir, name, edited)
  mkdirSync(join(outDir, 'changes'), { recursive: true })
  writeFileSync(join(outDir, 'changes/head.json'), JSON.stringify({ release: name }))
  return outDir
}

/** Every file of the current release, whole. */
function filesOf(outDir: string): Record<string, string> {
  const name = readCurrent(outDir) ?? ''
  const files = readReleaseList(outDir, name)
  const code = files.filter(({ path }) => path.startsWith('server/'))
  for (const { path, digest } of code)
    expect(nameBytes(readFileSync(join(outDir, path)))).toBe(digest)
  return Object.fromEntries(
    files.map((file) => [file.path, readObjectSync(outDir, file).toString('latin1')]),
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

/** The key of a file of the release that the bucket names. */
async function findKey(path: string): Promise<string> {
  const found = await store.bucket.get('current.json')
  const pointer = found === null || found === 'same' ? null : parsePointer(found.bytes)
  const files = await fetchList(store.bucket, pointer?.release.list ?? null)
  const file = files.find((each) => each.path === path)
  return file === undefined ? '' : keyOf(file)
}

describe('a release in a store', () => {
  test('is the same files on the other side, with the headers our server sends', async () => {
    const built = build(FIRST, 'built', { 'data/search.index': createIndex() })
    await pushRelease(store.bucket, built, NOW)
    const taken = join(root, 'taken')
    await pullRelease(store.bucket, taken)
    expect(readCurrent(taken)).toBe(FIRST)
    expect(filesOf(taken)).toEqual(filesOf(built))
    expect(readFileSync(join(taken, 'changes/head.json'), 'utf8')).toContain(FIRST)
    const headers = await store.headers(await findKey('public/page-7/index.html'))
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
    expect(store.asked).toHaveLength(1)
  })

  test('moves what changed alone, in both directions, and names the addresses', async () => {
    const built = build(FIRST, 'built', { 'data/search.index': createIndex() })
    await pushRelease(store.bucket, built, NOW)
    const taken = join(root, 'taken')
    await pullRelease(store.bucket, taken)
    // Pages name their release: all but one are as they were.
    const pages = Array.from({ length: 39 }, (_, n) => `public/page-${n + 1}/index.html`)
    build(SECOND, 'built', {
      'data/search.index': createIndex(),
      ...Object.fromEntries(pages.map((path) => [path, `${FIRST} ${path}`])),
    })
    const pushed = await pushRelease(store.bucket, built, NOW)
    expect(pushed.changed).toEqual(['/page-0'])
    // The page, the list, the log's head and its list.
    expect(pushed.objects).toBe(4)
    expect(pushed.bytes).toBeLessThan(20_000)
    store.asked = []
    await pullRelease(store.bucket, taken)
    expect(filesOf(taken)).toEqual(filesOf(built))
    expect(store.asked.length).toBeLessThan(7)
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
    const lost = await findKey('public/page-3/index.html')
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

  test('is mended where the disk damaged what is there', async () => {
    const built = build(FIRST)
    await pushRelease(store.bucket, built, NOW)
    const taken = join(root, 'taken')
    await pullRelease(store.bucket, taken)
    writeFileSync(releasedPath(taken, FIRST, 'data/search.index'), 'INDEX')
    writeFileSync(releasedPath(taken, FIRST, 'public/page-1/index.html'), '')
    build(SECOND)
    await pushRelease(store.bucket, built, NOW)
    await pullRelease(store.bucket, taken)
    expect(filesOf(taken)).toEqual(filesOf(built))
  })

  test('is put into the plain folders too where there are some', async () => {
    await pushRelease(store.bucket, build(FIRST), NOW)
    const taken = join(root, 'taken')
    mkdirSync(join(taken, 'public'), { recursive: true })
    await pullRelease(store.bucket, taken)
    expect(readFileSync(join(taken, 'public/page-1/index.html'), 'utf8')).toContain(FIRST)
  })

  test('that is of other bytes in the bucket than its name says is refused', async () => {
    const built = build(FIRST)
    await pushRelease(store.bucket, built, NOW)
    await store.bucket.put(await findKey('public/page-2/index.html'), Buffer.from('<b>'), {})
    const taken = join(root, 'taken')
    await expect(pullRelease(store.bucket, taken)).rejects.toThrow('differs from what was')
    expect(readCurrent(taken)).toBeNull()
  })

  test.each(['public/../../x', '/etc/x', 'public/./x', 'elsewhere/x', 'public//x'])(
    'never writes to %s',
    (path) => {
      const row = { path, digest: 'a'.repeat(64), size: 1 }
      expect(() => parseForeignList(Buffer.from(JSON.stringify(row)))).toThrow()
    },
  )

  test('says what is missing: a release, keys, a store that answers', async () => {
    await expect(pushRelease(store.bucket, join(root, 'none'), NOW)).rejects.toThrow(
      'npm run build',
    )
    await expect(pullRelease(store.bucket, join(root, 'none'))).rejects.toThrow('npm run publish')
  })
})
