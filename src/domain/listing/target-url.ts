import punycode from 'punycode.js'
import { isJsonObject } from '../wire/json.ts'
import { checkedText } from '../wire/shapes.ts'
import { findTextFault } from './listing-text.ts'

/**
 * URLs are judged both as text and parsed: WHATWG parsing silently repairs tabs, backslashes, odd
 * hosts and dot segments, and a repaired URL is not the one that a reviewer read.
 *
 * Known limit: names are not resolved here. Addresses are judged when they are dialled.
 */
export interface UrlRules {
  allowPrivate: PrivateTargets
}

/**
 * Reachable targets in addition to public hosts. True is `UNSAFE_ALLOW_PRIVATE_TARGETS`: loopback,
 * private hosts, ports and plain http. A list is `PRIVATE_HOSTS`: names, `*.corp.example` for all
 * names below a domain, and address blocks such as 10.0.0.0/8.
 */
export type PrivateTargets = boolean | readonly string[]

/** True for a host named in `PRIVATE_HOSTS`, or an address in one of its blocks. */
export function isPrivateTarget(targets: PrivateTargets, hostname: string): boolean {
  if (typeof targets === 'boolean') return targets
  const host = hostname.replace(/^\[|\]$/g, '')
  const address = parseIpAddress(host)
  return targets.some((target) => {
    if (target.startsWith('*.')) return host.endsWith(target.slice(1))
    if (!target.includes('/')) return host === target
    return address !== null && isInRange(address, parseIpRange(target))
  })
}

/** Placeholder for this directory's own address in the URLs of first-party listings. */
export const BASE_URL_PLACEHOLDER = '{base_url}'

/** Longest URL in content; the relay limits paths to the same length. */
export const MAX_URL_LENGTH = 2000

/** Names that never mean a public host (RFC 6761, RFC 6762, RFC 8375, RFC 9476, cloud usage). */
const PRIVATE_SUFFIXES =
  'localhost local localdomain internal intranet lan home.arpa invalid test alt onion'.split(' ')

/** Public names that resolve to the address written in them, even if it is private. */
const ADDRESS_SUFFIXES = ['nip.io', 'sslip.io', 'xip.io', 'localtest.me', 'lvh.me']

/** Hosts that exist only while somebody's terminal is open. */
const TUNNEL_SUFFIXES = [
  ...['ngrok.io', 'ngrok.app', 'ngrok-free.app', 'ngrok-free.dev', 'trycloudflare.com'],
  ...['loca.lt', 'localhost.run', 'lhr.life', 'serveo.net'],
]

/**
 * @returns null if the URL is fine, else what is wrong with it and what would be right
 * @example findUrlFault('http://x.example/', { allowPrivate: false }) → 'expected an https URL, got
 *   http'
 */
export function findUrlFault(text: string, { allowPrivate }: UrlRules): string | null {
  if (text.length > MAX_URL_LENGTH)
    return `expected at most ${MAX_URL_LENGTH} characters, got ${text.length}`
  const shape = findShapeFault(text)
  if (shape !== null) return shape
  const url = URL.parse(text)
  if (url === null) return 'expected an absolute URL such as https://api.example.com/path'
  if (url.username !== '' || url.password !== '')
    return 'expected no user name or password in the URL'
  return findHostFault(url, allowPrivate) ?? findRepair(text, url)
}

/**
 * Rewrites the hosts in all addresses in a value, at any depth, as clients send them: letters
 * beyond ASCII in punycode. All other text stays as it is.
 * @example withAsciiHosts('https://größe.example.org/ü') → 'https://xn--gre-6ka8i.example.org/ü'
 */
export function withAsciiHosts<Value>(value: Value): Value {
  // Only hosts change, so the type stays the same.
  return hasForeignHost(value) ? (withAsciiHost(value) as Value) : value
}

/**
 * Like `withAsciiHosts`, for an address as a person types it, with or without a scheme. Text that
 * isn't an address stays as it is.
 * @example toAsciiAddress('Größe.example/a') → 'xn--gre-6ka8i.example/a'
 */
export function toAsciiAddress(text: string): string {
  if (text.includes('://')) return withAsciiHosts(text)
  return text.includes('.') ? withAsciiHosts(`https://${text}`).slice('https://'.length) : text
}

