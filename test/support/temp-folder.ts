import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A new folder for temporary files, which goes with the last test of the run. */
export function tempFolder(name: string): string {
  return mkdtempSync(join(tmpdir(), `waypost-${name}-`))
}
