import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { setInterval as every } from 'node:timers'

/**
 * bubblewrap: namespaces of the kernel, no daemon, no image. The program sees the system's own
 * programs and libraries, its package, and nothing else of this machine.
 *
 * Known limit: without control groups memory is summed up five times a second, so a program may
 * pass the bound for that long.
 */
const MEMORY_BYTES = 1024 ** 3
const TASKS = 256
const WATCH_MS = 200

/** Of each process; they can't be raised again. A program may hold no more than a bound allows. */
const LIMITS = [
  `--nproc=${TASKS}`,
  `--data=${4 * MEMORY_BYTES}`,
  `--fsize=${512 * 1024 ** 2}`,
  '--nofile=1024',
  '--cpu=60',
  '--core=0',
]

const NOBODY = { uid: 65534, gid: 65534 }

/** Root would be spared the bound of processes. */
export function asNobody(): { uid?: number; gid?: number } {
  return process.getuid?.() === 0 ? NOBODY : {}
}

/** @param what the package's folder and settings; null to try an empty sandbox */
export function toSandboxArgs(
  what: { folder: string; env: Record<string, string> } | null,
  command: readonly string[],
): string[] {
  const system = ['/bin', '/sbin', '/lib', '/lib32', '/lib64']
  const env = {
    ...what?.env,
    HOME: '/tmp',
    TMPDIR: '/tmp',
    USER: 'nobody',
    PATH: '/opt/bin:/usr/bin:/bin',
  }
  return [
    ...['--unshare-all', '--unshare-user', '--disable-userns', '--die-with-parent'],
    ...['--new-session', '--cap-drop', 'ALL', '--clearenv', '--hostname', 'sandbox'],
    ...['--ro-bind', '/usr', '/usr', '--ro-bind', process.execPath, '/opt/bin/node'],
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
    // Both are kept in memory and have no bound of their own.
    ...['--remount-ro', '/dev', '--remount-ro', '/', '--chdir', '/tmp'],
    ...Object.entries(env).flatMap(([name, value]) => ['--setenv', name, value]),
    ...['--', '/usr/bin/prlimit', ...LIMITS, '--', ...command],
  ]
}

/**
 * Ends a sandbox that takes more than its share.
 *
 * @param init the sandbox's first process, as this machine numbers it: with it all others end
 * @returns a stop for the watch
 */
export function watchSandbox(init: number, onExcess: (what: string) => void): () => void {
  const timer = every(() => {
    const { bytes, tasks } = weigh(init)
    if (bytes > MEMORY_BYTES) onExcess('more than 1 GB of memory')
    else if (tasks > TASKS) onExcess(`more than ${TASKS} processes`)
  }, WATCH_MS)
  return () => clearInterval(timer)
}

function weigh(init: number): { bytes: number; tasks: number } {
  const total = { bytes: 0, tasks: 0 }
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

/** Processes end while they are looked at. */
function readOr(read: () => string): string {
  try {
    return read()
  } catch {
    return ''
  }
}
