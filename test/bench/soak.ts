import { spawn } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Pool } from 'undici'
import { readCurrent, switchTo } from '../../src/build/folder.ts'
import { FIXTURE_ENV } from '../support/fixture-env.ts'
import { findFreePort } from '../support/free-port.ts'
import { percentile } from './http-load.ts'
import { startScript, untilItAnswers } from './relay/contenders.ts'

/**
 * `npm run soak -- [--minutes 60] [--rate 300]`: one server under a steady mixture of requests, calls
 * through the relay and clicks included, while releases are swapped. Prints its memory each minute,
 * how it grows after the first quarter of the time, and every answer that should not have been.
 *
 * V8 lets its heap grow to some times what is alive, collects, and keeps the pages for the next time:
 * the process is as large as the highest of these waves, which a later one may exceed. What a leak
 * would raise is the foot of the waves: the least that the heap held in three minutes.
 */
const SWAP_EVERY_MS = 10_000
const SAMPLE_EVERY_MS = 10_000
/** Samples among which one is short after a collection. */
const A_WAVE = 18
const TICK_MS = 20
const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    rate: { type: 'string', default: '300' },
  },
})
const minutes = Number(values.minutes)
const rate = Number(values.rate)

const temp = mkdtempSync(join(tmpdir(), 'waypost-soak-'))
const outDir = join(temp, 'dist')
const seller = await startScript('seller', 'seller-process.ts', '', 1)
const env = {
  ...FIXTURE_ENV,
  CONTENT_DIR: join(temp, 'content'),
  OUT_DIR: outDir,
  STATE_DIR: join(temp, 'state'),
  BASE_URL: `http://127.0.0.1:${await findFreePort()}`,
  UNSAFE_ALLOW_PRIVATE_TARGETS: 'true',
  METRICS_TOKEN: 'soak-soak-soak-soak',
}
const releases = await buildTwo()
const server = await startServer()
const pool = new Pool(env.BASE_URL, { connections: 64 })

const words = readFileSync('README.md', 'utf8').match(/[a-z]{3,}/g) ?? []
const json = { 'content-type': 'application/json' }
/** Of ten requests, in turn; a query is never asked twice. */
const MIXTURE: ((n: number) => Requested)[] = [
  (n) => ({ path: `/api/v1/search?q=${toQuery(n)}` }),
  (n) => ({ path: `/api/v1/search?q=${toQuery(n)}&view=compact&limit=5` }),
  () => ({ path: '/listing/x402.weather', headers: { 'accept-encoding': 'br' } }),
  () => ({ path: '/api/v1/listings/x402.weather' }),
  () => ({ path: '/badge/x402.weather.svg' }),
  (n) => ({ path: `/go/x402.weather?pos=${n % 20}&src=api`, expected: 302 }),
  (n) => ({ path: `/search?q=${toQuery(n)}` }),
  (n) => ({ path: '/mcp', headers: MCP, body: toMcpSearch(n) }),
  () => ({ path: '/api/v1/call/x402.soak', expected: 200 }),
  (n) => ({ path: '/api/v1/call/x402.soak', headers: json, body: JSON.stringify({ n }) }),
]
const MCP = { ...json, accept: 'application/json, text/event-stream' }

interface Requested {
  path: string
  headers?: Record<string, string>
  body?: string
  expected?: number
}

const wrong = new Map<string, number>()
const latencies: number[] = []
interface Sample {
  at: number
  mebibytes: number
}
const samples: (Sample & { heap: number; external: number })[] = []
const started = performance.now()
const sampler = setInterval(() => void sample(), SAMPLE_EVERY_MS)
const swapper = setInterval(swap, SWAP_EVERY_MS)
let [sent, answered, swaps] = [0, 0, 0]
await askSteadily()
for (const timer of [sampler, swapper]) clearInterval(timer)
report()
await pool.destroy()
server.kill('SIGTERM')
seller.stop()
await new Promise((ended) => server.once('exit', ended))
rmSync(temp, { recursive: true, force: true })

