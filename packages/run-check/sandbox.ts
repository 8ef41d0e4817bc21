import { type ChildProcess, spawn } from 'node:child_process'
import {
  accessSync,
  constants,
  readdirSync,
  readFileSync,
  readlinkSync,
  statfsSync,
  statSync,
} from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'
import type { Writable } from 'node:stream'
import { setInterval as every } from 'node:timers'
import { toInertLine } from '../../src/domain/probe/finding.ts'

/**
 * Runs a stranger's program in bubblewrap: kernel namespaces, no daemon, no image.
 *
 * Security model: the program sees the system's own programs and libraries, this Node, its package, and nothing else on
 * this machine; it has no network. bubblewrap itself starts with an empty environment and stays outside, so that not
 * even `/proc` reveals the process that started it: the first process inside is a shell that waits for the program. The
 * program may make only listed system calls. If we run as root, bubblewrap runs as nobody, because root is exempt from
 * the process limit. The kernel enforces some limits (processes, open files, size of a file and of `/tmp`, CPU time),
 * and we check others ten times a second (memory, tasks, files). When the first process ends, everything inside ends.
 *
 * Known limitations: checked limits may be exceeded for a tenth of a second. Pipe and socket buffers are limited only
 * in number. `/proc/self/mountinfo` names the mounted folders. Kernel bugs are not contained.
 */
const MEMORY_BYTES = 1024 ** 3
const MAX_TASKS = 256
const MAX_FILES = 100_000
const WATCH_MS = 100
const START_MS = 20_000

/** Limits for each process, which the process cannot raise. */
const LIMITS = [
  `--nproc=${MAX_TASKS}`,
  `--data=${4 * MEMORY_BYTES}`,
  `--fsize=${512 * 1024 ** 2}`,
  '--nofile=1024',
  '--cpu=60',
  '--core=0',
]

/** If the machine still runs out of memory, the kernel ends the sandbox's processes first. */
const FIRST_TO_END = ['/usr/bin/choom', '-n', '1000', '--']

const NOBODY = { uid: 65534, gid: 65534 }

/** The path to a bubblewrap that can build a sandbox here. */
export type Sandbox = string

/** bubblewrap on PATH, or one sentence saying what is missing. */
export async function findSandbox(
  path: string,
): Promise<{ sandbox: Sandbox; fault: null } | { sandbox: null; fault: string }> {
  const toFault = (missing: string) => ({
    sandbox: null,
    fault: `Packages run in a bubblewrap sandbox. ${missing}`,
  })
  const sandbox = findOnPath('bwrap', path)
  if (sandbox === null) return toFault('bwrap is not on PATH: install bubblewrap.')
  if (toCallFilter(process.arch) === null)
    return toFault(`The sandbox supports x64 and arm64, but this machine is ${process.arch}.`)
  // A version number does not prove that sandboxes can be built here, so an empty one is started.
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
    : toFault(`bwrap cannot build a sandbox here (${lastLineOf(output)}).`)
}

/** The package's folder and settings. */
interface Inside {
  folder: string
  env: Record<string, string>
}

/** @param what the package's folder and settings; null for an empty sandbox */
export function startSandbox(
  sandbox: Sandbox,
  what: Inside | null,
  command: readonly string[],
): ChildProcess {
  const child = spawn(sandbox, toArgs(what, command), {
    cwd: '/',
    // bubblewrap needs no environment, and the program inside could read one.
    env: {},
    ...(process.getuid?.() === 0 && NOBODY),
    // A separate process group: Ctrl-C is for us, and must not look like a package that exits.
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe', 'pipe', 'pipe'],
  })
  const filter = child.stdio[FILTER_FD]
  // bubblewrap may have ended before it read the filter.
  filter?.on('error', () => {})
  if (isWritable(filter)) filter.end(toCallFilter(process.arch))
  return child
}

/** File descriptors for bubblewrap's report on its first process, and for the system call filter. */
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
    // Packages do not see software that an operator installed by hand.
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
    // `/dev` and `/` are kept in memory without a limit of their own, so they become read-only.
    ...['--remount-ro', '/dev', '--remount-ro', '/', '--chdir', '/tmp'],
    ...Object.entries(env).flatMap(([name, value]) => ['--setenv', name, value]),
    ...['--', '/bin/sh', '-c', '"$@"; exit "$?"', 'init'],
    ...[...FIRST_TO_END, '/usr/bin/prlimit', ...LIMITS, '--', ...command],
  ]
}

