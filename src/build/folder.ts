import { createHash, hash } from 'node:crypto'
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { Worker } from 'node:worker_threads'
import * as v from 'valibot'
import { recall } from '../content/recall.ts'
import { type ReleaseFile, ReleaseFileSchema } from '../domain/derived/tables.ts'
import { parseJson } from '../domain/wire/json.ts'
import { isHashed } from '../domain/wire/published-files.ts'
import type { FolderJob, FolderWork } from './folder-thread.ts'

/**
 * A release is one complete folder, `OUT_DIR/releases/<name>`, and `OUT_DIR/current` links to the
 * release that is served. A folder gets its name once all of it is written, and the link is
 * switched by one rename: a reader sees the old release or the new one, never a mixture. Callers
 * hold the lock on `OUT_DIR`.
 */

/** How many releases are kept: the current one, and earlier ones for rollbacks and for readers of their pages. */
const KEPT_RELEASES = 3

/** How much is sent to the thread at once, and how much may wait there (bytes). */
const BATCH_BYTES = 1 << 18
const MAX_WAITING_BYTES = 32 << 20
/** How many bytes are counted for a waiting file that the thread reads itself. */
const A_PAGE_BYTES = 16 << 10

/** What a build knows about the previous one, in addition to the files themselves. */
const MEMORY = 'data/pages.json'
const MemorySchema = v.strictObject({
  /** Digest of code and settings: keys are valid only while this digest is the same. */
  inputs: v.string(),
  /** What a file, or all files in a folder, were made from. */
  keys: v.record(v.string(), v.string()),
  /** Files named by a hash of their bytes that this release made, and that its pages need. */
  hashed: v.array(v.string()),
})
type Memory = v.InferOutput<typeof MemorySchema>

export type Folder = ReturnType<typeof openFolder>

export interface Written {
  bytes: number
  sha256: string
}

interface FolderOptions {
  outDir: string
  name: string
  /** Digest of code and settings. */
  inputs: string
  /** Whether files get compressed copies next to them. */
  hasCopies: boolean
}

/** Begins a release's folder. Removes what an earlier build left unfinished under the same name. */
export function openFolder({ outDir, name, inputs, hasCopies }: FolderOptions) {
  const root = join(outDir, 'releases', `.next-${name}`)
  rmSync(root, { recursive: true, force: true })
  mkdirSync(root, { recursive: true })
  const before = findBefore(outDir)
  const memory = before === null ? null : readMemory(before)
  const isSame = memory?.inputs === inputs
  const known = isSame ? memory.keys : {}
  const thread = startThread({ root, before, isSame, hasCopies })
  const names = new Set<string>()
  const keys: Record<string, string> = {}
  const parts = { count: 0, bytes: 0 }
  const digests: Record<string, string> = {}
  const send = (job: FolderJob, bytes: number) => {
    names.add(job.path)
    thread.send(job, bytes)
  }
  /** Adds a file by its path in the release, or links it if the previous release has the same bytes. */
  const write = (path: string, content: string | Uint8Array) =>
    send({ path, content }, content.length)
  const writeJson = (path: string, value: unknown) => write(path, `${JSON.stringify(value)}\n`)
  /** Links a file from the previous release. */
  const keep = (path: string) => send({ path, isKept: true }, 256)
  return {
    /** `root`: the folder until it gets its name; `names`: paths of every file so far. */
    ...{ name, root, names, write, writeJson, keep, room: thread.room },
    /** The previous release, if code and settings are the same; else null. */
    former: isSame ? before : null,
    /** Keys of the previous release's pages that may be linked, by file. */
    keptPages(): Record<string, string> {
      const pages = Object.entries(known).filter(([path]) => path.endsWith('.html'))
      return Object.fromEntries(pages.map(([path, key]) => [path.slice('public/'.length), key]))
    },
    /** Adds a file of this release under another name. */
    link(path: string, other: string): void {
      send({ path, from: join(root, other), isKept: true }, 256)
    },
    /** Moves a file here from elsewhere. */
    take: (path: string, from: string) => send({ path, from }, A_PAGE_BYTES),
    /** Remembers the key, and links the file or folder that the previous release made from the same key, if any. */
    reuse(path: string, key: string): boolean {
      keys[path] = key
      if (known[path] !== key || before === null) return false
      for (const file of listReusable(before, path, memory)) keep(file)
      return true
    },
    /** Adds a file that is too long for memory, in parts. */
    begin(path: string) {
      names.add(path)
      const { write, finish } = beginFile(join(root, path))
      return {
        write,
        finish(): Written {
          const written = finish()
          digests[path] = written.sha256
          parts.count += Number(path.startsWith('public/'))
          parts.bytes += path.startsWith('public/') ? written.bytes : 0
          return written
        },
      }
    },
    /** Ends the thread, whatever it was doing, and removes the folder if it has no name yet. */
    async end(): Promise<void> {
      await thread.end()
      rmSync(root, { recursive: true, force: true })
    },
    /** Waits until all files are written, and gives the folder its name. */
    async finish(release: Omit<ReleaseFile, 'checksums' | 'files'>): Promise<void> {
      const hashed = [...names].filter((path) => isHashed(path.slice('public/'.length)))
      writeJson(MEMORY, { inputs, keys, hashed })
      for (const { path, from } of listCarried(outDir, name, names))
        thread.send({ path, from, isKept: true }, 256)
      const files = await thread.finish()
      files.count += parts.count
      files.bytes += parts.bytes
      const checksums = readChecksums(root, names, digests)
      writeFileSync(join(root, 'release.json'), JSON.stringify({ ...release, files, checksums }))
      const place = join(outDir, 'releases', name)
      rmSync(place, { recursive: true, force: true })
      renameSync(root, place)
      recall(WHOLE, place, () => ({ isWhole: true }))
    },
  }
}

