import { spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'

const SAMPLE_MS = 100
const PAGE_BYTES = 4096

export interface Measured {
  output: string
  exitCode: number
  wallSeconds: number
  /** User and system time of the command and all it waited for. */
  cpuSeconds: number
  /** Highest sum over the process tree, sampled; 0 where there is no /proc. */
  peakMiB: number
}

/** Runs a command under the shell's own clock, and watches the memory of its whole tree. */
export async function measureCommand(
  command: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<Measured> {
  const start = performance.now()
  const child = spawn('bash', ['-c', 'TIMEFORMAT="cpu %U %S"; time "$@"', 'bash', ...command], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  let errors = ''
  child.stdout.on('data', (chunk) => (output += chunk))
  child.stderr.on('data', (chunk) => (errors += chunk))
  let peak = 0
  const sampler = setInterval(() => {
    peak = Math.max(peak, treeBytes(child.pid ?? 0))
  }, SAMPLE_MS)
  const exitCode = await new Promise<number>((resolve) =>
    child.on('close', (code) => resolve(code ?? 1)),
  )
  clearInterval(sampler)
  const [, user, system] = /cpu ([\d.]+) ([\d.]+)\s*$/.exec(errors) ?? []
  return {
    output: output + errors.replace(/cpu [\d.]+ [\d.]+\s*$/, ''),
    exitCode,
    wallSeconds: (performance.now() - start) / 1000,
    cpuSeconds: Number(user ?? 0) + Number(system ?? 0),
    peakMiB: peak / 2 ** 20,
  }
}

function treeBytes(root: number): number {
  const processes = readProcesses()
  const family = new Set([root])
  // Children come after their parents often enough, not always: two passes more catch the rest.
  for (let pass = 0; pass < 3; pass++)
    for (const { pid, parent } of processes) if (family.has(parent)) family.add(pid)
  return processes.filter(({ pid }) => family.has(pid)).reduce((sum, { bytes }) => sum + bytes, 0)
}

/** Fields of /proc/<pid>/stat after the name in brackets: 2 is the parent, 22 the resident pages. */
function readProcesses(): { pid: number; parent: number; bytes: number }[] {
  const numbers = existsSync('/proc')
    ? readdirSync('/proc').filter((name) => /^\d+$/.test(name))
    : []
  return numbers.flatMap((pid) => {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
      const fields = stat.split(') ').at(-1)?.split(' ') ?? []
      return { pid: Number(pid), parent: Number(fields[1]), bytes: Number(fields[21]) * PAGE_BYTES }
    } catch {
      return []
    }
  })
}
