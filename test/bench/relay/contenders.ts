import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { findFreePort } from '../../support/free-port.ts'

/** Something that answers on a port, in a process of its own. */
export interface Contender {
  name: string
  port: number
  /** Path of the short answer, and of a stream of so many MiB. */
  path: string
  bigPath: (mebibytes: number) => string
  /** CPU seconds used so far. */
  cpu(): number
  /** Resident memory, MiB. */
  memory(): number
  stop(): void
}

/** As `npm start` says: room for young objects is memory that is never given back. */
const YOUNG_OBJECTS = '--max-semi-space-size=8'

/** Core 0 is the contender's, core 1 everything else's: one core is what is compared. */
const hasTaskset = spawnSync('taskset', ['-V']).status === 0
if (hasTaskset) spawnSync('taskset', ['-acp', '1', String(process.pid)])

export async function startScript(
  name: string,
  file: string,
  seller: string,
  core: number,
  ...more: string[]
): Promise<Contender> {
  const script = fileURLToPath(new URL(file, import.meta.url))
  const process_ = spawnOn(core, process.execPath, [YOUNG_OBJECTS, script, seller, ...more])
  const lines = createInterface({ input: process_.stdout ?? process.stdin })
  const [port] = await new Promise<string[]>((resolve) =>
    lines.once('line', (line) => resolve([line])),
  )
  return toContender(name, Number(port), process_)
}

/** nginx with one worker on the rules that `toRules` writes for a port; null where it is not installed. */
export async function startNginx(
  name: string,
  { head = '', toRules }: { head?: string; toRules: (port: number) => string },
): Promise<Contender | null> {
  if (spawnSync('nginx', ['-v']).status !== 0) return null
  const dir = mkdtempSync(join(tmpdir(), 'waypost-nginx-'))
  const port = await findFreePort()
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  writeFileSync(
    join(dir, 'nginx.conf'),
    `${head} worker_processes 1; daemon off; pid ${dir}/pid; error_log ${dir}/error.log;
     events { worker_connections 4096; }
     http { access_log off; ${paths.map((path) => `${path}_temp_path ${dir}/${path};`).join(' ')}
       ${toRules(port)} }`,
  )
  const master = spawnOn(0, 'nginx', ['-c', join(dir, 'nginx.conf'), '-p', dir])
  await untilItAnswers(port)
  const worker = spawnSync('pgrep', ['-P', String(master.pid)], { encoding: 'utf8' }).stdout.trim()
  return toContender(name, port, master, Number(worker))
}

/** The service over releases that were built before. */
export async function startService(
  outDir: string,
  env: Record<string, string> = {},
): Promise<Contender> {
  const port = await findFreePort()
  const script = fileURLToPath(new URL('../../../functions/commands/serve.ts', import.meta.url))
  const release = readFileSync(join(outDir, 'current/release.json'), 'utf8')
  const child = spawnOn(0, process.execPath, [YOUNG_OBJECTS, script], {
    ...{ OUT_DIR: outDir, STATE_DIR: mkdtempSync(join(tmpdir(), 'waypost-state-')) },
    ...{ BASE_URL: JSON.parse(release).base_url, PORT: String(port), ...env },
  })
  child.stdout?.resume()
  await untilItAnswers(port)
  return toContender('waypost', port, child)
}

async function untilItAnswers(port: number): Promise<void> {
  for (let tries = 0; tries < 600; tries += 1) {
    if ((await fetch(`http://127.0.0.1:${port}/favicon.svg`).catch(() => null)) !== null) return
    await new Promise((later) => setTimeout(later, 100))
  }
  throw new Error(`nothing answers on port ${port}`)
}

export function toContender(
  name: string,
  port: number,
  child: ChildProcess,
  pid = child.pid ?? 0,
): Contender {
  const isRelay = name === 'relay'
  return {
    name,
    port,
    path: isRelay ? '/api/v1/call/x402.seller' : '/',
    bigPath: (mebibytes) =>
      isRelay ? `/api/v1/call/x402.seller?endpoint=/big/${mebibytes}` : `/big/${mebibytes}`,
    cpu: () => readCpu(pid),
    memory: () => readMemory(pid),
    stop: () => void child.kill(),
  }
}

export function spawnOn(
  core: number,
  command: string,
  args: string[],
  env: Record<string, string> = {},
): ChildProcess {
  const [run = '', ...rest] = hasTaskset
    ? ['taskset', '-c', String(core), command, ...args]
    : [command, ...args]
  return spawn(run, rest, {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
  })
}

const TICKS_A_SECOND = 100

/** User and system time, of all threads. */
function readCpu(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) / TICKS_A_SECOND
}

function readMemory(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'latin1')
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1024
}
