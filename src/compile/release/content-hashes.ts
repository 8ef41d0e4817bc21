import type { CompiledListing } from '../../compiled.ts'
import type { ContentHash } from '../../domain/changes/change-log.ts'
import { toPriceText } from '../../domain/operation/price-text.ts'
import { digestOf } from '../files/release-writer.ts'

/** Hex digits of a hash: of a whole listing, and of one member, which is only a hint. */
const WHOLE = 32
const MEMBER = 12

export const CONTENT_HASHES = 'data/content-hashes.ndjson'

/**
 * Hash of a listing's JSON, as it is served.
 *
 * @param line its JSON
 */
export function toContentHash(listing: CompiledListing, line: string): ContentHash {
  const { view } = listing
  const facts = toFacts(listing)
  const hash = digestOf(`${line}${JSON.stringify(facts)}`, WHOLE)
  return { id: view.id, hash, fields: hashMembers(view), facts }
}

/** Facts that the log of changes describes in words. */
function toFacts({ view, kit, handshakes }: CompiledListing): Record<string, string> {
  const probe = handshakes?.recent.find(
    ({ outcome }) => outcome !== 'unknown' && outcome !== 'unprobeable',
  )
  const { score, evidence } = view.trust
  return {
    url: view.url,
    price: toPriceText(view.pricing),
    ...(probe !== undefined && { probe: probe.outcome }),
    trust: score === null ? evidence : String(score),
    payees: kit.payees.join(' '),
    digest: view.digest,
    ...Object.fromEntries(view.notices.map(({ id, note }) => [id, note])),
  }
}

function hashMembers(view: object): Record<string, string> {
  return Object.fromEntries(
    Object.entries(view).map(([name, value]) => [
      name,
      digestOf(JSON.stringify(value) ?? '', MEMBER),
    ]),
  )
}