/** Reports a sandbox that exceeds its limits.
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

/**
 * System calls that a package may make: `name number-on-x64 number-on-arm64`, `-` if an architecture has no such call.
 * Everything else is refused, including calls that future kernels add. Left out on purpose: memory charged to no folder
 * and no process (memfd, System V, `vmsplice`), keyrings, new namespaces and mounts, other processes' memory,
 * `io_uring` (it makes calls that a filter does not see), `bpf`, and `clone3`, whose flags no filter can read:
 * libraries fall back to `clone`.
 */
const ALLOWED_CALLS = {
  files: `
    read 0 63, write 1 64, readv 19 65, writev 20 66, pread64 17 67, pwrite64 18 68, preadv 295 69,
    pwritev 296 70, preadv2 327 286, pwritev2 328 287, open 2 -, openat 257 56, openat2 437 437,
    creat 85 -, close 3 57, close_range 436 436, lseek 8 62, stat 4 -, fstat 5 80, lstat 6 -,
    newfstatat 262 79, statx 332 291, statfs 137 43, fstatfs 138 44, access 21 -, faccessat 269 48,
    faccessat2 439 439, getdents 78 -, getdents64 217 61, readlink 89 -, readlinkat 267 78,
    getcwd 79 17, chdir 80 49, fchdir 81 50, mkdir 83 -, mkdirat 258 34, rmdir 84 -, unlink 87 -,
    unlinkat 263 35, rename 82 -, renameat 264 38, renameat2 316 276, link 86 -, linkat 265 37,
    symlink 88 -, symlinkat 266 36, chmod 90 -, fchmod 91 52, fchmodat 268 53, chown 92 -,
    fchown 93 55, lchown 94 -, fchownat 260 54, umask 95 166, truncate 76 45, ftruncate 77 46,
    fallocate 285 47, fsync 74 82, fdatasync 75 83, flock 73 32, fcntl 72 25, dup 32 23, dup2 33 -,
    dup3 292 24, ioctl 16 29, utime 132 -, utimes 235 -, futimesat 261 -, utimensat 280 88,
    copy_file_range 326 285, sendfile 40 71, fadvise64 221 223, readahead 187 213, getxattr 191 8,
    lgetxattr 192 9, fgetxattr 193 10, listxattr 194 11, llistxattr 195 12, flistxattr 196 13,
    inotify_init 253 -, inotify_init1 294 26, inotify_add_watch 254 27, inotify_rm_watch 255 28`,
  memory: `
    mmap 9 222, munmap 11 215, mprotect 10 226, mremap 25 216, madvise 28 233, mincore 27 232,
    msync 26 227, mlock 149 228, munlock 150 229, brk 12 214, membarrier 324 283,
    pkey_mprotect 329 288, pkey_alloc 330 289, pkey_free 331 290`,
  processes: `
    clone 56 220, fork 57 -, vfork 58 -, execve 59 221, execveat 322 281, exit 60 93,
    exit_group 231 94, wait4 61 260, waitid 247 95, kill 62 129, tkill 200 130, tgkill 234 131,
    pidfd_open 434 434, pidfd_send_signal 424 424, getpid 39 172, getppid 110 173, gettid 186 178,
    getpgid 121 155, setpgid 109 154, getpgrp 111 -, setsid 112 157, getsid 124 156, getuid 102 174,
    geteuid 107 175, getgid 104 176, getegid 108 177, getresuid 118 148, getresgid 120 150,
    getgroups 115 158, capget 125 90, prctl 157 167, arch_prctl 158 -, prlimit64 302 261,
    getrlimit 97 163, setrlimit 160 164, getrusage 98 165, times 100 153, getpriority 140 141,
    setpriority 141 140, sched_yield 24 124, sched_getaffinity 204 123, sched_setaffinity 203 122,
    sched_getparam 143 121, sched_getscheduler 145 120, sched_setscheduler 144 119,
    sched_get_priority_max 146 125, sched_get_priority_min 147 126, set_tid_address 218 96,
    set_robust_list 273 99, get_robust_list 274 100, rseq 334 293, futex 202 98,
    futex_waitv 449 449, getcpu 309 168, uname 63 160, sysinfo 99 179, getrandom 318 278`,
  signals_and_time: `
    rt_sigaction 13 134, rt_sigprocmask 14 135, rt_sigreturn 15 139, rt_sigpending 127 136,
    rt_sigtimedwait 128 137, rt_sigsuspend 130 133, sigaltstack 131 132, restart_syscall 219 128,
    pause 34 -, alarm 37 -, getitimer 36 102, setitimer 38 103, timer_create 222 107,
    timer_settime 223 110, timer_gettime 224 108, timer_getoverrun 225 109, timer_delete 226 111,
    nanosleep 35 101, clock_nanosleep 230 115, clock_gettime 228 113, clock_getres 229 114,
    gettimeofday 96 169, time 201 -`,
  waiting: `
    poll 7 -, ppoll 271 73, select 23 -, pselect6 270 72, epoll_create 213 -, epoll_create1 291 20,
    epoll_ctl 233 21, epoll_wait 232 -, epoll_pwait 281 22, epoll_pwait2 441 441, eventfd 284 -,
    eventfd2 290 19, pipe 22 -, pipe2 293 59, signalfd 282 -, signalfd4 289 74,
    timerfd_create 283 85, timerfd_settime 286 86, timerfd_gettime 287 87`,
  // The sandbox's own network leads nowhere; programs use it to talk to themselves.
  sockets: `
    socket 41 198, socketpair 53 199, bind 49 200, listen 50 201, accept 43 202, accept4 288 242,
    connect 42 203, getsockname 51 204, getpeername 52 205, sendto 44 206, recvfrom 45 207,
    sendmsg 46 211, recvmsg 47 212, sendmmsg 307 269, recvmmsg 299 243, shutdown 48 210,
    setsockopt 54 208, getsockopt 55 209`,
}

