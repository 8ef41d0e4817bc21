import { isInRange, parseIpAddress, parseIpRange } from '../wire/ip-address.ts'
import { isJsonObject } from '../wire/json.ts'
import { checkedText } from '../wire/shapes.ts'

/**
 * Judged both as text and parsed: WHATWG parsing repairs tabs, backslashes, odd hosts and dot
 * segments silently, and a repaired URL is not what a reviewer read.
 *
 * Known limit: names are not resolved here. Addresses are judged when they are dialled.
 */
export interface UrlRules {
  allowPrivate: PrivateTargets
}

/**
 * Reachable targets in addition to public hosts. True is `UNSAFE_ALLOW_PRIVATE_TARGETS`: loopback,
 * private hosts, ports and plain http. A list is `PRIVATE_HOSTS`: names, `*.corp.example` for all
 * below one, and blocks of addresses such as 10.0.0.0/8.
 */
export type PrivateTargets = boolean | readonly string[]

/** True for a host that `PRIVATE_HOSTS` names, or an address in one of its blocks. */
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

/** In a first-party listing's URLs: the address of this directory itself. */
export const BASE_URL_PLACEHOLDER = '{base_url}'

/** Longest URL in content; the relay's own limit for a path is the same. */
export const MAX_URL_LENGTH = 2000

/** Names that never mean a public host (RFC 6761, RFC 6762, RFC 8375, RFC 9476, cloud usage). */
const PRIVATE_SUFFIXES =
  'localhost local localdomain internal intranet lan home.arpa invalid test alt onion'.split(' ')

/** Public names that resolve to the address written in them, including private ones. */
const ADDRESS_SUFFIXES = ['nip.io', 'sslip.io', 'xip.io', 'localtest.me', 'lvh.me']

/** Hosts that exist only while somebody's terminal is open. */
const TUNNEL_SUFFIXES = [
  ...['ngrok.io', 'ngrok.app', 'ngrok-free.app', 'ngrok-free.dev', 'trycloudflare.com'],
  ...['loca.lt', 'localhost.run', 'lhr.life', 'serveo.net'],
]

/**
 * @returns null when the URL is fine, else what is wrong with it and what would be right.
 * @example findUrlFault('http://x.example/', { allowPrivate: false }) → 'expected an https URL, got http'
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
 * Addresses with the host as clients send it, punycode for letters beyond ASCII, in texts however
 * deep; every other text stays as it is.
 *
 * @example withAsciiHosts('https://größe.example.org/ü') → 'https://xn--gre-6ka8i.example.org/ü'
 */
export function withAsciiHosts<Value>(value: Value): Value {
  // Only hosts change: every shape stays.
  return withAsciiHost(value) as Value
}

/**
 * An address as a person types it, with or without its scheme, with its host as clients send it; a
 * text that isn't an address stays as it is.
 *
 * @example toAsciiAddress('Größe.example/a') → 'xn--gre-6ka8i.example/a'
 */
export function toAsciiAddress(text: string): string {
  if (text.includes('://')) return withAsciiHosts(text)
  return text.includes('.') ? withAsciiHosts(`https://${text}`).slice('https://'.length) : text
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

/** True for a host that is an address, in any spelling WHATWG normalises. */
export function isIpHost(hostname: string): boolean {
  return hostname.startsWith('[') || /^\d{1,3}(\.\d{1,3}){3}$/.test(hostname)
}

export function isTunnelHost(hostname: string): boolean {
  return isUnderAny(hostname, TUNNEL_SUFFIXES)
}

/** Placeholder hosts of documentation (RFC 2606): inert, but no real service. */
export function isPlaceholderHost(hostname: string): boolean {
  return isUnderAny(hostname, ['example.com', 'example.org', 'example.net', 'example'])
}

function findShapeFault(text: string): string | null {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: refusing them is the point
  if (/[\u0000-\u0020\u007f-\u00a0]|[\p{Default_Ignorable_Code_Point}\p{Z}]/u.test(text))
    return 'expected no spaces, control or invisible characters; percent-encode them'
  if (isTemplate(text))
    return 'expected a URL that can be called as it is, got a template; fill it in or leave it out'
  if (/[\\|^`"]/.test(text)) return 'expected no \\ | ^ ` or " in a URL; percent-encode them'
  if (!/^https?:\/\/[^/]/i.test(text)) return 'expected an absolute URL that starts with https://'
  return null
}

/** `{id}`, `<id>`, both percent-encoded, a path's `:id`, and "your API key goes here". */
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
    return `expected a plain host name, got ${host}`
  return isUnderAny(host, [...PRIVATE_SUFFIXES, ...ADDRESS_SUFFIXES])
    ? `expected a public host, got ${host}`
    : null
}

/** A host in foreign letters or escapes, a default port and dot segments are read otherwise. */
function findRepair(text: string, url: URL): string | null {
  const [, written = '', path = ''] = /^https?:\/\/([^/?#]*)([^?#]*)/i.exec(text) ?? []
  // Letters such as the Kelvin sign fold into ASCII: only originally ASCII names are compared.
  if (!/^[\x21-\x7e]*$/.test(written) || written.toLowerCase() !== url.host)
    return `expected the host as clients read it, ${url.host}, got ${written}`
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

/** Also `{base_url}/docs`. One check: a union of two strings would drop what was wrong. */
export function ownUrlSchema(rules: UrlRules) {
  return checkedText('expected a URL', (text) => {
    if (!text.startsWith(BASE_URL_PLACEHOLDER)) return findUrlFault(text, rules)
    const path = text.slice(BASE_URL_PLACEHOLDER.length)
    if (!path.startsWith('/')) return `expected a path after ${BASE_URL_PLACEHOLDER}, such as /docs`
    return findUrlFault(`https://directory.example${path}`, rules)
  })
}
