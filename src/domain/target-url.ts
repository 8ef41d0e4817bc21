/**
 * What a listing's URL may look like. Judged on the text as well as on the parsed URL: WHATWG
 * parsing repairs tabs, backslashes and odd hosts silently, and a repaired URL is not what a
 * reviewer read.
 *
 * Known limit: names are not resolved here. The relay and the claim checks judge addresses when
 * they dial.
 */
export interface UrlRules {
  /** `UNSAFE_ALLOW_PRIVATE_TARGETS`: loopback, private hosts, ports and plain http are let in. */
  allowPrivate: boolean
}

/** In a first-party listing's URLs: the address this directory itself is served at. */
export const BASE_URL_PLACEHOLDER = '{base_url}'

/** Longest URL in content; the relay's own limit for a path is the same. */
export const MAX_URL_LENGTH = 2000

/** Names that never mean a public host (RFC 6761, RFC 6762, RFC 8375, RFC 9476, and cloud habit). */
const PRIVATE_SUFFIXES = [
  'localhost',
  'local',
  'internal',
  'intranet',
  'lan',
  'home.arpa',
  'invalid',
  'test',
  'alt',
  'onion',
]

/** Hosts that live as long as somebody's terminal is open. */
const TUNNEL_SUFFIXES = [
  'trycloudflare.com',
  'ngrok.io',
  'ngrok.app',
  'ngrok-free.app',
  'loca.lt',
  'localhost.run',
  'serveo.net',
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
  if (allowPrivate) return findOpenFault(url)
  return findPublicFault(url)
}

/** True for a host that is an address, in any spelling WHATWG normalises. */
export function isIpHost(hostname: string): boolean {
  return hostname.startsWith('[') || /^\d{1,3}(\.\d{1,3}){3}$/.test(hostname)
}

export function isTunnelHost(hostname: string): boolean {
  return TUNNEL_SUFFIXES.some((suffix) => isAtOrUnder(hostname, suffix))
}

/** Placeholder hosts of documentation (RFC 2606): inert, but no real service. */
export function isPlaceholderHost(hostname: string): boolean {
  return ['example.com', 'example.org', 'example.net', 'example'].some((suffix) =>
    isAtOrUnder(hostname, suffix),
  )
}

function findShapeFault(text: string): string | null {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: refusing them is the point
  if (/[\u0000-\u0020\u007f-\u00a0\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/.test(text))
    return 'expected no spaces, control or invisible characters; percent-encode them'
  if (/[{}<>]/.test(text))
    return 'expected a callable URL, got a template with { } or < >; fill it in or leave it out'
  if (/[\\|^`"]/.test(text)) return 'expected no \\ | ^ ` or " in a URL; percent-encode them'
  if (!/^https?:\/\/[^/]/i.test(text)) return 'expected an absolute URL that starts with https://'
  return null
}

function findOpenFault(url: URL): string | null {
  return url.protocol === 'https:' || url.protocol === 'http:'
    ? null
    : 'expected an http or https URL'
}

function findPublicFault(url: URL): string | null {
  if (url.protocol !== 'https:') return `expected an https URL, got ${url.protocol.slice(0, -1)}`
  if (url.port !== '') return `expected no port, got ${url.port}`
  const host = url.hostname.replace(/\.$/, '')
  if (isIpHost(host)) return `expected a host name, got the address ${host}`
  if (!host.includes('.')) return `expected a public host name with a dot, got ${host}`
  if (PRIVATE_SUFFIXES.some((suffix) => isAtOrUnder(host, suffix)))
    return `expected a public host, got ${host}`
  if (!/^[a-z0-9._-]+$/.test(host)) return `expected a plain host name, got ${host}`
  return null
}

function isAtOrUnder(host: string, suffix: string): boolean {
  return host === suffix || host.endsWith(`.${suffix}`)
}