/** Architectures as the kernel names them to a filter (linux/audit.h), and their column in the table. */
const ARCHITECTURES: Record<string, { audited: number; column: 1 | 2 }> = {
  x64: { audited: 0xc000003e, column: 1 },
  arm64: { audited: 0xc00000b7, column: 2 },
}

/** Opcodes for classic BPF (linux/bpf_common.h), and a filter's return values (linux/seccomp.h). */
const LOAD = 0x20
const JUMP_IF_EQUAL = 0x15
const JUMP_IF_ABOVE = 0x25
const JUMP_IF_AT_LEAST = 0x35
const RETURN = 0x06
const ALLOW = 0x7fff0000
const ENOSYS = 0x00050026
const OFFSET = { number: 0, arch: 4 }

/**
 * The filter for bubblewrap (`--seccomp`): calls that are not allowed, or are for another
 * architecture, return ENOSYS.
 * @returns null on an architecture whose numbers are unknown
 */
function toCallFilter(arch: string): Buffer | null {
  const known = ARCHITECTURES[arch]
  if (known === undefined) return null
  return Buffer.concat([
    toStep(LOAD, OFFSET.arch),
    toStep(JUMP_IF_EQUAL, known.audited, 1, 0),
    toStep(RETURN, ENOSYS),
    toStep(LOAD, OFFSET.number),
    ...toRanges(known.column).flatMap(([first, last]) => [
      toStep(JUMP_IF_AT_LEAST, first, 0, 2),
      toStep(JUMP_IF_ABOVE, last, 1, 0),
      toStep(RETURN, ALLOW),
    ]),
    toStep(RETURN, ENOSYS),
  ])
}

/** Allowed numbers in order, with neighbours joined into ranges. */
function toRanges(column: 1 | 2): [first: number, last: number][] {
  const calls = Object.values(ALLOWED_CALLS).flatMap((text) => text.trim().split(/,\s*/))
  const numbers = calls.map((call) => Number(call.split(' ')[column]))
  const ranges: [number, number][] = []
  for (const number of numbers.filter((each) => !Number.isNaN(each)).sort((a, b) => a - b)) {
    const range = ranges.at(-1)
    if (range !== undefined && number === range[1] + 1) range[1] = number
    else ranges.push([number, number])
  }
  return ranges
}

/** `struct sock_filter`: `ifTrue` and `ifFalse` are the number of steps to skip after a comparison. */
function toStep(code: number, value: number, ifTrue = 0, ifFalse = 0): Buffer {
  const step = Buffer.alloc(8)
  step.writeUInt16LE(code, 0)
  step.writeUInt8(ifTrue, 2)
  step.writeUInt8(ifFalse, 3)
  step.writeUInt32LE(value, 4)
  return step
}

/** The last non-empty line; commands put the reason there. */
export function lastLineOf(text: string): string {
  const line = text.trim().split('\n').at(-1) ?? ''
  return toInertLine(line, 120) || 'no reason given'
}

/** Absolute folders only: an empty or relative entry would mean the current folder. */
export function findOnPath(name: string, path: string): string | null {
  const folders = path.split(delimiter).filter((folder) => isAbsolute(folder))
  return folders.map((folder) => join(folder, name)).find(isExecutable) ?? null
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
