import { linkSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parentPort, workerData } from 'node:worker_threads'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { findContentType, isCompressible } from '../domain/wire/static-file.ts'

/** A file of a release: its bytes, where they lie, or that the release before has it. */
export interface FolderJob {
  /** From the folder of the release. */
  path: string
  content?: string | Uint8Array
  from?: string
  /** Linked as it is, with its compressed copies; from the release before where it says no other. */
  isKept?: boolean
}

/** What was done of a batch: how much of what was sent, and the files of `public` and their length. */
export interface FolderAnswer {
  done: number
  count: number
  length: number
}

// A thread's data is typed `any`; `startThread` passes this.
const { root, before, hasCopies }: { root: string; before: string | null; hasCopies: boolean } =
  workerData
const made = new Set<string>()
let shown = { count: 0, length: 0 }

parentPort?.on('message', (message: { jobs: FolderJob[]; bytes: number } | null) => {
  if (message === null) return parentPort?.close()
  for (const job of message.jobs) {
    const to = makeRoom(job.path)
    const { content, from } = job
    if (job.isKept === true) linkWithCopies(from ?? join(before ?? '', job.path), to)
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

/** @param from where the file lies already, on the same disk */
function write(path: string, bytes: Uint8Array, to: string, from?: string): void {
  if (before !== null && isSame(join(before, path), bytes)) {
    linkWithCopies(join(before, path), to)
    return
  }
  if (from === undefined) put(to, bytes)
  else {
    renameSync(from, to)
    count(to, bytes.length)
  }
  if (!hasCopies || !isCopied(path, bytes.length)) return
  put(`${to}.br`, compress(bytes, 'br'))
  put(`${to}.gz`, compress(bytes, 'gz'))
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

function linkWithCopies(from: string, to: string): void {
  link(from, to)
  if (!hasCopies) return
  for (const ending of ['.br', '.gz'])
    if (statSync(`${from}${ending}`, { throwIfNoEntry: false }) !== undefined)
      link(`${from}${ending}`, `${to}${ending}`)
}

/** Copies it where the disk knows no links. */
function link(from: string, to: string): void {
  try {
    linkSync(from, to)
    count(to, statSync(to).size)
  } catch (error) {
    if (error instanceof Error && /ENOENT|EEXIST|ENOSPC|EDQUOT/.test(error.message)) throw error
    put(to, readFileSync(from))
  }
}

/** Smaller files travel as they are. */
const MIN_COMPRESSED_BYTES = 1024

function isCopied(path: string, size: number): boolean {
  return (
    path.startsWith('public/') &&
    size >= MIN_COMPRESSED_BYTES &&
    isCompressible(findContentType(path.slice('public/'.length)))
  )
}

/** Fast enough for 50,000 files on two cores; the last percent of size would cost minutes. */
const [BROTLI_QUALITY, GZIP_LEVEL] = [5, 6]

/** The few files this long are read whole by programs: they get the best compression. */
const LONG_FILE_BYTES = 64 * 1024
const LONG_FILE_LEVEL = 9

/**
 * A window that just holds the whole file: up to 2^16 bytes brotli searches in another way, which
 * is faster for small files and finds as much. Few files are larger than 2^18.
 */
const [WINDOW_BITS, LONG_WINDOW_BITS] = [16, 18]

function compress(bytes: Uint8Array, coding: 'br' | 'gz'): Buffer {
  const isLong = bytes.length >= LONG_FILE_BYTES
  // zlib's default buffers are many times most copies: they would trigger the collector.
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
