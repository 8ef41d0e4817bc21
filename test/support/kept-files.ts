import type { ReleaseFiles } from '../../src/compile/files/release-files.ts'
import { digestOf } from '../../src/compile/files/release-writer.ts'

/** Files of a release, kept in memory. */
export function createKeptFiles() {
  const kept = new Map<string, Buffer>()
  const read = (file: string): Buffer => {
    const bytes = kept.get(file)
    if (bytes === undefined) throw new Error(`expected ${file} to be written`)
    return bytes
  }
  const stored = (file: string) => ({ size: read(file).length, digest: digestOf(read(file), 64) })
  const files: Pick<ReleaseFiles, 'begin' | 'writeJson' | 'stored'> = {
    begin(file) {
      const parts: Uint8Array[] = []
      return {
        write: (part) => void parts.push(part),
        finish() {
          kept.set(file, Buffer.concat(parts))
          return stored(file)
        },
      }
    },
    writeJson: (file, value) => void kept.set(file, Buffer.from(`${JSON.stringify(value)}\n`)),
    stored,
  }
  return { files, read }
}
