import { createHash, type Hash } from 'node:crypto'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { listFiles } from './release-writer.ts'

export const PROJECT = fileURLToPath(new URL('../../..', import.meta.url))

/** What of the project decides what a release is made like, beside its tables and the content. */
const CODE = ['src', 'functions', 'astro.config.mjs', 'package-lock.json']

let ofThisProcess: string | undefined

/** Hex digest of the code that makes a release, packages and Node's version included. */
export function digestCode(): string {
  ofThisProcess ??= digestFiles()
  return ofThisProcess
}

function digestFiles(): string {
  const hash = createHash('sha256').update(process.version)
  for (const path of CODE) addTree(hash, PROJECT, path)
  return hash.digest('hex').slice(0, 32)
}

/** Adds a file, or every file of a folder with its path. A missing path adds nothing. */
export function addTree(hash: Hash, root: string, path: string): void {
  const full = join(root, path)
  if (!existsSync(full)) return
  const files = statSync(full).isDirectory()
    ? listFiles(full).map((file) => join(full, file))
    : [full]
  for (const file of files) {
    const bytes = readFileSync(file)
    hash.update(`${file.slice(root.length)}\0${bytes.length}\0`)
    hash.update(bytes)
  }
}
