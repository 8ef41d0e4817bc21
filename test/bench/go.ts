import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { Pool } from 'undici'

/**
 * Requests a second and p99 of `/go`, every click durable before its 302, beside the same redirect
 * without the log. The server has core 0, the load core 1 (where `taskset` exists). CPU time a
 * request is the server's own, so it tells the truth on a busy machine too.
 */
const SECONDS = Number(process.env.SECONDS ?? 8)
const CONNECTIONS = Number(process.env.CONNECTIONS ?? 128)
const SERVER = fileURLToPath(new URL('../support/go-server.ts', import.meta.url))

interface Report {
  cpu: NodeJS.CpuUsage
  tally: { written: number; lost: number; waiting: number }
}

interface Run {
  path: string
  answers: number
  others: number
  latencies: number[]
}

const stateDir = await mkdtemp(join(tmpdir(), 'waypost-bench-'))
const server = startServer(stateDir)
const lines = createInterface({ input: server.stdout ?? process.stdin })[Symbol.asyncIterator]()
const url = String((await lines.next()).value)
for (const path of ['/unlogged', '/go/x402.weather?pos=3&src=api']) await load(path, 1)
const before = await ask()
const plain = await load('/unlogged', SECONDS)
const between = await ask()
const logged = await load('/go/x402.weather?pos=3&src=api', SECONDS)
const after = await ask()
print('un-logged redirect', plain, cpuOf(before, between) / plain.answers)
print('logged and durable', logged, cpuOf(between, after) / logged.answers)
const written = after.tally.written - between.tally.written
console.log(`302 received ${logged.answers}, rows written ${written}, lost ${after.tally.lost}`)
server.kill('SIGKILL')
await once(server, 'exit')
await rm(stateDir, { recursive: true })
if (written !== logged.answers || after.tally.lost > 0) process.exitCode = 1

function startServer(STATE_DIR: string): ChildProcess {
  const pin = process.platform === 'linux' ? ['taskset', '-c', '0'] : []
  const [command = '', ...args] = [...pin, process.execPath, SERVER]
  if (pin.length > 0) spawn('taskset', ['-cp', '1', String(process.pid)], { stdio: 'ignore' })
  const env = { PATH: process.env.PATH, DATABASE_URL: process.env.DATABASE_URL, STATE_DIR }
  return spawn(command, args, { env, stdio: ['pipe', 'pipe', 'inherit'] })
}

async function ask(): Promise<Report> {
  server.stdin?.write('report\n')
  return JSON.parse(String((await lines.next()).value))
}

async function load(path: string, seconds: number): Promise<Run> {
  const run: Run = { path, answers: 0, others: 0, latencies: [] }
  const pool = new Pool(url, { connections: CONNECTIONS, pipelining: 1 })
  const end = performance.now() + seconds * 1000
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      while (performance.now() < end) {
        const started = performance.now()
        const status = await get(pool, path)
        if (status === 302) run.answers += 1
        else run.others += 1
        run.latencies.push(performance.now() - started)
      }
    }),
  )
  await pool.close()
  return run
}

/** The lowest door of undici: the load must not cost more than the server it measures. */
function get(pool: Pool, path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    let status = 0
    pool.dispatch(
      { method: 'GET', path },
      {
        onRequestStart: () => {},
        onResponseStart: (_, code) => {
          status = code
        },
        onResponseData: () => {},
        onResponseEnd: () => resolve(status),
        onResponseError: (_, error) => reject(error),
      },
    )
  })
}

function cpuOf(before: Report, after: Report): number {
  return after.cpu.user + after.cpu.system - before.cpu.user - before.cpu.system
}

function print(name: string, { answers, others, latencies }: Run, cpuMicros: number): void {
  latencies.sort((a, b) => a - b)
  const at = (share: number) => (latencies[Math.floor(latencies.length * share)] ?? 0).toFixed(1)
  console.log(
    `${name}: ${Math.round(answers / SECONDS)}/s, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, other answers ${others}, server CPU ${cpuMicros.toFixed(1)} µs a request (${Math.round(1e6 / cpuMicros)}/s of one core)`,
  )
}
