import { hash } from 'node:crypto'
import type { Folder } from '../../src/build/folder.ts'

/** Files of a release, kept in memory by their paths in it. */
export function createKeptFiles() {
  const kept = new Map<string, Buffer>()
  const folder: Pick<Folder, 'begin' | 'write' | 'former'> = {
    former: null,
    begin(path) {
      const parts: Uint8Array[] = []
      return {
        write: (part) => void parts.push(part),
        finish() {
          const bytes = Buffer.concat(parts)
          kept.set(path, bytes)
          return { bytes: bytes.length, sha256: hash('sha256', bytes) }
        },
      }
    },
    write: (path, content) => void kept.set(path, Buffer.from(content)),
  }
  return {
    folder,
    read(path: string): Buffer {
      const bytes = kept.get(path)
      if (bytes === undefined) throw new Error(`expected ${path} to be written`)
      return bytes
    },
  }
}