/**
 * Writes off the main thread, because compressing takes as long as making the files. There is only
 * one such thread: two that write to one disk wait for each other and take three times the CPU time.
 */
function startThread(workerData: FolderWork) {
  const worker = new Worker(new URL('./folder-thread.ts', import.meta.url), {
    workerData,
    resourceLimits: { maxYoungGenerationSizeMb: 16 },
  })
  const failed = new Promise<never>((_, reject) => worker.once('error', reject))
  failed.catch(() => undefined)
  let [batch, bytes, waiting]: [FolderJob[], number, number] = [[], 0, 0]
  let wake = () => {}
  const total = { count: 0, bytes: 0 }
  worker.on('message', ({ done, count, length }: FolderAnswer) => {
    waiting -= done
    total.count += count
    total.bytes += length
    wake()
  })
  const flush = () => {
    if (batch.length === 0) return
    worker.postMessage({ jobs: batch, bytes })
    waiting += bytes
    ;[batch, bytes] = [[], 0]
  }
  return {
    send(job: FolderJob, length: number) {
      batch.push(job)
      bytes += length
      if (bytes > BATCH_BYTES) flush()
    },
    /** Waits while the thread is behind. */
    async room() {
      while (waiting > MAX_WAITING_BYTES)
        await Promise.race([failed, new Promise<void>((resolve) => (wake = resolve))])
    },
    end: () => worker.terminate(),
    async finish() {
      flush()
      worker.postMessage(null)
      await Promise.race([failed, new Promise((resolve) => worker.once('exit', resolve))])
      return total
    },
  }
}

function beginFile(path: string) {
  mkdirSync(dirname(path), { recursive: true })
  const file = openSync(path, 'w')
  const digest = createHash('sha256')
  let bytes = 0
  return {
    write(part: Uint8Array): void {
      writeFileSync(file, part)
      digest.update(part)
      bytes += part.length
    },
    finish(): Written {
      closeSync(file)
      return { bytes, sha256: digest.digest('hex') }
    },
  }
}

/**
 * Digests of the files that a server or the next build loads; both refuse a release if any of them
 * changed.
 */
function readChecksums(
  root: string,
  names: ReadonlySet<string>,
  known: Readonly<Record<string, string>>,
): Record<string, string> {
  const loaded = [...names].filter((path) => LOADED.test(path)).sort()
  return Object.fromEntries(
    loaded.map((path) => [path, known[path] ?? hash('sha256', readFileSync(join(root, path)))]),
  )
}
const LOADED = /^server\/|^data\/(?:.*\.ndjson|rows\.json)$/

/** The path itself if it is a file; for a folder, the files in it that the previous release itself made. */
function listReusable(before: string, path: string, memory: Memory | null): string[] {
  const place = join(before, path)
  if (statSync(place, { throwIfNoEntry: false })?.isDirectory() !== true) return [path]
  const own = new Set(memory?.hashed)
  return listFiles(place)
    .map((file) => `${path}/${file}`)
    .filter(
      (file) => !COPY.test(file) && (own.has(file) || !isHashed(file.slice('public/'.length))),
    )
}

const COPY = /(?<!\.ndjson)\.(?:br|gz)$/

/** Hashed files in the other kept releases: for a day, caches may still serve pages that need these files. */
function listCarried(outDir: string, name: string, names: ReadonlySet<string>) {
  const carried = new Map<string, string>()
  for (const release of listReleases(outDir)
    .filter((each) => each !== name)
    .slice(0, KEPT_RELEASES - 1))
    for (const path of readMemory(join(outDir, 'releases', release))?.hashed ?? [])
      if (!names.has(path)) carried.set(path, join(outDir, 'releases', release, path))
  return [...carried].map(([path, from]) => ({ path, from }))
}

