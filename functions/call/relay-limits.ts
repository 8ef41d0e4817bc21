import type { RelayInfoLimits } from '../../src/domain/relay/relay-info-view.ts'
import type { BudgetLimits } from '../limits/budget.ts'

/**
 * The relay's sizes and times, once: the code measures with them and `relay_info`
 * publishes them. Milliseconds and bytes.
 */
export interface RelayLimits {
  requestBodyBytes: number
  /** Names and values of one message's header fields, either way. */
  headerBytes: number
  connectMs: number
  responseHeadersMs: number
  /** An offer may allow 300 s, and sellers settle after their handler whether anyone listens or not. */
  paidResponseHeadersMs: number
  /** Longest silence inside a body, either way. */
  idleBodyMs: number
  /** How fast a caller's body must come: beyond the grace on average, and its whole time. */
  upload: { graceMs: number; bytesPerSecond: number; totalMs: number }
  /**
   * A client may hold an eighth of a listing's calls: the others stay callable for others. A network
   * is an IPv6 /48.
   */
  inFlight: {
    perListing: number
    perClientAndListing: number
    perNetworkAndListing: number
    perClient: number
    perNetwork: number
    inAll: number
  }
  /** Answers to payments whose callers left, that are still read for their settlement. */
  draining: BudgetLimits
}

export const RELAY_LIMITS: RelayLimits = {
  requestBodyBytes: 10 * 1024 * 1024,
  headerBytes: 128 * 1024,
  connectMs: 10_000,
  responseHeadersMs: 30_000,
  paidResponseHeadersMs: 330_000,
  idleBodyMs: 60_000,
  upload: { graceMs: 10_000, bytesPerSecond: 1024, totalMs: 600_000 },
  inFlight: {
    perListing: 256,
    perClientAndListing: 32,
    perNetworkAndListing: 64,
    perClient: 128,
    perNetwork: 256,
    inAll: 1024,
  },
  draining: { perClient: 16, perNetwork: 32, inAll: 128 },
}

/** The limits as `relay_info` shows them: bytes and seconds. */
export function toRelayLimitsView(limits: RelayLimits): RelayInfoLimits {
  return {
    request_body_bytes: limits.requestBodyBytes,
    header_bytes: limits.headerBytes,
    connect_seconds: limits.connectMs / 1000,
    response_headers_seconds: limits.responseHeadersMs / 1000,
    paid_response_headers_seconds: limits.paidResponseHeadersMs / 1000,
    idle_body_seconds: limits.idleBodyMs / 1000,
    upload: {
      grace_seconds: limits.upload.graceMs / 1000,
      min_bytes_per_second: limits.upload.bytesPerSecond,
      max_seconds: limits.upload.totalMs / 1000,
    },
    in_flight: {
      per_listing: limits.inFlight.perListing,
      per_listing_and_client: limits.inFlight.perClientAndListing,
      per_listing_and_network: limits.inFlight.perNetworkAndListing,
      per_client: limits.inFlight.perClient,
      per_network: limits.inFlight.perNetwork,
      in_all: limits.inFlight.inAll,
    },
    draining: {
      per_client: limits.draining.perClient,
      per_network: limits.draining.perNetwork,
      in_all: limits.draining.inAll,
    },
  }
}
