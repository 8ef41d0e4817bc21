import { statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname } from 'node:path'

/** A socket's path may have 108 bytes; programs put up to fifty of their own behind the folder's. */
const MOST_BYTES = 50

/**
 * A temporary folder for programs that put sockets into it or run under another account. That of the
 * environment, unless its path is too long for them or closed to others (as `mktemp -d` makes them).
 */
export function sharedTmp(): string {
  const own = tmpdir()
  return own.length <= MOST_BYTES && isReachable(own) ? own : '/tmp'
}

/** True where every account may go into the folder. */
export function isReachable(folder: string): boolean {
  const others = 0o001
  if ((statSync(folder).mode & others) === 0) return false
  return dirname(folder) === folder || isReachable(dirname(folder))
}
