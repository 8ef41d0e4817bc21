import { createHash, type Hash } from 'node:crypto'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { listFiles } from '../compile/files/release-writer.ts'

export const PROJECT = fileURLToPath(new URL('../..', import.meta.url))

/** The project's files that decide a release's bytes, apart from tables and content. */
const CODE = ['src', 'functions', 'astro.config.mjs', 'package-lock.json']
/** Also this where `DESIGN_PAGE=on` asks for the page of components, as the demonstration does. */
const DESIGN = 'test/demo/design'

let ofThisProcess: string | undefined

/** Hex digest of the code that makes a release, including packages and Node's version. */
export function digestCode(): string {
  ofThisProcess ??= digestFiles()
  return ofThisProcess
}

function digestFiles(): string {
  const hash = createHash('sha256').update(process.version)
  const paths = process.env.DESIGN_PAGE === 'on' ? [...CODE, DESIGN] : CODE
  for (const path of paths) addTree(hash, { root: PROJECT, path })
  return hash.digest('hex').slice(0, 32)
}

/** Adds a file, or every file of a folder with its path. A missing path adds nothing. */
export function addTree(hash: Hash, { root, path }: { root: string; path: string }): void {
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