function readMemory(folder: string): Memory | null {
  const parsed = v.safeParse(MemorySchema, readJson(join(folder, MEMORY)))
  return parsed.success ? parsed.output : null
}

/** The current release's name; null if the link is missing or leads nowhere. */
export function readCurrent(outDir: string): string | null {
  try {
    const name = basename(readlinkSync(join(outDir, 'current')))
    return existsSync(join(outDir, 'releases', name, 'release.json')) ? name : null
  } catch {
    return null
  }
}

/** The current release's folder if it is whole; nothing is linked from a damaged one. */
function findBefore(outDir: string): string | null {
  const current = readCurrent(outDir)
  const folder = join(outDir, 'releases', current ?? '')
  if (current === null) return null
  const known = recall(WHOLE, folder, () => {
    const release = readRelease(folder)
    return { isWhole: release !== null && isWhole(folder, release) }
  })
  return known.isWhole ? folder : null
}
/** Key under which a process remembers its last checked release, so that its next build need not check it again. */
const WHOLE = 'whole release'

/** The whole release that was made from these inputs, or null. */
export function findRelease(outDir: string, digest: string): string | null {
  return (
    listReleases(outDir).find((name) => {
      const folder = join(outDir, 'releases', name)
      const release = readRelease(folder)
      return release?.digest === digest && isWhole(folder, release)
    }) ?? null
  )
}

function readRelease(folder: string): ReleaseFile | null {
  const parsed = v.safeParse(ReleaseFileSchema, readJson(join(folder, 'release.json')))
  return parsed.success ? parsed.output : null
}

/** Whether all that a server loads is unchanged, and no file in `public` is missing or cut short. */
function isWhole(folder: string, { checksums, files }: ReleaseFile): boolean {
  try {
    const found = countFiles(join(folder, 'public'))
    if (found.count !== files.count || found.bytes !== files.bytes) return false
    return Object.entries(checksums).every(
      ([path, sha256]) => hash('sha256', readFileSync(join(folder, path))) === sha256,
    )
  } catch {
    return false
  }
}

/** How many files are in a folder and its subfolders, and their total length. */
function countFiles(folder: string): ReleaseFile['files'] {
  let [count, bytes] = [0, 0]
  for (const file of walk(folder)) {
    count += 1
    bytes += statSync(file).size
  }
  return { count, bytes }
}

/**
 * Every file in a folder and its subfolders. Node's own recursive walk would query the disk again
 * for each file's type.
 */
function* walk(folder: string): Generator<string> {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = `${folder}/${entry.name}`
    if (entry.isDirectory()) yield* walk(path)
    else if (entry.isFile()) yield path
  }
}

/** Switches to a release by one rename, then removes releases that are no longer kept. */
export function switchTo(outDir: string, name: string): void {
  const link = join(outDir, '.current')
  rmSync(link, { force: true })
  symlinkSync(join('releases', name), link)
  renameSync(link, join(outDir, 'current'))
  const others = listReleases(outDir).filter((other) => other !== name)
  for (const old of others.slice(KEPT_RELEASES - 1)) {
    // A partly removed release has no name, so the next build removes the rest.
    const away = join(outDir, 'releases', `.next-${old}`)
    renameSync(join(outDir, 'releases', old), away)
    rmSync(away, { recursive: true, force: true })
  }
}

/** Names of complete releases, newest first. */
function listReleases(outDir: string): string[] {
  const releases = join(outDir, 'releases')
  return readNames(releases)
    .filter((name) => !name.startsWith('.') && existsSync(join(releases, name, 'release.json')))
    .map((name) => ({ name, at: statSync(join(releases, name, 'release.json')).mtimeMs }))
    .sort((a, b) => b.at - a.at)
    .map(({ name }) => name)
}

/** Where a build puts files that only it needs. */
export const WORK = '.building'

/**
 * Removes what killed builds left, and nothing else: `OUT_DIR` may be anybody's folder. Retries,
 * because a process of a killed build may still be ending.
 */
export function removeLeftovers(outDir: string): void {
  for (const name of ['.current', WORK])
    rmSync(join(outDir, name), { recursive: true, force: true, maxRetries: 5 })
  for (const name of readNames(join(outDir, 'releases')))
    if (name.startsWith('.next-'))
      rmSync(join(outDir, 'releases', name), { recursive: true, force: true })
}

/** The paths of every file in a folder and its subfolders, relative to the folder, sorted. */
export function listFiles(folder: string): string[] {
  return [...walk(folder)].map((path) => path.slice(folder.length + 1)).sort()
}

function readNames(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder) : []
}

function readJson(path: string): unknown {
  try {
    return parseJson(readFileSync(path, 'utf8'))
  } catch {
    return null
  }
}

/**
 * What the thread reports: how many of the bytes sent are done, and the number and length of new
 * files in `public`.
 */
interface FolderAnswer {
  done: number
  count: number
  length: number
}