/** The content of the tests and a listing that the relay calls on this machine; then one word more. */
async function buildTwo(): Promise<string[]> {
  cpSync(FIXTURE_ENV.CONTENT_DIR, env.CONTENT_DIR, { recursive: true })
  const folder = join(env.CONTENT_DIR, 'listings/x402')
  const url = `http://127.0.0.1:${seller.port}/`
  const weather = readFileSync(join(folder, 'weather.md'), 'utf8')
  writeFileSync(
    join(folder, 'soak.md'),
    weather
      .replace(/^discovery:.*\n|^payout:.*\n/gm, '')
      .replaceAll(/https:\/\/api\.weather\.example\/v1\/\w+/g, url),
  )
  const built: string[] = []
  for (const ending of ['first', 'second']) {
    const file = join(folder, 'weather.md')
    writeFileSync(file, `${weather}\nThe ${ending} release.\n`)
    const build = spawn(process.execPath, ['functions/commands/build.ts'], {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    const code = await new Promise((ended) => build.once('exit', ended))
    const current = readCurrent(outDir)
    if (code !== 0 || current === null) throw new Error('the releases could not be built')
    built.push(current)
  }
  return built
}

async function startServer() {
  const args = ['--max-semi-space-size=8', 'functions/commands/serve.ts']
  const port = new URL(env.BASE_URL).port
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ...env, PORT: port },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  child.stdout.on('data', (lines) => {
    for (const line of String(lines).split('\n'))
      if (line.includes('"level":"error"')) count(`log: ${line.slice(0, 200)}`)
  })
  await untilItAnswers(Number(port))
  return child
}

/** As many as the rate asks for by now, whether those before are answered or not. */
async function askSteadily(): Promise<void> {
  const underway = new Set<Promise<void>>()
  for (let seconds = 0; seconds < minutes * 60; seconds = (performance.now() - started) / 1000) {
    for (; sent < seconds * rate; sent += 1) {
      const requested = MIXTURE[sent % MIXTURE.length]?.(sent)
      if (requested === undefined) continue
      const asking = ask(requested).finally(() => underway.delete(asking))
      underway.add(asking)
    }
    await new Promise((later) => setTimeout(later, TICK_MS))
  }
  await Promise.all(underway)
}

async function ask({ path, headers = {}, body, expected = 200 }: Requested): Promise<void> {
  const before = performance.now()
  const kind = path.split('?')[0]
  try {
    const method = body === undefined ? 'GET' : 'POST'
    const answer = await pool.request({ path, method, headers, body: body ?? null })
    await answer.body.dump()
    if (answer.statusCode !== expected) count(`${kind}: ${answer.statusCode}`)
  } catch (error) {
    count(`${kind}: ${error instanceof Error ? error.message : String(error)}`)
  }
  answered += 1
  latencies.push(performance.now() - before)
}

function toQuery(n: number): string {
  const word = (at: number) => encodeURIComponent(words[at % words.length] ?? 'weather')
  return `${word(n)}+${word(n * 7 + 3)}+${n}`
}

function toMcpSearch(n: number): string {
  const params = { name: 'search_listings', arguments: { query: `weather ${n}` } }
  return JSON.stringify({ jsonrpc: '2.0', id: n, method: 'tools/call', params })
}

function swap(): void {
  swaps += 1
  switchTo(outDir, releases[swaps % releases.length] ?? '')
}

async function sample(): Promise<void> {
  const status = readFileSync(`/proc/${server.pid}/status`, 'utf8')
  const at = (performance.now() - started) / 60_000
  const headers = { authorization: `Bearer ${env.METRICS_TOKEN}` }
  const { body } = await pool.request({ path: '/metrics', method: 'GET', headers })
  const figures = await body.text()
  const inMebibytes = (name: string) =>
    Number(new RegExp(`^${name} (\\S+)`, 'm').exec(figures)?.[1]) / 2 ** 20
  samples.push({
    at,
    mebibytes: Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024,
    heap: inMebibytes('nodejs_heap_size_used_bytes'),
    external: inMebibytes('nodejs_external_memory_bytes'),
  })
  const last = samples.slice(-A_WAVE)
  const [{ mebibytes, external } = { mebibytes: 0, external: 0 }] = last.slice(-1)
  const heaps = last.map(({ heap }) => heap)
  if (samples.length % 6 === 0)
    console.log(
      `${at.toFixed(0)} min  ${mebibytes.toFixed(0)} MiB: heap ${Math.min(...heaps).toFixed(0)} to ${Math.max(...heaps).toFixed(0)} in three minutes, beside it ${external.toFixed(0)}  ${answered} answers`,
    )
}

function report(): void {
  latencies.sort((a, b) => a - b)
  const settled = samples.filter(({ at }) => at > minutes / 4)
  const times = [percentile(latencies, 0.5), percentile(latencies, 0.99)].map((ms) => ms.toFixed(1))
  console.log(
    `${answered} answers in ${minutes} min, ${swaps} swaps; p50 ${times[0]} ms, p99 ${times[1]} ms`,
  )
  console.log(
    `memory grows by ${slopeOf(settled).toFixed(2)} MiB a minute (${settled.length} samples)`,
  )
  const feet = settled.flatMap(({ at }, n) => {
    const wave = settled.slice(n, n + A_WAVE).map(({ heap }) => heap)
    return wave.length < A_WAVE || n % A_WAVE > 0 ? [] : [{ at, mebibytes: Math.min(...wave) }]
  })
  console.log(
    `what the heap holds after a collection grows by ${slopeOf(feet).toFixed(2)} MiB a minute (${feet.length} waves)`,
  )
  for (const [what, times] of wrong) console.log(`${times} × ${what}`)
  if (wrong.size === 0) console.log('no answer was wrong')
  else process.exitCode = 1
}

/** Least squares. */
function slopeOf(points: readonly Sample[]): number {
  const mean = (values: number[]) => values.reduce((a, b) => a + b, 0) / Math.max(1, values.length)
  const [x, y] = [mean(points.map(({ at }) => at)), mean(points.map((point) => point.mebibytes))]
  const above = mean(points.map(({ at, mebibytes }) => (at - x) * (mebibytes - y)))
  const below = mean(points.map(({ at }) => (at - x) ** 2))
  return below === 0 ? 0 : above / below
}

function count(what: string): void {
  wrong.set(what, (wrong.get(what) ?? 0) + 1)
}
