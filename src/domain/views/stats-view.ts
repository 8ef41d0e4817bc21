import * as v from 'valibot'
import { type DerivedListing, trustScoreOf } from '../derived/derived-listing.ts'
import { countBy } from '../derived/listing-counts.ts'
import { attributionOf, type SourceRow } from '../derived/source-table.ts'
import { railsOf } from '../listing/pricing.ts'
import { countQuality, judgeQuality } from '../operation/listing-quality.ts'
import { type TrustLedgerFacts, TrustLedgerSchema } from '../trust/ledger-facts.ts'
import { count } from '../wire/shapes.ts'
import { KINDS } from '../wire/vocabulary.ts'
import { sourceIdsOf } from './summary-view.ts'

const counts = v.record(v.string(), count)

const DumpFileSchema = v.object({ url: v.string(), bytes: count, sha256: v.string() })
const dumpEntries = { ndjson: DumpFileSchema, gz: DumpFileSchema }
export type DumpFacts = v.InferOutput<v.ObjectSchema<typeof dumpEntries, undefined>>

/** `GET /api/v1/stats`. Counts include first-party listings. */
export const StatsSchema = v.object({
  listings: v.object({
    total: count,
    first_party: count,
    by_kind: counts,
    by_category: counts,
    by_rail: counts,
    by_source: counts,
    by_status: counts,
    relayable: count,
    with_trust: count,
  }),
  /** How many listings of a kind have something, of those it applies to. */
  quality: v.array(
    v.object({
      kind: v.picklist(KINDS),
      listings: count,
      have: v.record(v.string(), v.object({ has: count, of: count })),
    }),
  ),
  /** Every listing in one file, with the sources of its rows and their terms. */
  dump: v.object({
    ...dumpEntries,
    licenses: v.array(
      v.object({
        source: v.string(),
        license: v.string(),
        attribution: v.string(),
        listings: count,
      }),
    ),
  }),
  /** The payments behind the scores. */
  trust_ledger: TrustLedgerSchema,
  /** Date of the newest fact in the content: the build's own time would change the bytes. */
  updated: v.string(),
  /** How old the data is: dates of the newest of each, null without any. */
  newest: v.object({
    listing: v.nullable(v.string()),
    payments: v.nullable(v.string()),
    probe: v.nullable(v.string()),
  }),
})
export type StatsView = v.InferOutput<typeof StatsSchema>

export function toStatsView(
  listings: readonly DerivedListing[],
  dump: DumpFacts,
  trustLedger: TrustLedgerFacts,
  sources: ReadonlyMap<string, SourceRow>,
): StatsView {
  const group = (keysOf: (listing: DerivedListing) => readonly string[]) =>
    Object.fromEntries(countBy(listings, keysOf))
  const many = (test: (listing: DerivedListing) => boolean) => listings.filter(test).length
  const bySource = group(sourceIdsOf)
  return {
    listings: {
      total: listings.length,
      first_party: many(({ facts }) => facts.first_party),
      by_kind: group(({ facts }) => [facts.kind]),
      by_category: group(({ facts }) => facts.categories),
      by_rail: group(({ facts }) => railsOf(facts.pricing)),
      by_source: bySource,
      by_status: group(({ status }) => [status]),
      relayable: many(({ buy }) => buy.buy === 'relay_x402'),
      with_trust: many(({ trust }) => trustScoreOf(trust) !== null),
    },
    quality: countQuality(
      listings.map(({ id, facts, evidence }) => ({
        id,
        kind: facts.kind,
        quality: judgeQuality(facts, evidence),
      })),
    ),
    dump: {
      ...dump,
      licenses: Object.entries(bySource).map(([source, many]) => ({
        source,
        license: sources.get(source)?.license ?? '',
        attribution: attributionOf(sources, source),
        listings: many,
      })),
    },
    trust_ledger: trustLedger,
    ...toAge(listings),
  }
}

function toAge(listings: readonly DerivedListing[]): Pick<StatsView, 'updated' | 'newest'> {
  const newestOf = (dateOf: (listing: DerivedListing) => string | undefined) =>
    listings.reduce<string | null>((newest, listing) => {
      const date = dateOf(listing)?.slice(0, 10)
      return date !== undefined && date > (newest ?? '') ? date : newest
    }, null)
  const newest = {
    listing: newestOf(({ facts }) => facts.added),
    payments: newestOf(({ trust }) =>
      trust.evidence === 'no_payment_data' ? undefined : trust.measured.as_of,
    ),
    probe: newestOf(({ evidence }) => newestProbeOf(evidence.probes ?? [])),
  }
  const dates = Object.values(newest).flatMap((date) => date ?? [])
  return { updated: dates.reduce((a, b) => (a > b ? a : b), '1970-01-01'), newest }
}

function newestProbeOf(probes: readonly { at: string }[]): string | undefined {
  return probes.map(({ at }) => at).reduce((a, b) => (a > b ? a : b), '') || undefined
}