/** Hardly any listing has such a host, and copying every listing would take longer than all other steps here. */
function hasForeignHost(value: unknown): boolean {
  if (typeof value === 'string') return /^https?:\/\/[^/?#]*[^!-~/?#]/i.test(value)
  return typeof value === 'object' && value !== null && Object.values(value).some(hasForeignHost)
}

function withAsciiHost(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withAsciiHost)
  if (typeof value === 'string')
    return value.replace(/^(https?:\/\/)([^/?#]*)/i, (start, scheme: string, host: string) => {
      const isForeign = /[^!-~]/.test(host) && !/[%@\\\p{Z}\p{C}]/u.test(host)
      return (isForeign && URL.parse(start)?.host.replace(/^/, scheme)) || start
    })
  if (!isJsonObject(value) || Object.getPrototypeOf(value) !== Object.prototype) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, withAsciiHost(each)]),
  )
}

/** True for a host that is an IP address, in any spelling that WHATWG normalises. */
export function isIpHost(hostname: string): boolean {
  return hostname.startsWith('[') || /^\d{1,3}(\.\d{1,3}){3}$/.test(hostname)
}

export function isTunnelHost(hostname: string): boolean {
  return isUnderAny(hostname, TUNNEL_SUFFIXES)
}

/** Placeholder hosts for documentation (RFC 2606): valid, but not a real service. */
export function isPlaceholderHost(hostname: string): boolean {
  return isUnderAny(hostname, ['example.com', 'example.org', 'example.net', 'example'])
}

