import { isIP, type Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import { parseIpAddress } from '../../src/domain/wire/ip-address.ts'
import type { Config } from '../ports/config.ts'
import { portOf, unbracket } from './guard.ts'
import type { Resolver } from './resolver.ts'

const WILDCARDS = new Set(['0.0.0.0', '::', '[::]'])

/**
 * Is a target this very service? By port and address: the one the caller reached us on, or any of
 * the machine's when the service listens on all of them.
 *
 * @param host `HOST`, what the server was told to listen on.
 */
export function createOwnAddress(host: string, socket: Pick<Socket, 'localAddress' | 'localPort'>) {
  return (address: string, port: number): boolean => {
    if (port !== socket.localPort) return false
    return WILDCARDS.has(host) ? isOfThisMachine(address) : isSame(address, socket.localAddress)
  }
}

/** Is an address of the web this service's own, by name? `own` is `BASE_URL`. */
export function isOwnHost(url: URL, own: URL): boolean {
  return url.hostname.replace(/\.$/, '') === own.hostname && portOf(url) === portOf(own)
}

/** How long the addresses of our own name are trusted (milliseconds). */
const OWN_NAME_KEPT_MS = 60_000

/**
 * Addresses that lead to us under any other name: the address this process listens on, and those of
 * our own name. Behind a proxy our name may have addresses that other sites share (a CDN's), so
 * there only those of this machine count.
 *
 * Known limitation: another name for us at a proxy on another machine is not recognised.
 */
export function createOwnName({ config, resolver }: OwnNameParts) {
  const own = new URL(config.BASE_URL)
  const name = unbracket(own.hostname)
  const isListening = createOwnAddress(config.HOST, {
    localAddress: config.HOST,
    localPort: config.PORT,
  })
  let known: { until: number; addresses: string[] } = { until: 0, addresses: [] }
  const lookUp = async () => {
    if (isIP(name) !== 0) return [name]
    const found = await resolver.addresses(name).catch(() => [])
    return found.map(({ address }) => address)
  }
  return {
    /** Looks our name up again if the last time is long ago. Never rejects. */
    async refresh(): Promise<void> {
      const now = performance.now()
      if (now >= known.until) known = { until: now + OWN_NAME_KEPT_MS, addresses: await lookUp() }
    },
    isOwn(address: string, port: number): boolean {
      if (isListening(address, port)) return true
      if (port !== portOf(own) || !known.addresses.some((each) => isSame(address, each)))
        return false
      return config.TRUST_PROXY === 0 || isOfThisMachine(address)
    },
  }
}

interface OwnNameParts {
  config: Pick<Config, 'BASE_URL' | 'HOST' | 'PORT' | 'TRUST_PROXY'>
  resolver: Pick<Resolver, 'addresses'>
}

function isOfThisMachine(address: string): boolean {
  if (/^(?:127\.|0\.|::1$|::$)/.test(address)) return true
  return Object.values(networkInterfaces()).some((list) =>
    list?.some((entry) => isSame(address, entry.address)),
  )
}

function isSame(left: string, right: string | undefined): boolean {
  const a = parseIpAddress(left)
  const b = parseIpAddress((right ?? '').replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, ''))
  return a !== null && b !== null && a.family === b.family && a.value === b.value
}
