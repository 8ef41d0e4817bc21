import { type ChildProcess, spawn } from 'node:child_process'
import { readdirSync, readFileSync, readlinkSync, statfsSync } from 'node:fs'
import { join } from 'node:path'
import type { Writable } from 'node:stream'
import { setInterval as every } from 'node:timers'
import { toCallFilter } from './call-filter.ts'
import { findOnPath, lastLineOf } from './run-command.ts'

/**
 * Runs a stranger's program in bubblewrap: kernel namespaces, no daemon, no image.
 *
 * Security model: the program sees the system's own programs and libraries, this Node, its package,
 * and nothing else of this machine; it has no network. bubblewrap itself starts from an empty
 * environment and stays outside, so that not even `/proc` leads to what started it: the first
 * process inside is a shell that waits for the program. Root becomes nobody first, since root would
 * be exempt from the process limit. Limits are enforced by the kernel (processes, open files, bytes
 * of a file and of `/tmp`, CPU time) or checked ten times a second (memory, tasks, files); with its
 * first process everything inside ends.
 *
 * Known limitations: checked limits may be exceeded for a tenth of a second. Buffers of pipes and
 * sockets are limited only by their number. `/proc/self/mountinfo` names the mounted folders. Bugs
 * of the kernel are not contained.
 */
const MEMORY_BYTES = 1024 ** 3
const MAX_TASKS = 256
const MAX_FILES = 100_000
const WATCH_MS = 100
const START_MS = 20_000

/** For each process; they can't be raised again. A program may hold no more than a limit allows. */
const LIMITS = [
  `--nproc=${MAX_TASKS}`,
  `--data=${4 * MEMORY_BYTES}`,
  `--fsize=${512 * 1024 ** 2}`,
  '--nofile=1024',
  '--cpu=60',
  '--core=0',
]

/** If a machine still runs out of memory, the kernel ends these first. */
const FIRST_TO_END = ['/usr/bin/choom', '-n', '1000', '--']

const NOBODY = { uid: 65534, gid: 65534 }

/** The path of a bubblewrap that can build a sandbox here. */
export type Sandbox = string

/** The registries whose packages a sandbox can run, the most likely first. */
export const RUN_REGISTRIES = ['npm', 'pypi'] as const

/** bubblewrap on PATH, or one sentence that says what is missing. */
export async function findSandbox(
  path: string,
): Promise<{ sandbox: Sandbox; fault: null } | { sandbox: null; fault: string }> {
  const toFault = (missing: string) => ({
    sandbox: null,
    fault: `--packages runs packages in a sandbox. ${missing} Install bubblewrap, or leave --packages out.`,
  })
  const sandbox = findOnPath('bwrap', path)
  if (sandbox === null) return toFault('bwrap is not on PATH.')
  if (toCallFilter(process.arch) === null)
    return toFault(`It knows x64 and arm64, and this is ${process.arch}.`)
  // Its version does not tell whether a sandbox can be built here, so one is built.
  const child = startSandbox(sandbox, null, ['/usr/bin/true'])
  let output = ''
  child.stderr?.on('data', (chunk: Buffer) => {
    output = `${output}${chunk}`.slice(-4096)
  })
  const timer = setTimeout(() => child.kill('SIGKILL'), START_MS)
  const code = await new Promise<number | null>((resolve) => {
    child.on('error', () => resolve(null)).on('close', resolve)
  })
  clearTimeout(timer)
  return code === 0
    ? { sandbox, fault: null }
    : toFault(`bwrap cannot build one here (${lastLineOf(output)}).`)
}

/** The package's folder and settings. */
interface Inside {
  folder: string
  env: Record<string, string>
}

/** @param what null to try an empty sandbox */
export function startSandbox(
  sandbox: Sandbox,
  what: Inside | null,
  command: readonly string[],
): ChildProcess {
  const child = spawn(sandbox, toArgs(what, command), {
    cwd: '/',
    // bubblewrap needs none, and its own could be read inside.
    env: {},
    ...(process.getuid?.() === 0 && NOBODY),
    // Its own process group: Ctrl-C is for us, and must not look like a package that exits.
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe', 'pipe', 'pipe'],
  })
  const filter = child.stdio[FILTER_FD]
  // It may have ended before it read the filter.
  filter?.on('error', () => {})
  if (isWritable(filter)) filter.end(toCallFilter(process.arch))
  return child
}

