import { promises as dns } from 'node:dns'

export interface ResolvedAddress {
  address: string
  family: 4 | 6
}

/** Asks name servers for every A and AAAA record of a name. Rejects with Node's DNS error codes. */
export type AddressLookup = (host: string) => Promise<ResolvedAddress[]>

const LOOKUP_LIMITS = {
  /** Time limit of a whole look-up; then its queries are cancelled (milliseconds). */
  deadlineMs: 5000,
  /** How long to wait for the second family once one has answered (RFC 8305 §3). */
  otherFamilyMs: 500,
  /** How long a failure is remembered, so that an unresolvable name costs little. */
  failureMs: 5000,
  /** Failures remembered; the oldest are dropped first. */
  failures: 10_000,
}

/** Two tries of two seconds: within the deadline. */
export const DNS_OPTIONS = { timeout: 2000, tries: 2 }

/**
 * Look-ups by c-ares: sockets, no threads, so that names whose servers are silent delay nobody
 * else. (The system's `getaddrinfo` runs in at most half of libuv's pool: a handful of such names
 * stops all others.) A name is looked up once at a time; all waiting callers get the one answer,
 * and each judges it.
 *
 * @param servers `ip:port` each, or undefined for those of the system (resolv.conf)
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
    const asked =
      underWay.get(host) ??
      ask(host, servers, limits)
        .catch((error: unknown) => {
          remember(host, error)
          throw error
        })
        .finally(() => underWay.delete(host))
    underWay.set(host, asked)
    return asked
  }
}

/** A resolver for each look-up: cancelling it ends all its queries. */
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
