import type { Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import { parseIpAddress } from '../../src/domain/wire/ip-address.ts'
import { portOf } from './guard.ts'

const WILDCARDS = new Set(['0.0.0.0', '::', '[::]'])

/**
 * Is a target this very service? By port and address: the one the caller reached us on, or any of
 * the machine's when the service listens on all of them.
 *
 * @param host `HOST`, what the server was told to listen on.
 */
export function createOwnAddress(host: string, socket: Socket) {
  return (address: string, port: number): boolean => {
    if (port !== socket.localPort) return false
    return WILDCARDS.has(host) ? isOfThisMachine(address) : isSame(address, socket.localAddress)
  }
}

/** Is an address of the web this service's own, by name? `own` is `BASE_URL`. */
export function isOwnHost(url: URL, own: URL): boolean {
  return url.hostname.replace(/\.$/, '') === own.hostname && portOf(url) === portOf(own)
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
