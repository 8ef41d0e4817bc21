import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type Measured, measureCommand } from './measure-command.ts'
import { varyContent } from './vary-content.ts'

/**
 * Check and build at scale: `node test/bench/scale/run-scale.ts [--sizes own,15000] [--keep]`. Every
 * stage's own time comes from the commands' output; CPU time is there because wall time on a shared
 * machine says little.
 */
const ROOT = join(import.meta.dirname, '../../..')
const { values } = parseArgs({
  options: {
    sizes: { type: 'string', default: 'own,15000' },
    keep: { type: 'boolean', default: false },
  },
})

await runSizes(values.sizes.split(',').map((size) => (size === 'own' ? null : Number(size))))

async function runSizes(sizes: readonly (number | null)[]): Promise<void> {
  const work = mkdtempSync(join(tmpdir(), 'waypost-scale-'))
  const costs: string[] = []
  try {
    for (const limit of sizes) costs.push(await runSize(work, limit))
    costs.push(await buildOneChange(work))
  } finally {
    if (values.keep) console.log(`kept in ${work}`)
    else rmSync(work, { recursive: true, force: true })
  }
  console.log(`\nCost of a listing\n${costs.join('\n')}`)
}

async function runSize(work: string, limit: number | null): Promise<string> {
  const contentDir = join(work, 'content')
  const outDir = join(work, 'dist')
  for (const folder of [contentDir, outDir]) rmSync(folder, { recursive: true, force: true })
  const listings = varyContent(contentDir, limit)
  console.log(`\n== ${listings} listings`)
  const env = { CONTENT_DIR: contentDir, OUT_DIR: outDir }
  const check = await run('check', env)
  const build = await run('build', env)
  const files = readdirSync(join(outDir, 'current/'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => statSync(join(parentPath, name)).size)
  const bytes = files.reduce((sum, size) => sum + size, 0)
  console.log(`files ${files.length}, ${Math.round(bytes / 2 ** 20)} MiB`)
  const perListing = (seconds: number) => ((seconds * 1000) / listings).toFixed(2)
  return [
    `  ${String(listings).padStart(6)} listings`,
    `check ${perListing(check.cpuSeconds)} ms CPU`,
    `build ${perListing(build.cpuSeconds)} ms CPU, ${perListing(build.wallSeconds)} ms wall`,
  ].join('  ')
}

async function run(script: 'check' | 'build', env: Record<string, string>): Promise<Measured> {
  const measured = await measureCommand(
    [process.execPath, join(ROOT, `functions/commands/${script}.ts`)],
    env,
  )
  console.log(measured.output.trimEnd().replace(/^/gm, '    '))
  console.log(
    `${script.padEnd(7)} ${measured.wallSeconds.toFixed(1)} s wall, ${measured.cpuSeconds.toFixed(1)} s CPU, peak ${Math.round(measured.peakMiB)} MiB (whole tree), exit ${measured.exitCode}`,
  )
  if (measured.exitCode !== 0) process.exitCode = 1
  return measured
}

/** A release after one listing changed: what is left of the cost when the rest is the same. */
async function buildOneChange(work: string): Promise<string> {
  const contentDir = join(work, 'content')
  const folder = join(contentDir, 'listings/mcp')
  const names = readdirSync(folder).sort()
  const file = join(folder, names[names.length >> 1] ?? '')
  writeFileSync(file, readFileSync(file, 'utf8').replace(/^summary: /m, 'summary: Changed. '))
  const build = await run('build', { CONTENT_DIR: contentDir, OUT_DIR: join(work, 'dist') })
  return `  one changed listing  build ${build.wallSeconds.toFixed(1)} s wall, ${build.cpuSeconds.toFixed(1)} s CPU`
}
