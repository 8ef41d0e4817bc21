import { promises as dns } from 'node:dns'
import { readFile, stat } from 'node:fs/promises'
import { isIP } from 'node:net'
import { join } from 'node:path'
import { codeOf } from '../../src/domain/wire/problems.ts'

export interface ResolvedAddress {
  address: string
  family: 4 | 6
}

/** Queries name servers for every A and AAAA record of a name. Rejects with Node's DNS error codes. */
type AddressLookup = (host: string) => Promise<ResolvedAddress[]>

/**
 * Resolves names to addresses and TXT records. `addresses` returns every A and AAAA answer, and
 * rejects (with Node's DNS error codes) if there is none; `txt` returns each record's strings, or
 * an empty list.
 */
export interface Resolver {
  addresses(host: string): Promise<ResolvedAddress[]>
  txt(host: string): Promise<string[][]>
}

/** Name servers gave different answers: one may be lying, or the record is still propagating. */
export class ResolversDisagreeError extends Error {
  override name = 'ResolversDisagreeError'
}

/**
 * @param servers `DNS_SERVERS`, or undefined to use the system's own: its hosts file, then the name
 *   servers in its resolv.conf
 */
export function createResolver(
  servers: readonly string[] | undefined,
  lookup: AddressLookup = createAddressLookup(servers),
  hostsFile: HostsFile = servers === undefined ? createHostsFile() : async () => [],
): Resolver {
  return {
    async addresses(host) {
      // RFC 6761 §6.3: localhost never leaves the machine.
      if (/^(?:.+\.)?localhost\.?$/i.test(host))
        return [
          { address: '127.0.0.1', family: 4 },
          { address: '::1', family: 6 },
        ]
      const own = await hostsFile(host)
      return own.length > 0 ? [...own] : lookup(host)
    },
    txt: createAgreedTxt(servers),
  }
}

const LOOKUP_LIMITS = {
  /** Time limit for a whole look-up; then its queries are cancelled (milliseconds). */
  deadlineMs: 5000,
  /** How long to wait for the second address family once the first has answered (RFC 8305 §3). */
  otherFamilyMs: 500,
  /** How long a failure is remembered, so that an unresolvable name costs little. */
  failureMs: 5000,
  /** Most failures remembered; the oldest are dropped first. */
  failures: 10_000,
}

/** Two tries of two seconds: within the deadline. */
const DNS_OPTIONS = { timeout: 2000, tries: 2 }

/**
 * Look-ups by c-ares, which uses sockets and no threads, so that names with silent servers delay no
 * other look-up. (The system's `getaddrinfo` runs in at most half of libuv's pool: a handful of
 * such names blocks all others.) Concurrent look-ups of a name share one answer, which each caller
 * judges.
 * @param servers name servers as `ip:port`; undefined means those of the system (resolv.conf)
 */
export function createAddressLookup(
  servers: readonly string[] | undefined,
  limits = LOOKUP_LIMITS,
  now: () => number = Date.now,
): AddressLookup {
  const underWay = new Map<string, Promise<ResolvedAddress[]>>()
  const failed = new Map<string, { error: Error; until: number }>()
  const remember = (host: string, error: unknown) => {
    if (!(error instanceof Error)) return
    failed.set(host, { error, until: now() + limits.failureMs })
    for (const [oldest] of failed) {
      if (failed.size <= limits.failures) break
      failed.delete(oldest)
    }
  }
  return async (name) => {
    const host = name.toLowerCase()
    const failure = failed.get(host)
    if (failure !== undefined && failure.until > now()) throw failure.error
    failed.delete(host)
    const lookUp =
      underWay.get(host) ??
      ask(host, servers, limits)
        .catch((error: unknown) => {
          remember(host, error)
          throw error
        })
        .finally(() => underWay.delete(host))
    underWay.set(host, lookUp)
    return lookUp
  }
}

/** One resolver per look-up: cancelling it ends all its queries. */
async function ask(
  host: string,
  servers: readonly string[] | undefined,
  { deadlineMs, otherFamilyMs }: typeof LOOKUP_LIMITS,
): Promise<ResolvedAddress[]> {
  const resolver = new dns.Resolver(DNS_OPTIONS)
  if (servers !== undefined) resolver.setServers(servers)
  let isLate = false
  let timer = setTimeout(() => {
    isLate = true
    resolver.cancel()
  }, deadlineMs)
  const waitLittle = (found: ResolvedAddress[]) => {
    clearTimeout(timer)
    timer = setTimeout(() => resolver.cancel(), otherFamilyMs)
    return found
  }
  const families = [
    resolver
      .resolve4(host)
      .then((all) => waitLittle(all.map((address) => ({ address, family: 4 })))),
    resolver
      .resolve6(host)
      .then((all) => waitLittle(all.map((address) => ({ address, family: 6 })))),
  ]
  const answers = await Promise.allSettled(families)
  clearTimeout(timer)
  const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
  if (found.length > 0) return found
  if (isLate)
    throw Object.assign(new Error(`${host} was not resolved in time`), { code: 'ETIMEOUT' })
  const [failure] = answers
  throw failure?.status === 'rejected' ? failure.reason : new Error(`${host} has no address`)
}

/** How many name servers must agree on a record, if at least that many are configured. */
const QUORUM = 2

/** TXT records on which two servers agree: one spoofed answer must not be enough. */
function createAgreedTxt(servers: readonly string[] | undefined): Resolver['txt'] {
  const resolvers = (servers ?? [null]).map((server) => {
    const resolver = new dns.Resolver(DNS_OPTIONS)
    if (server !== null) resolver.setServers([server])
    return resolver
  })
  const needed = Math.min(QUORUM, resolvers.length)
  return async (host) => {
    const results = await Promise.allSettled(resolvers.map((resolver) => txtOrNone(resolver, host)))
    const answers = results
      .filter((answer) => answer.status === 'fulfilled')
      .map(({ value }) => value)
    const failure = results.find((answer) => answer.status === 'rejected')
    if (answers.length < needed && failure !== undefined) throw failure.reason
    const byText = new Map(answers.flat().map((record) => [record.join(''), record]))
    const hasRecord = (answer: string[][], text: string) =>
      answer.some((record) => record.join('') === text)
    const agreed = [...byText]
      .filter(([text]) => answers.filter((answer) => hasRecord(answer, text)).length >= needed)
      .map(([, record]) => record)
    if (agreed.length === 0 && answers.some((answer) => answer.length > 0))
      throw new ResolversDisagreeError(`name servers disagree about ${host}`)
    return agreed
  }
}

/** A host's TXT records; an empty list if a server answers that there are none. */
async function txtOrNone(resolver: dns.Resolver, host: string): Promise<string[][]> {
  try {
    return await resolver.resolveTxt(host)
  } catch (error) {
    if (['ENOTFOUND', 'ENODATA'].includes(codeOf(error))) return []
    throw error
  }
}

/** The system's file of local names. */
const PATH =
  process.platform === 'win32'
    ? join(process.env.SystemRoot ?? 'C:\\Windows', 'System32\\drivers\\etc\\hosts')
    : '/etc/hosts'

/** How long the file is assumed unchanged (milliseconds). */
const LOOK_EVERY = 1000

/** A name's addresses in the system's hosts file; an empty list if the name has no entry. */
type HostsFile = (host: string) => Promise<readonly ResolvedAddress[]>

/** We read the file ourselves: the system's look-up runs in threads that silent name servers can use up. */
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

/** Changes whenever the file changes; empty on a machine without the file. */
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
