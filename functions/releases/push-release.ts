import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { OperatorError } from '../../src/domain/wire/operator-error.ts'
import { toUrlPath } from '../../src/domain/wire/static-file.ts'
import { nameBytes, readObject } from '../../src/store/objects.ts'
import {
  type ListedFile,
  readReleaseFile,
  readReleaseList,
  renderList,
} from '../../src/store/release-list.ts'
import { readCurrent } from '../../src/store/releases.ts'
import type { Bucket } from './bucket.ts'
import { inParallel } from './in-parallel.ts'
import { fetchList, keyOf, objectHeaders, POINTER, type Pointer, parsePointer } from './pointer.ts'

/** The outcome of a publication. */
export interface Pushed {
  release: string
  /** Objects that the bucket lacked. */
  objects: number
  bytes: number
  /** Paths whose bytes changed, so that a CDN can forget them. */
  changed: string[]
  /** Objects that neither this release nor the previous one needs. */
  idle: string[]
}

/**
 * Puts the current release of `outDir` into the bucket: first the objects it lacks, then, in one
 * conditional write, the pointer. A run that ends early leaves objects that the next one uses.
 *
 * @param now written into the pointer
 * @throws OperatorError without a release, when the bucket refuses or another publisher is first
 */
export async function pushRelease(bucket: Bucket, outDir: string, now: Date): Promise<Pushed> {
  const name = readCurrent(outDir)
  if (name === null)
    throw new OperatorError(`OUT_DIR ${outDir} holds no release: build one with "npm run build".`)
  const found = await bucket.get(POINTER)
  const there = found === 'same' ? null : found
  const earlier = there === null ? null : parsePointer(there.bytes)
  const known = await readKeys(bucket)
  const sender = createSender(bucket, known)
  const release = readReleaseFile(outDir, name)
  const files = readReleaseList(outDir, name)
  const list = { path: 'list', ...release.list }
  await inParallel([...files, list], (file) => sender.send(file, () => readObject(outDir, file)))
  const log = await sendLog(sender, outDir)
  const before = await readEarlier(bucket, earlier)
  const pointer: Pointer = { version: 2, at: now.toISOString(), release, log: log.list }
  if (!isSame(earlier, pointer)) {
    const bytes = Buffer.from(JSON.stringify(pointer))
    if (!(await bucket.replace(POINTER, bytes, there?.etag ?? null)))
      throw new OperatorError(
        'Another publisher was faster. Check which release is right, and run the command again.',
      )
  }
  const needed = new Set([...files, list, ...log.files, ...before.all].map(keyOf))
  const idle = [...known].filter((key) => !needed.has(key))
  return { release: name, ...sender.sent, changed: findChanged(before.files, files), idle }
}

/** In parallel by the first character of their names: a bucket lists a thousand at a time. */
async function readKeys(bucket: Bucket): Promise<Set<string>> {
  const known = new Set<string>()
  const shares = Array.from({ length: 16 }, (_, n) => n.toString(16))
  await inParallel(shares, async (share) => {
    for (const key of await bucket.keys(`objects/${share}`)) known.add(key)
  })
  return known
}

/** Sends objects the bucket lacks. */
function createSender(bucket: Bucket, known: Set<string>) {
  const sent = { objects: 0, bytes: 0 }
  return {
    sent,
    async send(file: ListedFile, read: () => Buffer | Promise<Buffer>): Promise<void> {
      const key = keyOf(file)
      if (known.has(key)) return
      known.add(key)
      const bytes = await read()
      await bucket.put(key, bytes, objectHeaders(file.path))
      sent.objects += 1
      sent.bytes += bytes.length
    },
  }
}

/** The log of changes is next to the releases; its cursors work on every server that has it. */
async function sendLog({ send }: ReturnType<typeof createSender>, outDir: string) {
  const files = readLog(outDir).map((name) => {
    const bytes = readFileSync(join(outDir, 'changes', name))
    const file = { path: `changes/${name}`, size: bytes.length, digest: nameBytes(bytes) }
    return { file, bytes }
  })
  const rows = renderList(files.map(({ file }) => file))
  const list = { path: 'list', size: rows.length, digest: nameBytes(rows) }
  await inParallel([...files, { file: list, bytes: rows }], ({ file, bytes }) =>
    send(file, () => bytes),
  )
  const { size, digest } = list
  return { list: { size, digest }, files: [...files.map(({ file }) => file), list] }
}

function readLog(outDir: string): string[] {
  try {
    return readdirSync(join(outDir, 'changes')).sort()
  } catch {
    return []
  }
}

function isSame(earlier: Pointer | null, { release, log }: Pointer): boolean {
  return JSON.stringify([earlier?.release, earlier?.log]) === JSON.stringify([release, log])
}

/** Empty where there was none, or where it can no longer be read. */
async function readEarlier(bucket: Bucket, pointer: Pointer | null) {
  if (pointer === null) return { files: [], all: [] }
  const { release, log } = pointer
  const lists = [release.list, ...(log === null ? [] : [log])].map((list) => ({
    path: 'list',
    ...list,
  }))
  const none = () => []
  const files = await fetchList(bucket, release.list).catch(none)
  return { files, all: [...lists, ...files, ...(await fetchList(bucket, log).catch(none))] }
}

function findChanged(before: readonly ListedFile[], after: readonly ListedFile[]): string[] {
  const digests = new Map(before.map(({ path, digest }) => [path, digest]))
  const changed = after.filter(({ path, digest }) => digests.get(path) !== digest)
  const now = new Set(after.map(({ path }) => path))
  const gone = before.filter(({ path }) => !now.has(path))
  const addresses = [...changed, ...gone]
    .filter(({ path }) => path.startsWith('public/') && !path.endsWith('.gz'))
    .map(({ path }) => toUrlPath(path.slice('public/'.length)))
  return before.length === 0 ? [] : [...new Set(addresses)].sort()
}
