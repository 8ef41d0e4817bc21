import { parse } from 'tldts'
import * as v from 'valibot'
import { isIpHost } from '../listing/target-url.ts'
import { textLike } from '../wire/shapes.ts'

const host = textLike(
  /^(?:[a-z0-9]+(?:-+[a-z0-9]+)*\.)+(?:\*|[a-z0-9]+(?:-+[a-z0-9]+)*)$/,
  'expected a host name in lower case such as shop.example, or shop.*',
)
const hosts = v.pipe(
  v.array(host),
  v.check((list) => new Set(list).size === list.length, 'expected each host once'),
)

/** `tables/shared_hosts.yaml`: shared hosts that the Public Suffix List does not know. */
export const SharedHostsSchema = v.strictObject({
  /** Registrable domains where strangers publish side by side under one host. */
  platforms: hosts,
  /** Suffixes under which each customer gets names of its own. */
  tenants: hosts,
  /** Domains where anybody gets a mailbox; `yahoo.*` is yahoo under every public suffix. */
  webmail: hosts,
})
export type SharedHosts = v.InferOutput<typeof SharedHostsSchema>

/**
 * The owner of a host. `nobody`: an address, a local name, or at or above a suffix that many share.
 * `tenant`: one customer's name under such a suffix. `owned`: under a domain somebody registered.
 */
export type HostOwner =
  | { kind: 'nobody'; isLocal: boolean }
  | { kind: 'tenant'; domain: string }
  | { kind: 'owned'; domain: string; isPlatform: boolean }

/** The Public Suffix List decides first, its private part too; then the table. */
export function findHostOwner(name: string, shared: SharedHosts): HostOwner {
  if (isIpHost(name) || name === 'localhost' || name.endsWith('.localhost'))
    return { kind: 'nobody', isLocal: true }
  const { domain, isPrivate } = readSuffix(name)
  if (domain === null) return { kind: 'nobody', isLocal: false }
  if (isPrivate === true) return { kind: 'tenant', domain }
  if (shared.tenants.includes(name)) return { kind: 'nobody', isLocal: false }
  // How many labels a customer gets differs by suffix: only the whole name surely has one owner.
  if (shared.tenants.some((suffix) => name.endsWith(`.${suffix}`)))
    return { kind: 'tenant', domain: name }
  return { kind: 'owned', domain, isPlatform: shared.platforms.includes(domain) }
}

/** Null for nobody's. @example ownerDomainOf('a.foo.vercel.app', shared) → 'foo.vercel.app' */
export function ownerDomainOf(name: string, shared: SharedHosts): string | null {
  const owner = findHostOwner(name, shared)
  return owner.kind === 'nobody' ? null : owner.domain
}

/** The registered domain of an address, where its owner alone publishes; null on a platform or under a tenants' suffix. */
export function ownDomainOf(url: string, shared: SharedHosts): string | null {
  const owner = findHostOwner(hostOf(url) ?? '', shared)
  return owner.kind === 'owned' && !owner.isPlatform ? owner.domain : null
}

/** The same, with addresses and local names, which only trials list, as their own domains. */
export function ownerAt(host: string, shared: SharedHosts): string {
  return ownerDomainOf(host, shared) ?? host
}

/** Whether a page is surely by the host's owner: on a platform it may be anybody's. */
export function isOnSiteOf(page: string | undefined, host: string, shared: SharedHosts): boolean {
  const there = hostOf(page ?? '')
  if (there === null) return false
  const owner = findHostOwner(there, shared)
  const isShared = owner.kind === 'owned' && owner.isPlatform
  return !isShared && ownerAt(there, shared) === ownerAt(host, shared)
}

export function isWebmail(domain: string, { webmail }: SharedHosts): boolean {
  const { domainWithoutSuffix } = readSuffix(domain)
  return webmail.includes(domain) || webmail.includes(`${domainWithoutSuffix}.*`)
}

/** Whether a name ends like one of the public internet. @example isPublicName('node.js') → false */
export function isPublicName(name: string): boolean {
  const { isIcann, isPrivate } = readSuffix(name)
  return isIcann === true || isPrivate === true
}

/** The host of a URL as in proofs; null without an absolute URL. */
export function hostOf(url: string): string | null {
  return URL.parse(url)?.hostname.replace(/\.$/, '') ?? null
}

/** Whether a proof of a place covers a URL. A place is a host, or a repository on a code host. */
export function isProvedAt(url: string, place: string | undefined): boolean {
  const host = hostOf(url)
  if (host === null || place === undefined || !place.includes('/')) return host === place
  const [owner, repository] = pathNames(url)
  return place === `${host}/${owner}/${repository}`
}

/** Who owns the page on a code host, and the repository. @example → ['acme', 'tides'] */
export function pathNames(url: string): [owner: string, repository: string] {
  const [, owner = '', repository = ''] = new URL(url).pathname.toLowerCase().split('/')
  return [owner, repository.replace(/\.git$/, '')]
}

function readSuffix(name: string) {
  return parse(name, { allowPrivateDomains: true, validateHostname: false })
}
