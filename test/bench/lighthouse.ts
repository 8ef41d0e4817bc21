import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'
import * as v from 'valibot'
import { ensureBrowser } from '../browser/ensure-browser.ts'
import { PAGES } from '../browser/page-list.ts'
import { startDemo } from '../support/demo.ts'

/**
 * `npm run bench:lighthouse [path …]`: each page type of the demonstration in Lighthouse, as a phone
 * of its defaults. Lighthouse is installed into a folder of its own: it weighs more than half of
 * everything else this project installs, and no test needs it.
 */
const HERE = fileURLToPath(new URL('./lighthouse/', import.meta.url))
const CLI = join(HERE, 'node_modules/lighthouse/cli/index.js')
const LOWEST = 98
const CATEGORIES = [
  'performance',
  'accessibility',
  'best-practices',
  'seo',
  'agentic-browsing',
] as const
/** What the first is made of: a busy machine makes times longer, and changes neither shift nor bytes. */
const FIGURES = {
  'first-contentful-paint': 'first paint',
  'largest-contentful-paint': 'largest paint',
  'total-blocking-time': 'blocked',
  'cumulative-layout-shift': 'shift',
  'total-byte-weight': 'weight',
} as const

/** Deliberately kept out of search engines, which Lighthouse would call a fault. */
const NOT_INDEXED = new Set([
  '/search?q=search',
  '/compare?ids=x402.brightwell-search,mcp.tenki',
  '/sellers/sign-in',
  '/sellers/dashboard',
  '/report?kind=dispute&about=x402.brightwell-search',
])
const indexed = PAGES.flatMap(([path, status]) =>
  status === undefined && !path.includes('?') && path !== '/search' ? [path] : [],
)
const paths = new Set([
  ...indexed,
  ...['/listing/mcp.spreadsheets', '/market', '/roadmap', '/business-model', '/privacy'],
  '/problems/rate-limited',
  ...NOT_INDEXED,
])

const ReportSchema = v.object({
  categories: v.record(v.string(), v.object({ score: v.nullable(v.number()) })),
  audits: v.record(
    v.string(),
    v.object({
      ...{ id: v.string(), score: v.nullable(v.number()), scoreDisplayMode: v.string() },
      displayValue: v.optional(v.string(), ''),
    }),
  ),
})

if (!existsSync(CLI)) {
  console.log('installing Lighthouse into its own folder (npm ci) …')
  const options = ['ci', '--prefer-offline', '--no-audit', '--no-fund']
  const { status } = spawnSync('npm', options, { cwd: HERE, stdio: 'inherit' })
  if (status !== 0) throw new Error('Lighthouse could not be installed')
}
const chosen = process.argv.slice(2)
const demo = await startDemo({ isOwnAddress: true })
const port = 9222 + (process.pid % 1000)
const outDir = mkdtempSync(join(tmpdir(), 'waypost-lighthouse-'))
try {
  console.log(`| Page | ${CATEGORIES.join(' | ')} | figures | below full marks |`)
  console.log(`|---|${'---|'.repeat(CATEGORIES.length + 2)}`)
  for (const path of chosen.length > 0 ? chosen : paths) await measure(path)
} finally {
  await demo.close()
  rmSync(outDir, { recursive: true, force: true })
}

async function measure(path: string): Promise<void> {
  const report = v.parse(ReportSchema, JSON.parse(await runLighthouse(path)))
  const scores = CATEGORIES.map((id) => Math.round((report.categories[id]?.score ?? 0) * 100))
  const figures = Object.entries(FIGURES).map(
    ([id, name]) => `${name} ${report.audits[id]?.displayValue.replace('Total size was ', '')}`,
  )
  const faults = Object.values(report.audits)
    .filter(({ score, scoreDisplayMode }) => scoreDisplayMode === 'binary' && score === 0)
    .map(({ id }) => id)
  const cells = [`\`${path}\``, ...scores, figures.join(', '), faults.join(', ')]
  console.log(`| ${cells.join(' | ')} |`)
  if (scores.some((score) => score < LOWEST)) process.exitCode = 1
}

/** In a browser of its own: one that has been measured before does not always start a trace again. */
async function runLighthouse(path: string, tries = 3): Promise<string> {
  const args = ['--no-sandbox', `--remote-debugging-port=${port}`]
  // Playwright's own defaults keep no page for "back", which Lighthouse asks about.
  const ignoreDefaultArgs = ['--disable-back-forward-cache']
  const browser = await chromium.launch({
    executablePath: ensureBrowser(),
    args,
    ignoreDefaultArgs,
  })
  const file = join(outDir, 'report.json')
  const skipped = NOT_INDEXED.has(path) ? ['--skip-audits=is-crawlable'] : []
  const options = [
    `--port=${port}`,
    '--output=json',
    `--output-path=${file}`,
    '--quiet',
    ...skipped,
  ]
  const child = spawn(process.execPath, [CLI, demo.url + path, ...options], { stdio: 'inherit' })
  const code = await new Promise((resolve) => child.once('exit', resolve))
  await browser.close()
  if (code === 0) return readFileSync(file, 'utf8')
  // A busy machine loses the start of a trace, and Lighthouse asks to be run again.
  if (tries > 1) return runLighthouse(path, tries - 1)
  throw new Error(`Lighthouse failed on ${path} (${String(code)})`)
}
