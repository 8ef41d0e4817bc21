/**
 * Preloaded into the tests and every program they start: whoever resolves a name or dials an address
 * that is not this machine's own is refused, and written down in the file that this
 * module's `log` parameter names, because the code under test may take the refusal for an ordinary
 * failure. Plain JavaScript: programs of older Nodes are started too.
 */
import dgram from 'node:dgram'
import dns from 'node:dns'
import { appendFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import net from 'node:net'

const OWN_NAME = /^(?:(?:.+\.)?localhost\.?)?$/i

const own = new net.BlockList()
own.addSubnet('127.0.0.0', 8)
own.addAddress('0.0.0.0')
own.addAddress('::1', 'ipv6')
own.addAddress('::', 'ipv6')

/** @param {unknown} host */
function isOwn(host) {
  if (host === undefined || host === null) return true
  const text = String(host).replace(/^\[|\]$/g, '')
  const family = net.isIP(text)
  if (family === 0) return OWN_NAME.test(text)
  return own.check(text, family === 6 ? 'ipv6' : 'ipv4')
}

/** @param {string} what */
function refuse(what) {
  const error = new Error(`tests stay on this machine: ${what}`)
  const log = new URL(import.meta.url).searchParams.get('log')
  if (log !== null)
    appendFileSync(log, `${what} by ${process.argv.slice(1).join(' ')}\n${error.stack}\n\n`)
  return Object.assign(error, { code: 'ECONNREFUSED' })
}

const { connect } = net.Socket.prototype
net.Socket.prototype.connect = function connectOwn(...args) {
  // Node hands itself its arguments as one array.
  const [first, second] = Array.isArray(args[0]) ? args[0] : args
  const options =
    typeof first === 'object' && first !== null ? first : { port: first, host: second }
  const host = typeof options.host === 'function' ? undefined : options.host
  if (options.path === undefined && net.isIP(String(host ?? '')) !== 0 && !isOwn(host))
    return this.destroy(refuse(`dialled ${host}:${options.port}`))
  return connect.apply(this, args)
}

const { send, connect: connectDatagram } = dgram.Socket.prototype
dgram.Socket.prototype.send = function sendOwn(...args) {
  const host = args.findLast((value) => typeof value === 'string')
  if (args.length > 1 && typeof host === 'string' && host !== args[0] && !isOwn(host))
    throw refuse(`sent a datagram to ${host}`)
  return send.apply(this, args)
}
dgram.Socket.prototype.connect = function connectOwn(port, host, ...rest) {
  if (typeof host === 'string' && !isOwn(host)) throw refuse(`sent a datagram to ${host}`)
  return connectDatagram.call(this, port, host, ...rest)
}

/** @param {any} target @param {string} name @param {(host: unknown, self: any) => boolean} isFine */
function guard(target, name, isFine) {
  const original = target[name]
  if (typeof original !== 'function') return
  target[name] = function guarded(/** @type {any[]} */ ...args) {
    if (isFine(args[0], this)) return original.apply(this, args)
    const error = refuse(`resolved ${args[0]} (${name})`)
    const callback = args.at(-1)
    if (typeof callback !== 'function') return Promise.reject(error)
    process.nextTick(callback, error)
    return undefined
  }
}

guard(dns, 'lookup', isOwn)
guard(dns.promises, 'lookup', isOwn)

/** A server of the test's own may be asked for any name. */
const asksOwn = (/** @type {unknown} */ host, /** @type {any} */ self) =>
  isOwn(host) || self.getServers().every((/** @type {string} */ server) => isOwn(toHost(server)))
/** @param {string} server such as 127.0.0.1:53 or [::1]:53 */
function toHost(server) {
  return net.isIP(server) === 0 ? server.replace(/:\d+$/, '') : server
}
for (const target of [dns, dns.promises])
  for (const name of Object.keys(target))
    if (name.startsWith('resolve') || name === 'reverse') guard(target, name, isOwn)
for (const { prototype } of [dns.Resolver, dns.promises.Resolver])
  for (let at = prototype; at !== Object.prototype && at !== null; at = Object.getPrototypeOf(at))
    for (const name of Object.getOwnPropertyNames(at))
      if (name.startsWith('resolve') || name === 'reverse') guard(at, name, asksOwn)

syncBuiltinESMExports()
