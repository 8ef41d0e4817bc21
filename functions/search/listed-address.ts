import { toAsciiAddress } from '../../src/domain/listing/target-url.ts'
import { isPublicName, ownerAt, type SharedHosts } from '../../src/domain/sellers/claim-rules.ts'
import { type NotListedReason, toAddressNote } from '../../src/domain/sellers/not-listed.ts'
import { findExact } from '../../src/search/index/exact-table.ts'
import { findId, type SearchIndex } from '../../src/search/index/index-file.ts'
import type { Release } from '../release/release.ts'

const ADDRESS = /^(https?:\/\/)?(?:[a-z0-9-]+\.)+[a-z0-9-]+(?::\d+)?(?:[/?#]\S*)?$/i

/** Why a searched address has no listing; null for other texts, and for a listed one. */
export function noteOnAddress(
  index: SearchIndex,
  text: string,
  { findNotListed, sharedHosts }: Pick<Release, 'findNotListed' | 'sharedHosts'>,
): string | null {
  const [address, scheme] = ADDRESS.exec(toAsciiAddress(text.trim())) ?? []
  if (address === undefined) return null
  const url = scheme === undefined ? `https://${address}` : address
  const host = URL.parse(url)?.hostname
  if (host === undefined || isListed(index, host, sharedHosts) || findId(index, address) >= 0)
    return null
  const found = findNotListed(url)
  // Names of files and programs also have dots.
  const isAddress = scheme !== undefined || isPublicName(host) || found.host !== host
  return isAddress ? toAddressNote(found) : null
}

/** The same for a certain address; null where a listing is called at it. */
export function whyNotListed(
  { search, findNotListed, sharedHosts }: Pick<Release, 'search' | 'findNotListed' | 'sharedHosts'>,
  url: string,
): NotListedReason | null {
  const host = URL.parse(url)?.hostname
  if (host === undefined || isListed(search, host, sharedHosts)) return null
  const found = findNotListed(url)
  return 'listing' in found ? null : found
}

/** Whether a listing has the host, or the domain it is in, as its own. */
function isListed(index: SearchIndex, host: string, sharedHosts: SharedHosts): boolean {
  return [host, ownerAt(host, sharedHosts)].some(
    (name) => findExact(index.exact, 'host', name).length > 0,
  )
}
