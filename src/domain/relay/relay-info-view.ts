import type { LiveListing } from '../listing/live-listing.ts'
import { railsOf } from '../listing/pricing.ts'
import { HTTP_METHODS } from '../wire/vocabulary.ts'
import { EXPOSED_HEADERS } from './relayed-headers.ts'

/** What `relay_info` says of the relay's own limits, in bytes and seconds. */
export interface RelayInfoLimits {
  request_body_bytes: number
  header_bytes: number
  connect_seconds: number
  response_headers_seconds: number
  paid_response_headers_seconds: number
  idle_body_seconds: number
  upload: { grace_seconds: number; min_bytes_per_second: number; max_seconds: number }
  in_flight: {
    per_listing: number
    per_listing_and_client: number
    per_listing_and_network: number
    per_client: number
    per_network: number
    in_all: number
  }
  draining: { per_client: number; per_network: number; in_all: number }
}

/** The answer to `?relay_info`: may this listing be called here, and how. */
export function toRelayInfoView(listing: LiveListing, limits: RelayInfoLimits) {
  const relayable = listing.buy === 'relay_x402'
  return {
    listing_id: listing.id,
    relayable,
    reason: relayable
      ? null
      : (listing.not_relayable_reason ?? 'It is no paid HTTP API on rail x402.'),
    buy: listing.buy,
    seller_origin: new URL(listing.url).origin,
    default_endpoint: listing.url,
    methods: listing.methods.length > 0 ? listing.methods : [...HTTP_METHODS],
    rails: [...railsOf(listing.pricing)],
    networks: listing.pricing.model === 'per_call' ? listing.pricing.networks : [],
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
