import type { LiveListing } from '../listing/live-listing.ts'
import { networksOf, railsOf } from '../listing/pricing.ts'
import { HTTP_METHODS } from '../wire/vocabulary.ts'
import { EXPOSED_HEADERS } from './relayed-headers.ts'

/** The answer to `?relay_info`. @param limits of the relay itself, in bytes and seconds */
export function toRelayInfoView(listing: LiveListing, limits: Record<string, unknown>) {
  const relayable = listing.buy === 'relay_x402'
  return {
    listing_id: listing.id,
    relayable,
    reason: relayable ? null : listing.not_relayable_reason,
    buy: listing.buy,
    seller_origin: new URL(listing.url).origin,
    default_endpoint: listing.url,
    methods: listing.methods.length > 0 ? listing.methods : [...HTTP_METHODS],
    rails: [...railsOf(listing.pricing)],
    networks: networksOf(listing.pricing),
    pricing: listing.pricing,
    request_headers: [
      'PAYMENT-SIGNATURE',
      'X-PAYMENT',
      'Authorization',
      'Accept-Payment',
      'Content-Type',
    ],
    response_headers: [...EXPOSED_HEADERS],
    limits,
    custody: 'none',
    fee_usd: 0,
  }
}
