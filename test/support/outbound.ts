import { chmodSync, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

/**
 * Keeps the tests and the programs they start on this machine, and their temporary files in one folder,
 * which goes with the last test. A try to leave the machine fails the run then, even where the program
 * that made it went on.
 */
export default function stayOnThisMachine(): () => void {
  const folder = mkdtempSync(join(findPlace(), 'waypost-'))
  // Some programs run under another account.
  chmodSync(folder, 0o755)
  process.env.TMPDIR = folder
  const log = join(folder, 'outbound.log')
  const { NODE_OPTIONS = '' } = process.env
  const preload = new URL('loopback-only.mjs', import.meta.url)
  preload.searchParams.set('log', log)
  process.env.NODE_OPTIONS = `${NODE_OPTIONS} --import=${preload}`
  // Hundreds of programs are started from the same modules.
  process.env.NODE_COMPILE_CACHE ??= resolve('.cache/code')
  return function tellWhoLeft() {
    process.env.NODE_OPTIONS = NODE_OPTIONS
    const tries = readOr(log)
    rmSync(folder, { recursive: true, force: true })
    if (tries !== '') throw new Error(`Tests tried to leave this machine:\n${tries}`)
  }
}

const MEMORY = '/dev/shm'
const ENOUGH_BYTES = 8 * 2 ** 30

/**
 * Where memory can be written to as a disk, and there is much of it, temporary files are there: a run
 * writes gigabytes of them, most of which are gone a second later.
 */
function findPlace(): string {
  const mounted = readOr('/proc/mounts')
    .split('\n')
    .find((line) => line.split(' ')[1] === MEMORY)
  // Some of the files are programs.
  if (process.env.TMPDIR !== undefined || (mounted ?? 'noexec').includes('noexec')) return tmpdir()
  const { bavail, bsize } = statfsSync(MEMORY)
  return bavail * bsize > ENOUGH_BYTES ? MEMORY : tmpdir()
}

function readOr(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