function findShapeFault(text: string): string | null {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: refusing them is the point
  if (/[\u0000-\u0020\u007f-\u00a0]|[\p{Default_Ignorable_Code_Point}\p{Z}]/u.test(text))
    return 'expected no spaces, control or invisible characters; percent-encode them'
  if (isTemplate(text))
    return 'expected a URL that can be called as it is, got a template; fill in its placeholders or leave the URL out'
  if (/[\\|^`"]/.test(text)) return 'expected no \\ | ^ ` or " in a URL; percent-encode them'
  if (!/^https?:\/\/[^/]/i.test(text)) return 'expected an absolute URL that starts with https://'
  return null
}

/** A template contains `{id}`, `<id>` (plain or percent-encoded), a path's `:id`, or "your API key goes here". */
function isTemplate(text: string): boolean {
  return (
    /[{}<>]|%7b[\w.-]*%7d|%3c[\w.-]*%3e/i.test(text) ||
    /(?<!\/)\/:[a-z_]/i.test(text) ||
    /=(?:your|my)[_-]?(?:api|access|secret)?[_-]?(?:key|token|secret|id)\b/i.test(text)
  )
}

function findHostFault(url: URL, allowPrivate: PrivateTargets): string | null {
  if (isPrivateTarget(allowPrivate, url.hostname)) return null
  if (url.protocol !== 'https:') return `expected an https URL, got ${url.protocol.slice(0, -1)}`
  if (url.port !== '') return `expected no port, got ${url.port}`
  const host = url.hostname
  if (isIpHost(host.replace(/\.$/, ''))) return `expected a host name, got the address ${host}`
  const labels = host.split('.')
  if (labels.length < 2) return `expected a public host name with a dot, got ${host}`
  if (!labels.every((label) => /^[a-z0-9_-]{1,63}$/.test(label)))
    return `expected a plain host name, in parts of 1 to 63 letters, digits, "-" or "_", got ${host}`
  return isUnderAny(host, [...PRIVATE_SUFFIXES, ...ADDRESS_SUFFIXES])
    ? `expected a public host, got ${host}`
    : null
}

/** Finds what parsing would repair: a host in foreign letters or escapes, a default port, or dot segments. */
function findRepair(text: string, url: URL): string | null {
  const [, written = '', path = ''] = /^https?:\/\/([^/?#]*)([^?#]*)/i.exec(text) ?? []
  // Letters such as the Kelvin sign fold into ASCII, so only names written in ASCII are compared.
  if (!/^[\x21-\x7e]*$/.test(written) || written.toLowerCase() !== url.host)
    return `expected the host in the form that clients use, ${url.host}, got ${written}`
  return path.split('/').some((segment) => /^(?:\.|%2e){1,2}$/i.test(segment))
    ? 'expected a path without . and .. segments'
    : null
}

function isUnderAny(host: string, suffixes: readonly string[]): boolean {
  return suffixes.some((suffix) => host === suffix || host.endsWith(`.${suffix}`))
}

export function urlSchema(rules: UrlRules) {
  return checkedText('expected a URL', (text) => findUrlFault(text, rules))
}

/**
 * A host as people write it, in Unicode. It stays in punycode if a word in it mixes two scripts,
 * because forged hosts have names that look like others.
 * @example toShownHost('xn--gre-6ka8i.example.org') → 'größe.example.org'
 */
export function toShownHost(host: string): string {
  if (!host.includes('xn--') || findHostForgery(host) !== null) return host
  return toUnicodeHost(host)
}

/** Why a host could be mistaken for another one; null for every ordinary host. */
export function findHostForgery(host: string): string | null {
  return host.includes('xn--') ? findTextFault(toUnicodeHost(host)) : null
}

function toUnicodeHost(host: string): string {
  try {
    const shown = punycode.toUnicode(host)
    // Punycode stays if a client would not parse the Unicode form back into the same host.
    return URL.parse(`https://${shown}`)?.host === host ? shown : host
  } catch {
    return host
  }
}

/**
 * Addresses as numbers. No package is used: the packages that we looked at call `::7f00:1` or
 * `100:0:0:1::1` ordinary unicast, and if both families share a block list, `::ffff:0:0/96` covers
 * every IPv4 address.
 */
interface IpAddress {
  family: 4 | 6
  /** 32 or 128 bits. */
  value: bigint
}

/** An address block: every address whose first `bits` bits are those of `first`. */
export type IpRange = ReturnType<typeof parseIpRange>

const WIDTH = { 4: 32, 6: 128 } as const

/**
 * Parses four decimal numbers without leading zeros, or RFC 4291 groups; no zone, brackets, octal
 * or hexadecimal IPv4. Null for anything else.
 * @example parseIpAddress('127.0.0.1') → { family: 4, value: 0x7f000001n }
 */
export function parseIpAddress(text: string): IpAddress | null {
  const value = text.includes(':') ? parseIpv6(text) : parseIpv4(text)
  if (value === null) return null
  return { family: text.includes(':') ? 6 : 4, value }
}

/** Throws on a malformed block: the blocks are ours. @example parseIpRange('10.0.0.0/8') */
export function parseIpRange(text: string) {
  const [head = '', bits = ''] = text.split('/')
  const address = parseIpAddress(head)
  if (address === null || !/^\d{1,3}$/.test(bits) || Number(bits) > WIDTH[address.family])
    throw new Error(`${text}: expected an address block such as 10.0.0.0/8`)
  return { family: address.family, first: address.value, bits: Number(bits) }
}

export function isInRange(address: IpAddress, range: IpRange): boolean {
  if (address.family !== range.family) return false
  const rest = BigInt(WIDTH[range.family] - range.bits)
  return address.value >> rest === range.first >> rest
}

function parseIpv4(text: string): bigint | null {
  const parts = text.split('.')
  if (parts.length !== 4) return null
  let value = 0n
  for (const part of parts) {
    if (!/^(?:0|[1-9]\d{0,2})$/.test(part) || Number(part) > 255) return null
    value = (value << 8n) | BigInt(part)
  }
  return value
}

/** The URL parser knows the IPv6 grammar and prints each address in one form; only IPv6 characters reach it. */
function parseIpv6(text: string): bigint | null {
  const host = /^[0-9a-f:.]+$/i.test(text) ? URL.parse(`http://[${text}]/`)?.hostname : undefined
  if (host === undefined) return null
  const [head = [], tail = []] = host
    .slice(1, -1)
    .split('::')
    .map((half) => half.split(':').filter((group) => group !== ''))
  const zeros = Array.from({ length: 8 - head.length - tail.length }, () => '0')
  return [...head, ...zeros, ...tail].reduce(
    (sum, group) => (sum << 16n) | BigInt(`0x${group}`),
    0n,
  )
}
