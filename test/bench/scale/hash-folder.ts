import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'

export interface HashedFolder {
  files: number
  bytes: number
  /** Hash of each file by its path from the folder. */
  hashes: ReadonlyMap<string, string>
}

export function hashFolder(folder: string): HashedFolder {
  const hashes = new Map<string, string>()
  let bytes = 0
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const path = join(entry.parentPath, entry.name)
    const content = readFileSync(path)
    bytes += content.length
    hashes.set(relative(folder, path), createHash('sha256').update(content).digest('hex'))
  }
  return { files: hashes.size, bytes, hashes }
}

/** Paths that one folder has and the other has not, or has with other bytes. */
export function findDifferences(one: HashedFolder, other: HashedFolder): string[] {
  const paths = new Set([...one.hashes.keys(), ...other.hashes.keys()])
  return [...paths].filter((path) => one.hashes.get(path) !== other.hashes.get(path)).sort()
}
