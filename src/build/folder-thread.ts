import { linkSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parentPort, workerData } from 'node:worker_threads'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { findContentType, isCopied } from '../domain/wire/published-files.ts'

/** A file in a release: its bytes, the path where they are, or a file to link. */
export interface FolderJob {
  /** The path within the release's folder. */
  path: string
  content?: string | Uint8Array
  from?: string
  /** Links the file and its compressed copies unchanged; without `from`, those of the previous release. */
  isKept?: boolean
}

export interface FolderWork {
  root: string
  before: string | null
  /** Whether the same code made the previous release, so that its compressed copies can be used. */
  isSame: boolean
  hasCopies: boolean
}

// A thread's data has type `any`; `startThread` passes this type.
const { root, before, isSame: isSameCode, hasCopies }: FolderWork = workerData
const made = new Set<string>()
let shown = { count: 0, length: 0 }

parentPort?.on('message', (message: { jobs: FolderJob[]; bytes: number } | null) => {
  if (message === null) return parentPort?.close()
  for (const job of message.jobs) {
    const to = makeRoom(job.path)
    const { content, from } = job
    if (job.isKept === true) keep(job.path, from ?? join(before ?? '', job.path), to)
    else if (from === undefined) write(job.path, toBytes(content ?? ''), to)
    else write(job.path, readFileSync(from), to, from)
  }
  parentPort?.postMessage({ done: message.bytes, ...shown })
  shown = { count: 0, length: 0 }
})

function toBytes(content: string | Uint8Array): Uint8Array {
  return typeof content === 'string' ? Buffer.from(content) : content
}

function makeRoom(path: string): string {
  const to = join(root, path)
  const folder = dirname(to)
  if (!made.has(folder)) mkdirSync(folder, { recursive: true })
  made.add(folder)
  return to
}

function keep(path: string, known: string, to: string): void {
  const size = link(known, to)
  if (size === null) throw new Error(`${known} is missing`)
  addCopies(path, { to, known, size, read: () => readFileSync(known) })
}

/** @param from where the file already is, on the same disk */
function write(path: string, bytes: Uint8Array, to: string, from?: string): void {
  const known = before !== null && isSame(join(before, path), bytes) ? join(before, path) : null
  if (known !== null) link(known, to)
  else if (from === undefined) put(to, bytes)
  else {
    renameSync(from, to)
    count(to, bytes.length)
  }
  addCopies(path, { to, known, size: bytes.length, read: () => bytes })
}

interface Copied {
  to: string
  /** Path to an equal file in the previous release, with its compressed copies next to it; null if there is none. */
  known: string | null
  size: number
  read(): Uint8Array
}

function addCopies(path: string, { to, known, size, read }: Copied): void {
  const type = findContentType(path.slice('public/'.length))
  if (!hasCopies || !path.startsWith('public/') || !isCopied(type, size)) return
  for (const coding of ['br', 'gz'] as const) {
    const from = isSameCode && known !== null ? `${known}.${coding}` : null
    if (from === null || link(from, `${to}.${coding}`) === null)
      put(`${to}.${coding}`, compress(read(), coding))
  }
}

function isSame(path: string, bytes: Uint8Array): boolean {
  const known = statSync(path, { throwIfNoEntry: false })
  return known?.size === bytes.length && readFileSync(path).equals(bytes)
}

function put(to: string, bytes: Uint8Array): void {
  writeFileSync(to, bytes)
  count(to, bytes.length)
}

function count(to: string, length: number): void {
  if (!to.startsWith(`${root}/public/`)) return
  shown.count += 1
  shown.length += length
}

/** Links a file, or copies it if the disk has no links. @returns its length; null if the file is missing */
function link(from: string, to: string): number | null {
  try {
    linkSync(from, to)
  } catch (error) {
    if (error instanceof Error && error.message.startsWith('ENOENT')) return null
    if (error instanceof Error && /EEXIST|ENOSPC|EDQUOT/.test(error.message)) throw error
    writeFileSync(to, readFileSync(from))
  }
  const { size } = statSync(to)
  count(to, size)
  return size
}

/** Brotli 5 would take twice as long as 4 to make a page 7 % smaller; pages have a gzip copy too. */
const [BROTLI_QUALITY, GZIP_LEVEL] = [4, 5]

/** Files longer than this are few, and programs read them whole, so they get the best compression. */
const LONG_FILE_BYTES = 64 * 1024
const LONG_FILE_LEVEL = 9

/**
 * A window that just fits the whole file: with windows up to 2^16 bytes brotli uses another search,
 * which is faster for small files and compresses as well. Few files are larger than 2^18.
 */
const [WINDOW_BITS, LONG_WINDOW_BITS] = [16, 18]

function compress(bytes: Uint8Array, coding: 'br' | 'gz'): Buffer {
  const isLong = bytes.length >= LONG_FILE_BYTES
  // zlib's default buffers are much larger than most copies, and would trigger the garbage collector.
  const chunkSize = Math.max(64, Math.ceil(bytes.length / 2))
  if (coding === 'gz')
    return gzipSync(bytes, { chunkSize, level: isLong ? LONG_FILE_LEVEL : GZIP_LEVEL })
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY,
    [constants.BROTLI_PARAM_LGWIN]: isLong ? LONG_WINDOW_BITS : WINDOW_BITS,
    [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
  }
  return brotliCompressSync(bytes, { chunkSize, params })
}
