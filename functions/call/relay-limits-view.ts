import type { RelayInfoLimits } from '../../src/domain/relay-info-view.ts'
import type { RelayLimits } from './relay-limits.ts'

/** The limits as `relay_info` shows them: bytes and seconds. */
export function toRelayLimitsView(limits: RelayLimits): RelayInfoLimits {
  return {
    request_body_bytes: limits.requestBodyBytes,
    header_bytes: limits.headerBytes,
    connect_seconds: limits.connectMs / 1000,
    response_headers_seconds: limits.responseHeadersMs / 1000,
    paid_response_headers_seconds: limits.paidResponseHeadersMs / 1000,
    idle_body_seconds: limits.idleBodyMs / 1000,
    in_flight: {
      per_listing: limits.inFlight.perListing,
      per_client: limits.inFlight.perClient,
      in_all: limits.inFlight.inAll,
    },
  }
}
