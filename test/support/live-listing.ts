import type { LiveListing } from '../../src/domain/listing/listing-states.ts'

/** A listing as the release holds it, with nothing special about it. */
export function liveListing(id: string, url: string): LiveListing {
  return {
    id,
    name: id,
    digest: 'digest-of-nothing',
    kind: 'http_api',
    url,
    status: 'unclaimed',
    first_party: false,
    buy: 'link_out',
    not_relayable_reason: 'not for this test',
    methods: ['GET'],
    pricing: { model: 'unknown' },
    payout: [],
  }
}
