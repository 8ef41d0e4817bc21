import { parse } from 'tldts'
import * as v from 'valibot'
import { isIpHost, isPrivateTarget, type PrivateTargets } from '../listing/target-url.ts'
import { textLike } from '../wire/shapes.ts'
import { CLAIM_METHODS, type ClaimMethod } from '../wire/vocabulary.ts'

/** Whether a listing can be claimed by a method: the host to prove, or the reason why not. */
type ClaimVerdict = { allowed: true; host: ClaimHost } | { allowed: false; detail: string }

/** The host that a proof is valid for, and the mail domain or repositories that can prove it. */
export type ClaimHost = ReturnType<typeof readClaimHost>

const GITHUB = 'https://github.com'
/** The issuer of workflow tokens, unless `OIDC_ISSUER` names another. */
export const GITHUB_ISSUER = 'https://token.actions.githubusercontent.com'

export interface ClaimRules {
  /** `UNSAFE_ALLOW_PRIVATE_TARGETS` */
  allowPrivate: PrivateTargets
  sharedHosts: SharedHosts
  /** Issuer of workflow tokens: `OIDC_ISSUER`. */
  issuer: string
}

/** Whether this listing can be claimed by this method; the decision depends only on its stored URL. */
export function judgeClaim(
  listingUrl: string,
  method: ClaimMethod,
  rules: ClaimRules,
): ClaimVerdict {
  const host = readClaimHost(listingUrl, method, rules)
  const owner = findHostOwner(hostOf(listingUrl) ?? '', rules.sharedHosts)
  const detail =
    method !== 'oidc'
      ? findRefusal(host, owner, method, rules)
      : host.repositories.length > 0
        ? null
        : `The listing's URL is not a repository or page on the code host of ${rules.issuer}, so no workflow can speak for it. Use well_known or dns_txt.`
  return detail === null ? { allowed: true, host } : { allowed: false, detail }
}

/** The methods that `judgeClaim` accepts for this listing, and a sentence for its owner. */
export function toClaimWays(
  listingUrl: string,
  rules: ClaimRules,
  baseUrl: string,
): { methods: ClaimMethod[]; how: string } {
  const methods: ClaimMethod[] = []
  const [ways, refusals]: [string[], string[]] = [[], []]
  for (const method of CLAIM_METHODS) {
    const verdict = judgeClaim(listingUrl, method, rules)
    if (verdict.allowed) methods.push(method)
    if (verdict.allowed) ways.push(toWay(method, verdict.host))
    else refusals.push(verdict.detail)
  }
  if (methods.length === 0)
    return { methods, how: `This listing cannot be claimed. ${refusals[0]}` }
  const start = `Sign in at ${baseUrl}/sellers, start a claim for this listing and prove that it is yours`
  return { methods, how: `${start}: ${ways.join(', or ')}.` }
}

function toWay(method: ClaimMethod, { host, mailDomain, repositories }: ClaimHost): string {
  switch (method) {
    case 'well_known':
      return `by a file under https://${host}/.well-known/`
    case 'dns_txt':
      return `by a DNS TXT record under ${host}`
    case 'contact_email':
      return `by an email address at ${mailDomain}`
    case 'oidc':
      return `by a workflow of the repository ${repositories.join(' or ')}`
  }
}

export function readClaimHost(
  listingUrl: string,
  method: ClaimMethod,
  { sharedHosts, issuer }: Pick<ClaimRules, 'sharedHosts' | 'issuer'>,
) {
  const host = hostOf(listingUrl) ?? ''
  const url = new URL(listingUrl)
  const { origin } = url
  const repositories = findRepositories(url, issuer)
  // A workflow speaks for its repository, not for the host that holds all repositories.
  const isPart = method === 'oidc' && origin === codeHostOf(issuer)
  return {
    /** Exactly the listing's host: the proof is valid for no other host. */
    host: isPart ? `${host}/${repositories[0]}` : host,
    /** Scheme, host and port of the listing's URL. */
    origin,
    /** The domain whose email addresses prove the listing: the registered domain, or a tenant's own name. */
    mailDomain: ownerAt(host, sharedHosts),
    /** For a page on the code host: `owner/name` of the repositories that can have published the page. */
    repositories,
  }
}

function findRepositories(url: URL, issuer: string): string[] {
  const { origin, hostname } = url
  const codeHost = codeHostOf(issuer)
  const [first, second] = pathNames(url)
  if (origin === codeHost) return second === '' ? [] : [`${first}/${second}`]
  const [, owner] = /^([a-z0-9-]+)\.github\.io$/.exec(hostname) ?? []
  if (owner === undefined || codeHost !== GITHUB) return []
  // A page below the host's root comes from its own repository, or from the whole host's repository.
  return [`${owner}/${hostname}`, ...(first === '' ? [] : [`${owner}/${first}`])]
}

