import { mkdirSync, readdirSync, readFileSync, renameSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { PublishedFile } from '../../domain/derived/release-file.ts'
import { digestOf } from '../files/release-writer.ts'

export interface PageCode {
  /** Below the release. */
  folder: string
  /** By path below the release. */
  files: Record<string, PublishedFile>
}

/**
 * Moves the code of the pages rendered on demand to a folder named by what it holds: a server
 * imports it once, however many releases it swaps in.
 */
export function placePageCode(from: string, releaseDir: string): PageCode {
  const described = readdirSync(from)
    .sort()
    .map((name) => [name, describe(readFileSync(join(from, name)))] as const)
  const folder = `server/${digestOf(JSON.stringify(described))}`
  const to = join(releaseDir, folder)
  mkdirSync(dirname(to), { recursive: true })
  renameSync(from, to)
  return {
    folder,
    files: Object.fromEntries(described.map(([name, file]) => [`${folder}/${name}`, file])),
  }
}

export function describe(content: string | Uint8Array): PublishedFile {
  return { size: Buffer.byteLength(content), digest: digestOf(content) }
}
