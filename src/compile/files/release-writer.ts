import { hash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

/** Writes files below one folder. */
export interface ReleaseWriter {
  /** @param file path below the folder, with forward slashes. */
  write(file: string, content: string | Uint8Array): void
  writeJson(file: string, value: unknown): void
}

/** Writes files of a folder. */
export function createReleaseWriter(root: string): ReleaseWriter {
  const write = (file: string, content: string | Uint8Array) => {
    const path = join(root, file)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, content)
  }
  return {
    write,
    writeJson: (file, value) => write(file, `${JSON.stringify(value)}\n`),
  }
}

/** Rows of JSON, one per line. Typed `any` like `JSON.parse`: callers know who wrote them. */
export function parseRows(lines: Uint8Array) {
  return JSON.parse(`[${Buffer.from(lines).toString().trimEnd().replaceAll('\n', ',')}]`)
}

const LINE_END = 10

/** Each row of JSON by itself. */
export function splitRows(lines: Uint8Array): Uint8Array[] {
  const rows: Uint8Array[] = []
  for (let from = 0; from < lines.length; ) {
    const end = lines.indexOf(LINE_END, from) + 1
    rows.push(lines.subarray(from, end))
    from = end
  }
  return rows
}

/** Hex SHA-256, truncated to the length of a name. */
export function digestOf(content: string | Uint8Array, characters = 32): string {
  return hash('sha256', content, 'hex').slice(0, characters)
}

/** Null where the file is missing or unreadable. */
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
