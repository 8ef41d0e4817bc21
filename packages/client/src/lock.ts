import { judgeOffer, readOffer, toExpectText } from '../../../src/domain/relay/pins.ts'
import { WaypostError } from './waypost-error.ts'

/** What differs from the pin. Written out here because the package's types may name no file outside it. */
export interface Difference {
  what: 'digest' | 'payee' | 'price'
  expected: string
  found: string
}

/** A listing's facts that a caller relies on, as `waypost pin` writes them. */
export interface LockEntry {
  /** Digest of the whole listing; null if only some calls are pinned. */
  digest: string | null
  hosts: string[]
  /** The most that a call may cost, in US dollars; null if no price is known. */
  max_usd: number | null
  /** Addresses by network (CAIP-2). */
  payees: Record<string, string[]>
  /** Operations, tools and skills, each with the digest of what its caller relies on. */
  calls: Record<string, string>
}

/** `waypost.lock`, parsed. */
export interface Lock {
  version: 1
  /** The lock's directory: the same id may mean another service in another directory. */
  directory: string
  listings: Record<string, LockEntry>
}

/** @throws WaypostError `changed` if the listing is not pinned */
export function pinnedIn(lock: Lock, id: string): LockEntry {
  const entry = lock.listings[id]
  if (entry === undefined)
    throw new WaypostError('changed', `${id} is not in the lock: pin it first. Nothing was sent.`)
  return entry
}

/** The pinned facts that the relay must compare. @param digest the listing's accepted digest */
export function toExpected(entry: LockEntry, digest: string): string {
  const payee = toAccounts(entry)
  return toExpectText({
    digest,
    ...(payee.length > 0 && { payee }),
    ...(entry.max_usd !== null && { max_usd: entry.max_usd }),
  })
}

/**
 * A policy for an `x402Client`: keeps a seller's offers that the lock allows.
 * @throws WaypostError `changed` if the listing is not pinned
 * @example new x402Client().register(…).registerPolicy(allowedBy(lock, 'x402.exa'))
 */
export function allowedBy(lock: Lock, id: string) {
  const entry = pinnedIn(lock, id)
  return <Offer>(_version: number, offers: Offer[]): Offer[] =>
    offers.filter((offer) => judgePinned(entry, readOffer(offer)).length === 0)
}

/** Why an offer may not be used. If the lock names no payee, no offer may be used. */
export function judgePinned(
  entry: LockEntry,
  offered: { payee: string | null; usd: number | null },
): Difference[] {
  const payee = toAccounts(entry)
  return judgeOffer(offered, {
    payee: payee.length > 0 ? payee : ['one that is pinned'],
    ...(entry.max_usd !== null && { max_usd: entry.max_usd }),
  })
}

/** CAIP-10. */
function toAccounts({ payees }: LockEntry): string[] {
  return Object.entries(payees).flatMap(([network, addresses]) =>
    addresses.map((address) => `${network}:${address}`),
  )
}
