import { linkSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import {
  createWorkDir,
  publishRelease,
  readCurrent,
  removeLeftovers,
} from '../../src/compile/release/publish-release.ts'
import { OperatorError } from '../../src/domain/wire/operator-error.ts'
import { takeFileLock } from '../operations/file-lock.ts'
import type { Bucket } from './bucket.ts'
import { nameBytes, POINTER, parseManifest, parsePointer, type StoredFile } from './manifest.ts'
import { inParallel, readPieces } from './read-pieces.ts'

/** Beside the files of a release that came from a store: what each of them is. */
const MANIFEST = 'manifest.ndjson'

/**
 * Takes the release that the store's pointer names into `outDir`, and switches to it when it is
 * whole. What the release before has already is verified and linked; only the rest travels. It reads
 * every file without a pause, so a server leaves it to a process of its own.
 *
 * @returns the name of the release
 * @throws OperatorError when the bucket has no release, it is not whole, or another process works in `outDir`;
 *   the one before goes on being served
 */
export async function pullRelease(bucket: Bucket, outDir: string): Promise<string> {
  const found = await bucket.get(POINTER)
  if (found === null || found === 'same')
    throw new OperatorError('The store holds no release: put one there with "npm run publish".')
  const pointer = parsePointer(found.bytes)
  if (pointer === null)
    throw new OperatorError(
      `${POINTER} of the store is damaged or of another version: publish again.`,
    )
  mkdirSync(outDir, { recursive: true })
  const lock = takeFileLock(join(outDir, 'build.lock'))
  if (lock === null) throw new OperatorError(`Another process works in OUT_DIR ${outDir}.`)
  try {
    const manifest = await readPieces(pointer, (key) => bucket.get(key))
    const current = readCurrent(outDir)
    const own = current === null ? null : join(outDir, 'releases', current)
    if (own === null || !manifest.equals(readOr(join(own, MANIFEST))))
      await take({ bucket, outDir, own, name: pointer.release, manifest })
    return pointer.release
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new OperatorError(`Release ${pointer.release} cannot be taken from the store: ${reason}`)
  } finally {
    lock.release()
  }
}

interface Taking {
  bucket: Bucket
  outDir: string
  /** Folder of the release being served; null without one. */
  own: string | null
  name: string
  manifest: Buffer
}

async function take({ bucket, outDir, own, name, manifest }: Taking): Promise<void> {
  removeLeftovers(outDir)
  const files = parseManifest(manifest)
  const workDir = createWorkDir(outDir, name)
  const before = own === null ? [] : parseManifest(readOr(join(own, MANIFEST)))
  const known = new Map(before.map((file) => [file.path, file]))
  const made = new Set<string>()
  const place = (file: StoredFile) => {
    const { path } = file
    const full = isOfLog(file) ? join(outDir, `${path}.next`) : join(workDir, path)
    if (!made.has(dirname(full))) mkdirSync(dirname(full), { recursive: true })
    made.add(dirname(full))
    return full
  }
  await inParallel(files, async (file) => {
    const to = place(file)
    const old = known.get(file.path)
    const from = own === null ? '' : join(isOfLog(file) ? outDir : own, file.path)
    if (old?.digest === file.digest && tryLink(from, to, file)) return
    const pieces = old === undefined ? null : readOwnPieces(from, old)
    const fetchAll = () => readPieces(file, (key) => bucket.get(key))
    const bytes = await (pieces === null
      ? fetchAll()
      : // What a disk did to a piece is mended by the store's.
        readPieces(file, async (key) => pieces.get(key) ?? bucket.get(key)).catch(fetchAll))
    writeFileSync(to, bytes)
  })
  writeFileSync(join(workDir, MANIFEST), manifest)
  // The log's parts before its head, which names them.
  const log = files.filter(isOfLog).map(({ path }) => path)
  for (const path of log.sort((a, b) => Number(a === LOG_HEAD) - Number(b === LOG_HEAD)))
    renameSync(join(outDir, `${path}.next`), join(outDir, path))
  publishRelease(outDir, name, workDir)
}

const LOG_HEAD = 'changes/head.json'

/** The log of changes lies beside the releases. */
function isOfLog({ path }: StoredFile): boolean {
  return path.startsWith('changes/')
}

/** False on a disk without hard links, or where the file was damaged: it is fetched then. */
function tryLink(from: string, to: string, { digest }: StoredFile): boolean {
  if (nameBytes(readOr(from)) !== digest) return false
  try {
    linkSync(from, to)
    return true
  } catch {
    return false
  }
}

/** The pieces of a file that lies here, by key. They are verified with the file they go into. */
function readOwnPieces(from: string, { pieces }: StoredFile) {
  const bytes = readOr(from)
  const own = new Map<string, { bytes: Buffer }>()
  let at = 0
  for (const { key, size } of pieces) {
    own.set(key, { bytes: bytes.subarray(at, at + size) })
    at += size
  }
  return at === bytes.length ? own : null
}

function readOr(path: string): Buffer {
  try {
    return readFileSync(path)
  } catch {
    return Buffer.alloc(0)
  }
}
