import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)
/** Files that decide what a drawing looks like. */
export const LIBRARY = require.resolve('@resvg/resvg-wasm/index_bg.wasm')
export const FACES = ['overpass-500.ttf', 'overpass-800.ttf'].map(
  (file) => new URL(file, import.meta.url),
)

let drawnWith: string | undefined

/**
 * Names a drawing by all its inputs: the same key means the same bytes, in a cache and as an ETag.
 * 32 hex characters.
 */
export function toDrawingKey(svg: string): string {
  drawnWith ??= digest([LIBRARY, ...FACES].map((file) => readFileSync(file)))
  return digest([drawnWith, svg]).slice(0, 32)
}

function digest(parts: readonly (string | Uint8Array)[]): string {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest('hex')
}
