import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { publishRelease } from '../../src/compile/release/publish-release.ts'
import { OperatorError } from '../../src/domain/wire/operator-error.ts'
import { isLaidOut, layOut } from '../../src/store/lay-out.ts'
import { nameBytes, openObjects, readObject } from '../../src/store/objects.ts'
import { type ListedFile, readReleaseFile } from '../../src/store/release-list.ts'
import { readCurrent, removeLeftovers, writeWhole } from '../../src/store/releases.ts'
import { takeFileLock } from '../operations/file-lock.ts'
import type { Bucket } from './bucket.ts'
import { inParallel } from './in-parallel.ts'
import { fetchList, fetchObject, POINTER, type Pointer, parsePointer } from './pointer.ts'

/**
 * Takes the release that the bucket's pointer names into `outDir`, and switches to it when it is
 * complete. Existing objects are verified; only the others are fetched. It reads every object
 * without a pause, so a server leaves it to a process of its own.
 *
 * @returns the name of the release
 * @throws OperatorError when the bucket has no complete release, or another process works in
 *   `outDir`; the previous one is still served
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
  const { name } = pointer.release
  mkdirSync(outDir, { recursive: true })
  const lock = takeFileLock(join(outDir, 'build.lock'))
  if (lock === null) throw new OperatorError(`Another process works in OUT_DIR ${outDir}.`)
  try {
    if (!isCurrent(outDir, pointer)) await take(bucket, outDir, pointer)
    if (isLaidOut(outDir)) await layOut(outDir)
    return name
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new OperatorError(`Release ${name} cannot be taken from the store: ${reason}`)
  } finally {
    lock.release()
  }
}

function isCurrent(outDir: string, { release }: Pointer): boolean {
  const current = readCurrent(outDir)
  try {
    if (current !== release.name) return false
    return JSON.stringify(readReleaseFile(outDir, current)) === JSON.stringify(release)
  } catch {
    return false
  }
}

async function take(bucket: Bucket, outDir: string, { release, log }: Pointer): Promise<void> {
  removeLeftovers(outDir)
  const objects = openObjects(outDir, new Set())
  const files = await fetchList(bucket, release.list)
  // Some files share an object.
  const needed = new Map(files.map((file) => [file.digest, file]))
  await inParallel([...needed.values()], async (file) => {
    if (!(await isSound(outDir, file))) objects.put(await fetchObject(bucket, file))
  })
  const changes = await fetchList(bucket, log)
  // The log's parts before its head, which names them.
  const isHead = ({ path }: ListedFile) => Number(path === 'changes/head.json')
  for (const file of changes.toSorted((a, b) => isHead(a) - isHead(b)))
    if (!isWritten(join(outDir, file.path), file))
      writeWhole(join(outDir, file.path), await fetchObject(bucket, file))
  const { list: _list, ...rest } = release
  publishRelease(outDir, objects, rest, files)
}

function isWritten(path: string, { digest }: ListedFile): boolean {
  try {
    return nameBytes(readFileSync(path)) === digest
  } catch {
    return false
  }
}

async function isSound(outDir: string, file: ListedFile): Promise<boolean> {
  return readObject(outDir, file).then(
    () => true,
    () => false,
  )
}
