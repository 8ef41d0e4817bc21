import { formatFault } from '../../src/compile/content/fault.ts'
import { readContent } from '../../src/compile/content/read-content.ts'
import { buildRelease } from '../../src/compile/release/build-release.ts'
import { readCurrentRelease } from '../../src/compile/release/publish-release.ts'
import { nameRelease } from '../../src/compile/release/release-name.ts'
import { readFactsForBuild } from '../operations/read-facts.ts'
import { parseConfig } from '../ports/config.ts'
import { createLog } from '../ports/log.ts'

/**
 * `npm run build`: compiles the content into a release and publishes it. With `--if-stale` a
 * release that is already current is left alone.
 */
const config = parseConfig(process.env)
const allowPrivate = config.UNSAFE_ALLOW_PRIVATE_TARGETS
const { CONTENT_DIR: contentDir, OUT_DIR: outDir, BASE_URL: baseUrl } = config
const log = createLog((line) => process.stderr.write(line), Date.now)
/** Read once; a release that is current needs it only where the ledger has settlements. */
let contentRead: ReturnType<typeof readContent> | undefined
const ledger = await readFactsForBuild(config, log, findPayouts).catch((error: unknown) => {
  const reason = error instanceof Error ? error.message : String(error)
  console.error(`The ledger cannot be read, so nothing was built (${reason}).`)
  process.exit(1)
})
let cpuBefore = process.cpuUsage()
const name = nameRelease({ contentDir, baseUrl, allowPrivate, ledger })

if (process.argv.includes('--if-stale') && readCurrentRelease(outDir) === name)
  console.log(`release ${name} is current`)
else await build()

async function build(): Promise<void> {
  const start = performance.now()
  const { content, faults, counts } = readContentOnce()
  for (const fault of faults) console.log(formatFault(fault, contentDir))
  if (content === null) {
    console.error('The content has errors, so nothing was built; the release before keeps serving.')
    process.exitCode = 1
    return
  }
  onStage(`read ${counts.listings} listings`, performance.now() - start)
  await buildRelease({ name, content, outDir, baseUrl, allowPrivate, ledger, onStage })
  const peak = Math.round(process.resourceUsage().maxRSS / 1024)
  console.log(
    `release ${name} built in ${seconds(performance.now() - start)}, peak memory ${peak} MiB (without Astro and Pagefind)`,
  )
}

function readContentOnce(): ReturnType<typeof readContent> {
  contentRead ??= readContent(contentDir, { allowPrivate })
  return contentRead
}

function findPayouts(listingId: string): readonly string[] {
  const { content } = readContentOnce()
  return content?.listings.find(({ id }) => id === listingId)?.facts.payout ?? []
}

/**
 * CPU time stands beside the clock's: on a shared machine only the first says what a stage costs.
 * It is this process's own; pages and their search are made by processes of Astro and Pagefind.
 */
function onStage(stage: string, ms: number, files = 0): void {
  const { user, system } = process.cpuUsage(cpuBefore)
  cpuBefore = process.cpuUsage()
  const cpu = `${seconds((user + system) / 1000)} CPU`
  console.log(
    `${seconds(ms).padStart(8)} ${cpu.padStart(12)}  ${stage}${files > 0 ? ` (${files} files)` : ''}`,
  )
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(2)} s`
}
