import * as v from 'valibot'
import { type DerivedListing, trustScoreOf } from '../derived/derived-listing.ts'
import { countBy } from '../derived/listing-counts.ts'
import { attributionOf, type SourceRow } from '../derived/source-table.ts'
import { railsOf } from '../listing/pricing.ts'
import { countQuality, judgeQuality } from '../operation/listing-quality.ts'
import { type Ages, AgesSchema } from '../trust/age.ts'
import { dayOfUse } from '../trust/evidence.ts'
import { type TrustLedgerFacts, TrustLedgerSchema } from '../trust/ledger-facts.ts'
import { count } from '../wire/shapes.ts'
import { KINDS } from '../wire/vocabulary.ts'
import { sourceIdsOf } from './summary-view.ts'

const counts = v.record(v.string(), count)

const DumpFileSchema = v.object({ url: v.string(), bytes: count, sha256: v.string() })
const dumpEntries = { ndjson: DumpFileSchema, gz: DumpFileSchema }
export type DumpFacts = v.InferOutput<v.ObjectSchema<typeof dumpEntries, undefined>>

/** Days of a listing's rows of sources, and of those of them with prices. */
export interface RowDays {
  seeds: readonly string[]
  prices: readonly string[]
}

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
  ...AgesSchema.entries,
})
export type StatsView = v.InferOutput<typeof StatsSchema>

interface StatsContext {
  sources: ReadonlyMap<string, SourceRow>
  rowDays: ReadonlyMap<string, RowDays>
}

export function toStatsView(
  listings: readonly DerivedListing[],
  dump: DumpFacts,
  trustLedger: TrustLedgerFacts,
  { sources, rowDays }: StatsContext,
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
    ...toAges(listings, rowDays),
  }
}

function toAges(
  listings: readonly DerivedListing[],
  rowDays: StatsContext['rowDays'],
): Ages & Pick<StatsView, 'updated'> {
  const days = listings.map(({ id, facts, trust, evidence, probes }) => {
    const { seeds = [], prices = [] } = rowDays.get(id) ?? {}
    const { interface: read, reported_use = [] } = evidence
    const isPriced = read?.operations?.some(({ price }) => price !== undefined)
    return {
      listing: [facts.added],
      seed: seeds,
      probe: probes.map(({ at }) => at),
      price: isPriced === true ? [...prices, read?.at ?? ''] : prices,
      payments: trust.evidence === 'no_payment_data' ? [] : [trust.measured.as_of],
      reported_use: reported_use.map((use) => dayOfUse(use)),
    }
  })
  const pick = (at: (sorted: readonly string[]) => string | undefined): Ages['newest'] => {
    const dayOf = (kind: keyof Ages['newest']) =>
      at(days.flatMap((each) => each[kind].toSorted().at(-1)?.slice(0, 10) ?? []).sort()) ?? null
    return {
      ...{ listing: dayOf('listing'), seed: dayOf('seed'), probe: dayOf('probe') },
      ...{ price: dayOf('price'), payments: dayOf('payments') },
      reported_use: dayOf('reported_use'),
    }
  }
  const newest = pick((sorted) => sorted.at(-1))
  const updated = Object.values(newest).reduce<string>(
    (last, day) => (day !== null && day > last ? day : last),
    '1970-01-01',
  )
  return { updated, newest, median: pick((sorted) => sorted[Math.floor(sorted.length / 2)]) }
}
