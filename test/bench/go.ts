import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { load, percentile } from './http-load.ts'
import { spawnOn, toContender } from './relay/contenders.ts'

/**
 * Requests a second and p99 of `/go`, every click durable before its 302, beside the same redirect
 * without the log. The server has core 0, the load core 1 (where `taskset` exists). CPU time a
 * request is the server's own, so it tells the truth on a busy machine too.
 */
const SECONDS = Number(process.env.SECONDS ?? 8)
const CONNECTIONS = Number(process.env.CONNECTIONS ?? 128)
const PATHS = {
  'un-logged redirect': '/unlogged',
  'logged and durable': '/go/x402.weather?pos=3&src=api',
}

const STATE_DIR = mkdtempSync(join(tmpdir(), 'waypost-bench-'))
const script = fileURLToPath(new URL('../support/go-server.ts', import.meta.url))
const child = spawnOn(0, process.execPath, [script], { STATE_DIR })
const lines = createInterface({ input: child.stdout ?? process.stdin })[Symbol.asyncIterator]()
const nextLine = async () => String((await lines.next()).value)
const server = toContender('go', Number(URL.parse(await nextLine())?.port), child)
const redirect = (path: string, seconds: number) =>
  load(server.port, [path], { connections: CONNECTIONS, seconds, status: 302 })
for (const path of Object.values(PATHS)) await redirect(path, 1)
for (const [name, path] of Object.entries(PATHS)) {
  const [cpu, { written }] = [server.cpu(), await readTally()]
  const { answers, failures, latencies } = await redirect(path, SECONDS)
  const micros = ((server.cpu() - cpu) * 1e6) / answers
  const at = (share: number) => percentile(latencies, share).toFixed(1)
  console.log(
    `${name}: ${Math.round(answers / SECONDS)}/s, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, ${failures} failed, server CPU ${micros.toFixed(1)} µs a request (${Math.round(1e6 / micros)}/s of one core)`,
  )
  if (!path.startsWith('/go/')) continue
  const tally = await readTally()
  const rows = tally.written - written
  console.log(`302 received ${answers}, rows written ${rows}, lost ${tally.lost}`)
  if (rows !== answers || tally.lost > 0) process.exitCode = 1
}
server.stop()
rmSync(STATE_DIR, { recursive: true })

async function readTally(): Promise<{ written: number; lost: number }> {
  child.stdin?.write('report\n')
  return JSON.parse(await nextLine())
}
