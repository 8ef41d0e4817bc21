import { isPrivateTarget, type PrivateTargets } from '../../../src/domain/listing/target-url.ts'
import {
  findHostOwner,
  type HostOwner,
  hostOf,
  isWebmail,
  ownerDomainOf,
  type SharedHosts,
} from '../../../src/domain/owners/shared-hosts.ts'
import type { ClaimMethod } from '../../../src/domain/wire/vocabulary.ts'

/** What a listing's host lets a seller prove. A method that is missing comes with its reason. */
export type ClaimVerdict = { allowed: true; host: ClaimHost } | { allowed: false; detail: string }

export interface ClaimHost {
  /** Exactly the listing's host: the proof covers no other. */
  host: string
  /** Scheme, host and port of the listing's URL. */
  origin: string
  /** The domain somebody registered, or a tenant's own name; null for addresses and localhost. */
  registrableDomain: string | null
}

export interface ClaimRules {
  /** `UNSAFE_ALLOW_PRIVATE_TARGETS` */
  allowPrivate: PrivateTargets
  sharedHosts: SharedHosts
}

/**
 * May this listing be claimed by this method? Everything is read from the listing's stored URL,
 * nothing from the request.
 */
export function judgeClaim(
  listingUrl: string,
  method: ClaimMethod,
  { allowPrivate, sharedHosts }: ClaimRules,
): ClaimVerdict {
  const host = readClaimHost(listingUrl, sharedHosts)
  const owner = findHostOwner(host.host, sharedHosts)
  const detail = findRefusal(host.host, owner, method, { allowPrivate, sharedHosts })
  return detail === null ? { allowed: true, host } : { allowed: false, detail }
}

export function readClaimHost(listingUrl: string, sharedHosts: SharedHosts): ClaimHost {
  const host = hostOf(listingUrl) ?? ''
  return {
    host,
    origin: new URL(listingUrl).origin,
    registrableDomain: ownerDomainOf(host, sharedHosts),
  }
}

function findRefusal(
  host: string,
  owner: HostOwner,
  method: ClaimMethod,
  { allowPrivate, sharedHosts }: ClaimRules,
): string | null {
  if (owner.kind === 'nobody') {
    if (!owner.isLocal)
      return `The listing's host ${host} is a public suffix that many share, so control of it proves nothing about this listing.`
    return isPrivateTarget(allowPrivate, host) && method === 'well_known'
      ? null
      : `The listing's host ${host} is an address or a local name, which nobody can prove to own.`
  }
  if (owner.kind === 'tenant')
    return method === 'well_known'
      ? null
      : `${host} is a tenant's name under a shared suffix, so it can be claimed only by well_known, on ${host} itself.`
  const { domain, isPlatform } = owner
  if (isPlatform)
    return `The listing's URL is a page on ${domain}, a platform many publish on, so it cannot be claimed there. List it under a host of your own, then claim that.`
  return method === 'contact_email' && isWebmail(domain, sharedHosts)
    ? `Anybody can have an address at ${domain}, so it proves nothing here. Use well_known or dns_txt.`
    : null
}
