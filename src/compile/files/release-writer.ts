import { hash } from 'node:crypto'
import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { dirname, join, relative } from 'node:path'

/** Node refuses to write 2 GiB or more at once, which the index of a million listings comes near. */
const PIECE_BYTES = 2 ** 30

/**
 * Writes files below one folder. Folders are made once: with 15,000 listings the
 * calls to make them would cost more than the files.
 */
export interface ReleaseWriter {
  /** @param file path below the folder, with forward slashes. */
  write(file: string, content: string | Uint8Array): void
  writeJson(file: string, value: unknown): void
}

/** @param flag `wx` where a file that is there must not be written to */
export function createReleaseWriter(root: string, flag: 'w' | 'wx' = 'w'): ReleaseWriter {
  const made = new Set<string>()
  const write = (file: string, content: string | Uint8Array) => {
    const path = join(root, file)
    const folder = dirname(path)
    if (!made.has(folder)) {
      mkdirSync(folder, { recursive: true })
      made.add(folder)
    }
    if (typeof content === 'string' || content.byteLength < PIECE_BYTES)
      writeFileSync(path, content, { flag })
    else writeBytes(path, content)
  }
  return {
    write,
    writeJson: (file, value) => write(file, `${JSON.stringify(value)}\n`),
  }
}

/** Rows of JSON, a line each. The same typed `any` as `JSON.parse`: callers know who wrote them. */
export function parseRows(lines: Uint8Array) {
  return JSON.parse(`[${Buffer.from(lines).toString().trimEnd().replaceAll('\n', ',')}]`)
}

/** Hex SHA-256, cut to what a name needs. */
export function digestOf(content: string | Uint8Array, characters = 32): string {
  return hash('sha256', content, 'hex').slice(0, characters)
}

/** Null where the file is not there, or cannot be read. */
export function readOr(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return null
  }
}

/** Every file below a folder, sorted by path: the paths from it, with forward slashes. */
export function listFiles(root: string): string[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
    .sort()
}

/** Removes a file and its compressed copies, then the folders that are empty without it. */
export function removeWithCopies(root: string, file: string): void {
  for (const ending of ['', '.br', '.gz']) rmSync(join(root, `${file}${ending}`), { force: true })
  try {
    for (let at = dirname(file); at !== '.'; at = dirname(at)) rmdirSync(join(root, at))
  } catch {
    // Something else is in it.
  }
}

/** Writes a file of any size, as `writeFileSync` does those below 2 GiB. */
export function writeBytes(path: string, bytes: Uint8Array, pieceBytes = PIECE_BYTES): void {
  const file = openSync(path, 'w')
  try {
    let at = 0
    while (at < bytes.byteLength) {
      at += writeSync(file, bytes, at, Math.min(pieceBytes, bytes.byteLength - at))
    }
  } finally {
    closeSync(file)
  }
}
