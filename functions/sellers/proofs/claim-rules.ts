import { parse } from 'tldts'
import { isIpHost } from '../../../src/domain/listing/target-url.ts'
import type { ClaimMethod } from '../../../src/domain/wire/vocabulary.ts'
import { isPublicMail, isSharedPlatform } from './shared-platforms.ts'

/** What a listing's host lets a seller prove. A method that is missing comes with its reason. */
export type ClaimVerdict = { allowed: true; host: ClaimHost } | { allowed: false; detail: string }

export interface ClaimHost {
  /** Exactly the listing's host: the proof covers no other. */
  host: string
  /** Scheme, host and port of the listing's URL. */
  origin: string
  /** The domain somebody registered, private suffixes honoured; null for addresses and localhost. */
  registrableDomain: string | null
}

/**
 * May this listing be claimed by this method? Everything is read from the listing's stored URL,
 * nothing from the request.
 *
 * @param allowPrivate `UNSAFE_ALLOW_PRIVATE_TARGETS`
 */
export function judgeClaim(
  listingUrl: string,
  method: ClaimMethod,
  { allowPrivate }: { allowPrivate: boolean },
): ClaimVerdict {
  const claimHost = readClaimHost(listingUrl)
  const { host, registrableDomain } = claimHost
  const refusal =
    registrableDomain === null
      ? judgeUnregistered(host, method, allowPrivate)
      : judgeRegistered(host, registrableDomain, method)
  return refusal === null ? { allowed: true, host: claimHost } : { allowed: false, detail: refusal }
}

export function readClaimHost(listingUrl: string): ClaimHost {
  const { hostname, origin } = new URL(listingUrl)
  const host = hostname.replace(/\.$/, '')
  return { host, origin, registrableDomain: registrableDomainOf(host) }
}

/** @example registrableDomainOf('a.foo.vercel.app') → 'foo.vercel.app' */
export function registrableDomainOf(host: string): string | null {
  return parse(host, { allowPrivateDomains: true, validateHostname: false }).domain
}

/** Addresses, localhost, and hosts at or above a public suffix: nobody's own name. */
function judgeUnregistered(
  host: string,
  method: ClaimMethod,
  allowPrivate: boolean,
): string | null {
  const isLocal = isIpHost(host) || host === 'localhost' || host.endsWith('.localhost')
  if (isLocal && allowPrivate && method === 'well_known') return null
  return isLocal
    ? `The listing's host ${host} is an address or a local name, which nobody can prove to own.`
    : `The listing's host ${host} is a public suffix that many share, so control of it proves nothing about this listing.`
}

function judgeRegistered(host: string, domain: string, method: ClaimMethod): string | null {
  if (isSharedPlatform(domain)) {
    return `The listing's URL is a page on ${domain}, a platform many publish on, so it cannot be claimed there. List it under a host of your own, then claim that.`
  }
  const { isPrivate } = parse(host, { allowPrivateDomains: true, validateHostname: false })
  if (isPrivate === true && method !== 'well_known') {
    return `${host} is a tenant's name under a shared suffix, so it can be claimed only by well_known, on ${host} itself.`
  }
  if (method === 'contact_email' && isPublicMail(domain)) {
    return `Anybody can have an address at ${domain}, so it proves nothing here. Use well_known or dns_txt.`
  }
  return null
}
