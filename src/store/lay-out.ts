import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { availableParallelism } from 'node:os'
import { dirname, join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { COPY_ENDINGS, compressSync, hasCopies } from './compress.ts'
import { readObjectSync } from './objects.ts'
import { type ListedFile, parseListRows, readRowsOr, rowStarts } from './release-list.ts'
import { readCurrent } from './releases.ts'

/**
 * Plain folders for hosts that know nothing of the store, kept in step with the current release:
 * `OUT_DIR/public` with compressed copies beside its files, `deploy` and `functions`. Changed files
 * are written under a temporary name and renamed; removed ones are deleted last.
 */
const FOLDERS = ['public', 'deploy', 'functions'] as const

/** Names the release in the folders. Missing while they are being written to. */
const MARK = '.laid-out'

export function isLaidOut(outDir: string): boolean {
  return existsSync(join(outDir, FOLDERS[0]))
}

/**
 * Updates the folders to the current release. The caller holds the lock on `outDir`.
 *
 * @returns how many files changed
 */
export async function layOut(outDir: string): Promise<number> {
  const [name, held] = [readCurrent(outDir), readMark(outDir)]
  const rows = readRowsOr(outDir, name).filter(isShown)
  const before = new Set(readRowsOr(outDir, held).filter(isShown))
  const wanted = parseListRows(rows)
  const names = new Set(wanted.map(({ path }) => path))
  const changed = wanted.filter(
    (file, at) => !before.has(rows[at] ?? '') || !hasSize(`${outDir}/${file.path}`, file.size),
  )
  const there = before.size > 0 ? findLeft(before, rows) : findFiles(outDir)
  const gone = there.filter((path) => !names.has(path) && !names.has(path.replace(COPY, '')))
  if (changed.length === 0 && gone.length === 0 && held === name) return 0
  rmSync(join(outDir, MARK), { force: true })
  await writeInThreads({ outDir, files: changed, isFirst: !isLaidOut(outDir) })
  for (const path of gone) removeWithCopies(outDir, path)
  if (name !== null) writeFileSync(join(outDir, MARK), name)
  return changed.length + gone.length
}

const COPY = /\.(?:br|gz)$/

function isShown(row: string): boolean {
  return FOLDERS.some((folder) => rowStarts(row, `${folder}/`))
}

/** Paths of earlier rows that have changed. */
function findLeft(before: ReadonlySet<string>, rows: readonly string[]): string[] {
  const left = new Set(before)
  for (const row of rows) left.delete(row)
  return parseListRows([...left]).map(({ path }) => path)
}

function readMark(outDir: string): string | null {
  try {
    return readFileSync(join(outDir, MARK), 'utf8')
  } catch {
    return null
  }
}

function hasSize(path: string, size: number): boolean {
  return statSync(path, { throwIfNoEntry: false })?.size === size
}

/** Every file of the folders, where their content is unknown. */
function findFiles(outDir: string): string[] {
  const folders = FOLDERS.map((folder) => join(outDir, folder)).filter((path) => existsSync(path))
  return folders
    .flatMap((path) => readdirSync(path, { recursive: true, withFileTypes: true }))
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(join(outDir, '/').length))
}

/** Fewer are written before threads have started. */
const MIN_THREADED = 2000

const MAX_THREADS = 4

/** What is young in a thread is soon garbage: by itself each would set aside six times as much. */
const LIMITS = { maxYoungGenerationSizeMb: 8 }

/** Input of a thread. */
export interface Share {
  outDir: string
  files: ListedFile[]
  /** Whether there were no folders: nobody serves them yet, and they have no old files. */
  isFirst: boolean
}

async function writeInThreads(share: Share): Promise<void> {
  const { files } = share
  if (files.length < MIN_THREADED) return writeShare(share)
  const count = Math.min(MAX_THREADS, availableParallelism())
  const shares = Array.from({ length: count }, (_, n) => files.filter((_, at) => at % count === n))
  await Promise.all(shares.map((files) => writeInThread({ ...share, files })))
}

function writeInThread(workerData: Share): Promise<void> {
  return new Promise((resolve, reject) => {
    const program = new URL('./lay-out-worker.ts', import.meta.url)
    const worker = new Worker(program, { workerData, resourceLimits: LIMITS })
    worker.once('error', reject)
    worker.once('exit', (code) =>
      code === 0 ? resolve() : reject(new Error('a thread ended before its files')),
    )
  })
}

export function writeShare({ outDir, files, isFirst }: Share): void {
  const made = new Set<string>()
  const write = (path: string, bytes: Uint8Array) => {
    const folder = dirname(path)
    if (!made.has(folder)) mkdirSync(folder, { recursive: true })
    made.add(folder)
    if (isFirst) return writeFileSync(path, bytes)
    writeFileSync(`${path}.next`, bytes)
    renameSync(`${path}.next`, path)
  }
  for (const file of files) {
    const path = join(outDir, file.path)
    const bytes = readObjectSync(outDir, file)
    const [folder, ...below] = file.path.split('/')
    const isCopied = folder === 'public' && hasCopies(below.join('/'), file.size)
    for (const ending of COPY_ENDINGS)
      if (isCopied) write(`${path}.${ending}`, compressSync(bytes, ending))
      // A dump's copy is a file of its own.
      else if (!isFirst && !path.endsWith('.ndjson')) rmSync(`${path}.${ending}`, { force: true })
    write(path, bytes)
  }
}

/** Removes a file and its compressed copies, then the folders that are empty without it. */
function removeWithCopies(outDir: string, path: string): void {
  for (const ending of ['', '.br', '.gz']) rmSync(join(outDir, `${path}${ending}`), { force: true })
  try {
    for (let at = dirname(path); at !== '.'; at = dirname(at)) rmdirSync(join(outDir, at))
  } catch {
    // Something else is in it.
  }
}
