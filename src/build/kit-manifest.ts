import type { DerivedListing } from '../domain/derived-listing.ts'
import type { TrustView } from '../domain/trust-view.ts'

export function toKitView(
  { id, facts }: DerivedListing,
  { baseUrl, trust }: { baseUrl: string; trust: TrustView },
): Record<string, unknown> {
  return {
    kit_version: 'v0.1',
    id,
    name: facts.name,
    kind: facts.kind,
    page: `${baseUrl}/listing/${id}`,
    trust,
  }
}
