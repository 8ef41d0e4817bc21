import { readFileSync } from 'node:fs'
import { parentPort } from 'node:worker_threads'
import { initWasm, Resvg } from '@resvg/resvg-wasm'
import { FACES, LIBRARY } from './drawing-key.ts'

/**
 * Draws SVG to PNG, off the thread that answers. The drawing library is WebAssembly: whatever a
 * text makes it do, it has no access to our memory, to files or to the network.
 */
const ready = initWasm(readFileSync(LIBRARY))
const fontBuffers = FACES.map((face) => readFileSync(face))

parentPort?.on('message', async (svg: string) => {
  await ready
  const drawing = new Resvg(svg, { font: { fontBuffers, defaultFontFamily: 'Overpass' } })
  const image = drawing.render()
  parentPort?.postMessage(image.asPng())
  image.free()
  drawing.free()
})
