import { readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { startWorkerd } from '../edge/workerd.ts'

/**
 * `npm run bench:edge [-- <OUT_DIR>]`: how long the search function of a release takes from its first
 * request to the answer, reading and verifying its index included, in this process and in workerd,
 * beside the same search asked again.
 */
const outDir = resolve(process.argv[2] ?? 'dist')
const dir = join(outDir, 'current/functions/search')
const path = '/api/v1/search?q=weather+forecast'
const mib = (bytes: number) => (bytes / 1024 / 1024).toFixed(1)
console.log(
  `search.js ${Math.round(statSync(join(dir, 'search.js')).size / 1000)} KB, search.index ${mib(statSync(join(dir, 'search.index')).size)} MiB`,
)

async function time(ask: () => Promise<Response>): Promise<number> {
  const start = performance.now()
  await (await ask()).arrayBuffer()
  return performance.now() - start
}

function report(runtime: string, cold: number, warm: number): void {
  console.log(
    `${runtime.padEnd(8)} first answer ${cold.toFixed(1)} ms (target 100), then ${warm.toFixed(2)} ms: ${(cold / warm).toFixed(0)} ×`,
  )
}

const importedAt = performance.now()
const { default: search } = await import(pathToFileURL(join(dir, 'search.js')).href)
const imported = performance.now() - importedAt
const env = { SEARCH_INDEX: () => readFileSync(join(dir, 'search.index')) }
const ask = () => search.fetch(new Request(`https://waypost.example${path}`), env)
report('Node', imported + (await time(ask)), await time(ask))

const workerd = await startWorkerd(dir)
try {
  const remote = () => fetch(workerd.url + path)
  report('workerd', await time(remote), await time(remote))
} finally {
  await workerd.stop()
}
