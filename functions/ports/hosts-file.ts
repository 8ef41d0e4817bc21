import { readFile, stat } from 'node:fs/promises'
import { isIP } from 'node:net'
import { join } from 'node:path'
import type { ResolvedAddress } from './address-lookup.ts'

/** Where the system keeps names of its own. */
const PATH =
  process.platform === 'win32'
    ? join(process.env.SystemRoot ?? 'C:\\Windows', 'System32\\drivers\\etc\\hosts')
    : '/etc/hosts'

/** How long the file is believed not to have changed (milliseconds). */
const LOOK_EVERY = 1000

/** Addresses that the system's hosts file gives a name; none where it does not name it. */
export type HostsFile = (host: string) => Promise<readonly ResolvedAddress[]>

/**
 * Read by us, and again when it has changed: the system's own look-up, which knows it, runs in
 * threads that a silent name server would take from everybody.
 *
 * @param path another file, for tests
 */
export function createHostsFile(path: string = PATH, now: () => number = Date.now): HostsFile {
  let names = new Map<string, ResolvedAddress[]>()
  let version = ''
  let lookedAt = Number.NEGATIVE_INFINITY
  return async (host) => {
    if (now() - lookedAt >= LOOK_EVERY) {
      lookedAt = now()
      const found = await versionOf(path)
      if (found !== version) {
        names = found === '' ? new Map() : parseHosts(await readFile(path, 'utf8').catch(() => ''))
        version = found
      }
    }
    return names.get(host.toLowerCase().replace(/\.$/, '')) ?? []
  }
}

/** A machine without the file has no names of its own. */
async function versionOf(path: string): Promise<string> {
  const { mtimeMs, size, ino } = await stat(path).catch(() => ({ mtimeMs: 0, size: 0, ino: 0 }))
  return ino === 0 && size === 0 ? '' : `${mtimeMs} ${size} ${ino}`
}

/** @example parseHosts('10.0.0.1 db db.internal # ours') → db and db.internal, each 10.0.0.1 */
function parseHosts(text: string): Map<string, ResolvedAddress[]> {
  const names = new Map<string, ResolvedAddress[]>()
  for (const line of text.split(/\r?\n/)) {
    const [address = '', ...hosts] = (line.split('#', 1)[0] ?? '').trim().split(/\s+/)
    const family = isIP(address)
    if (family === 0) continue
    for (const host of hosts) {
      const key = host.toLowerCase()
      names.set(key, [...(names.get(key) ?? []), { address, family: family === 6 ? 6 : 4 }])
    }
  }
  return names
}
