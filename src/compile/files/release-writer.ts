import { hash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { writeBytes } from './write-bytes.ts'

/**
 * Writes files below one folder and counts them. Folders are made once: with 15,000 listings the
 * calls to make them would cost more than the files.
 */
export interface ReleaseWriter {
  /** @param file path below the folder, with forward slashes. */
  write(file: string, content: string | Uint8Array): void
  writeJson(file: string, value: unknown): void
  count(): number
}

export function createReleaseWriter(root: string): ReleaseWriter {
  const made = new Set<string>()
  let files = 0
  const write = (file: string, content: string | Uint8Array) => {
    const path = join(root, file)
    const folder = dirname(path)
    if (!made.has(folder)) {
      mkdirSync(folder, { recursive: true })
      made.add(folder)
    }
    if (typeof content === 'string') writeFileSync(path, content)
    else writeBytes(path, content)
    files++
  }
  return {
    write,
    writeJson: (file, value) => write(file, `${JSON.stringify(value)}\n`),
    count: () => files,
  }
}

/** Hex SHA-256, cut to what a name needs. */
export function digestOf(content: string | Uint8Array, characters = 32): string {
  return hash('sha256', content, 'hex').slice(0, characters)
}