/** Bubblewrap's report on its first process, and its input of calls to refuse. */
export const INFO_FD = 3
const FILTER_FD = 4

function isWritable(stream: unknown): stream is Writable {
  return typeof stream === 'object' && stream !== null && 'end' in stream
}

function toArgs(what: Inside | null, command: readonly string[]): string[] {
  const system = ['/bin', '/sbin', '/lib', '/lib32', '/lib64']
  const env = {
    ...what?.env,
    HOME: '/tmp',
    TMPDIR: '/tmp',
    USER: 'nobody',
    PATH: '/opt/bin:/usr/bin:/bin',
  }
  return [
    ...['--info-fd', String(INFO_FD), '--seccomp', String(FILTER_FD)],
    ...['--unshare-all', '--unshare-user', '--disable-userns', '--die-with-parent', '--as-pid-1'],
    ...['--new-session', '--cap-drop', 'ALL', '--clearenv', '--hostname', 'sandbox'],
    ...['--ro-bind', '/usr', '/usr', '--ro-bind', process.execPath, '/opt/bin/node'],
    // Packages do not see what an operator installed by hand.
    ...['--size', '4096', '--tmpfs', '/usr/local', '--remount-ro', '/usr/local'],
    ...system.flatMap((folder) => ['--ro-bind-try', folder, folder]),
    ...['--proc', '/proc', '--dev', '/dev'],
    ...['--size', String(512 * 1024 ** 2), '--perms', '1777', '--tmpfs', '/tmp'],
    ...['--size', String(64 * 1024 ** 2), '--perms', '1777', '--tmpfs', '/dev/shm'],
    ...(what === null
      ? []
      : [
          ...['--ro-bind', join(what.folder, '..', 'etc'), '/etc'],
          ...['--ro-bind', what.folder, '/package'],
        ]),
    // Both are kept in memory and have no limit of their own.
    ...['--remount-ro', '/dev', '--remount-ro', '/', '--chdir', '/tmp'],
    ...Object.entries(env).flatMap(([name, value]) => ['--setenv', name, value]),
    ...['--', '/bin/sh', '-c', '"$@"; exit "$?"', 'init'],
    ...[...FIRST_TO_END, '/usr/bin/prlimit', ...LIMITS, '--', ...command],
  ]
}

/**
 * Reports a sandbox that takes more than its share.
 *
 * @param init pid of the sandbox's first process on this machine: all others end with it
 * @returns a function that ends the watch
 */
export function watchSandbox(init: number, onExcess: (what: string) => void): () => void {
  const timer = every(() => {
    const { bytes, tasks, files } = weigh(init)
    if (bytes > MEMORY_BYTES) onExcess('more than 1 GB of memory')
    else if (tasks > MAX_TASKS) onExcess(`more than ${MAX_TASKS} processes`)
    else if (files > MAX_FILES) onExcess(`more than ${MAX_FILES} files`)
  }, WATCH_MS)
  return () => clearInterval(timer)
}

function weigh(init: number): { bytes: number; tasks: number; files: number } {
  const total = { bytes: 0, tasks: 0, files: countFiles(init) }
  const namespace = readOr(() => readlinkSync(`/proc/${init}/ns/pid`))
  if (namespace === '') return total
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    if (readOr(() => readlinkSync(`/proc/${pid}/ns/pid`)) !== namespace) continue
    const status = readOr(() => readFileSync(`/proc/${pid}/status`, 'latin1'))
    const read = (name: string) =>
      Number(new RegExp(`^${name}:\\s*(\\d+)`, 'm').exec(status)?.[1] ?? 0)
    total.bytes += (read('RssAnon') + read('RssShmem')) * 1024
    total.tasks += read('Threads')
  }
  return total
}

/** Empty files take no bytes of /tmp, but each takes kernel memory. */
function countFiles(init: number): number {
  try {
    const { files, ffree } = statfsSync(`/proc/${init}/root/tmp`)
    return files - ffree
  } catch {
    return 0
  }
}

/** Processes may end while they are inspected. */
function readOr(read: () => string): string {
  try {
    return read()
  } catch {
    return ''
  }
}
