import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { type LoadResult, load, percentile } from './http-load.ts'

/**
 * Requests a second and p99 of `/go`, every click durable before its 302, beside the same redirect
 * without the log. The server has core 0, the load core 1 (where `taskset` exists). CPU time a
 * request is the server's own, so it tells the truth on a busy machine too.
 */
const SECONDS = Number(process.env.SECONDS ?? 8)
const CONNECTIONS = Number(process.env.CONNECTIONS ?? 128)
const PLAIN = '/unlogged'
const LOGGED = '/go/x402.weather?pos=3&src=api'
const SERVER = fileURLToPath(new URL('../support/go-server.ts', import.meta.url))

interface Report {
  cpu: NodeJS.CpuUsage
  tally: { written: number; lost: number; waiting: number }
}

const stateDir = await mkdtemp(join(tmpdir(), 'waypost-bench-'))
const server = startServer(stateDir)
const lines = createInterface({ input: server.stdout ?? process.stdin })[Symbol.asyncIterator]()
const port = Number(URL.parse(String((await lines.next()).value))?.port)
const redirect = (path: string, seconds: number) =>
  load(port, [path], { connections: CONNECTIONS, seconds, status: 302 })
for (const path of [PLAIN, LOGGED]) await redirect(path, 1)
const before = await ask()
const plain = await redirect(PLAIN, SECONDS)
const between = await ask()
const logged = await redirect(LOGGED, SECONDS)
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

function cpuOf(before: Report, after: Report): number {
  return after.cpu.user + after.cpu.system - before.cpu.user - before.cpu.system
}

function print(
  name: string,
  { answers, failures, latencies }: LoadResult,
  cpuMicros: number,
): void {
  const at = (share: number) => percentile(latencies, share).toFixed(1)
  console.log(
    `${name}: ${Math.round(answers / SECONDS)}/s, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, ${failures} failed, server CPU ${cpuMicros.toFixed(1)} µs a request (${Math.round(1e6 / cpuMicros)}/s of one core)`,
  )
}
