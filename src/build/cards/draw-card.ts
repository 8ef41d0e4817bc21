import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { initWasm, Resvg } from '@resvg/resvg-wasm'

/** Files that decide what a drawing looks like. */
const LIBRARY = createRequire(import.meta.url).resolve('@resvg/resvg-wasm/index_bg.wasm')
const FACES = ['overpass-500.ttf', 'overpass-800.ttf'].map((file) => new URL(file, import.meta.url))

let prepared: Promise<Uint8Array[]> | undefined

/** Draws SVG to PNG, in a tenth of a second. Only a build does: it has some thirty to draw. */
export async function drawCard(svg: string): Promise<Uint8Array> {
  prepared ??= initWasm(readFileSync(LIBRARY)).then(() => FACES.map((face) => readFileSync(face)))
  const fontBuffers = await prepared
  const drawing = new Resvg(svg, { font: { fontBuffers, defaultFontFamily: 'Overpass' } })
  const image = drawing.render()
  const png = image.asPng()
  image.free()
  drawing.free()
  return png
}

let drawnWith: string | undefined

/** Names a drawing by all its inputs: the same key means the same bytes. 32 hex characters. */
export function toDrawingKey(svg: string): string {
  drawnWith ??= digest([LIBRARY, ...FACES].map((file) => readFileSync(file)))
  return digest([drawnWith, svg]).slice(0, 32)
}

function digest(parts: readonly (string | Uint8Array)[]): string {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest('hex')
}