/** GitHub's tokens come from a separate host; a private installation issues its own. */
function codeHostOf(issuer: string): string {
  return issuer === GITHUB_ISSUER ? GITHUB : new URL(issuer).origin
}

function findRefusal(
  { host, repositories }: ClaimHost,
  owner: HostOwner,
  method: ClaimMethod,
  { allowPrivate, sharedHosts }: ClaimRules,
): string | null {
  if (owner.kind === 'nobody') {
    if (!owner.isLocal)
      return `The listing's host ${host} is a public suffix that many parties share, so control of it proves nothing about this listing.`
    return isPrivateTarget(allowPrivate, host) && method === 'well_known'
      ? null
      : `The listing's host ${host} is an address or a local name, and nobody can prove that they own one.`
  }
  if (owner.kind === 'tenant')
    return method === 'well_known'
      ? null
      : `${host} is a tenant's name under a shared suffix, so it can be claimed only by well_known on ${host} itself or, for a page of a code host, by oidc.`
  const { domain, isPlatform } = owner
  if (isPlatform)
    return `The listing's URL is a page on ${domain}, a platform of many publishers, so it cannot be claimed there. ${repositories.length === 0 ? 'List it under a host of your own, then claim that.' : 'Use oidc: a workflow of the repository proves it.'}`
  return method === 'contact_email' && isWebmail(domain, sharedHosts)
    ? `Anybody can have an address at ${domain}, so it proves nothing here. Use well_known or dns_txt.`
    : null
}

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
 * The owner of a host. `nobody`: the host is an address, a local name, or a suffix that many share (or above
 * one). `tenant`: one customer's name under such a suffix. `owned`: under a domain that somebody registered.
 */
type HostOwner =
  | { kind: 'nobody'; isLocal: boolean }
  | { kind: 'tenant'; domain: string }
  | { kind: 'owned'; domain: string; isPlatform: boolean }

/** The Public Suffix List decides first, including its private part; then the table decides. */
export function findHostOwner(name: string, shared: SharedHosts): HostOwner {
  if (isIpHost(name) || name === 'localhost' || name.endsWith('.localhost'))
    return { kind: 'nobody', isLocal: true }
  const { domain, isPrivate } = readSuffix(name)
  if (domain === null) return { kind: 'nobody', isLocal: false }
  if (isPrivate === true) return { kind: 'tenant', domain }
  if (shared.tenants.includes(name)) return { kind: 'nobody', isLocal: false }
  // Suffixes give their customers different numbers of labels: only the whole name certainly has a single owner.
  if (shared.tenants.some((suffix) => name.endsWith(`.${suffix}`)))
    return { kind: 'tenant', domain: name }
  return { kind: 'owned', domain, isPlatform: shared.platforms.includes(domain) }
}

/** Null for a host that nobody owns. @example ownerDomainOf('a.foo.vercel.app', shared) → 'foo.vercel.app' */
export function ownerDomainOf(name: string, shared: SharedHosts): string | null {
  const owner = findHostOwner(name, shared)
  return owner.kind === 'nobody' ? null : owner.domain
}

/** The registered domain of an address, if only its owner publishes there; null on a platform or under a tenants' suffix. */
export function ownDomainOf(url: string, shared: SharedHosts): string | null {
  const owner = findHostOwner(hostOf(url) ?? '', shared)
  return owner.kind === 'owned' && !owner.isPlatform ? owner.domain : null
}

/** Like `ownerDomainOf`, but addresses and local names, which only trials list, are their own domains. */
export function ownerAt(host: string, shared: SharedHosts): string {
  return ownerDomainOf(host, shared) ?? host
}

/** Whether a page is certainly by the host's owner: on a platform anybody may have written it. */
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

/** Whether a name ends like a name on the public internet. @example isPublicName('node.js') → false */
export function isPublicName(name: string): boolean {
  const { isIcann, isPrivate } = readSuffix(name)
  return isIcann === true || isPrivate === true
}

/** A URL's host, written as in proofs; null if the URL is not absolute. */
export function hostOf(url: string): string | null {
  return URL.parse(url)?.hostname.replace(/\.$/, '') ?? null
}

/** Whether a proof of control over a place is valid for a URL. A place is a host, or a repository on a code host. */
export function isProvedAt(url: string, place: string | undefined): boolean {
  const host = hostOf(url)
  if (host === null || place === undefined || !place.includes('/')) return host === place
  const [owner, repository] = pathNames(new URL(url))
  return place === `${host}/${owner}/${repository}`
}

/** The owner of a page on a code host, and its repository. @example → ['acme', 'tides'] */
function pathNames({ pathname }: URL): [owner: string, repository: string] {
  const [, owner = '', repository = ''] = pathname.toLowerCase().split('/')
  return [owner, repository.replace(/\.git$/, '')]
}

function readSuffix(name: string) {
  return parse(name, { allowPrivateDomains: true, validateHostname: false })
}
