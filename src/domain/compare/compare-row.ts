import * as v from 'valibot'
import { type DerivedListing, trustScoreOf } from '../derived/derived-listing.ts'
import type { SourceRow } from '../derived/source-table.ts'
import { line, link } from '../derived/tables.ts'
import { CalendarDateSchema } from '../listing/calendar-date.ts'
import { hasRemoteEndpoint } from '../listing/invoke.ts'
import { lowestPriceOf, railsOf } from '../listing/pricing.ts'
import { toCostText } from '../operation/price-text.ts'
import { compareBrowsing, type RankFacts } from '../search/search-rank.ts'
import { sourceIdsOf } from '../views/summary-view.ts'
import { textLike } from '../wire/shapes.ts'
import { KIND_LABELS, RAILS } from '../wire/vocabulary.ts'

/** `content/compare/<slug>.yaml`: the listings of a comparison page, and the text about them. */
export const FOCUSES = ['dedicated', 'broad'] as const

export const CompareFactsSchema = v.strictObject({
  title: v.pipe(line, v.maxLength(120, 'expected at most 120 characters')),
  updated: CalendarDateSchema,
  first_party: v.optional(v.array(v.string()), []),
  facts: v.optional(v.nullable(v.array(v.strictObject({ text: line, url: link }))), null),
  sections: v.pipe(
    v.array(
      v.strictObject({
        id: textLike(/^[a-z0-9]+(?:-[a-z0-9]+)*$/, 'expected a lower-case id such as search-apis'),
        title: line,
        note: line,
        /** Every listing that does this task without an account is a row. */
        task: v.optional(v.string()),
        rows: v.optional(
          v.array(
            v.strictObject({
              id: v.string(),
              focus: v.picklist(FOCUSES, 'expected dedicated or broad'),
            }),
          ),
          [],
        ),
      }),
    ),
    v.minLength(1, 'expected at least one section'),
  ),
  citations: v.optional(v.array(v.strictObject({ label: line, url: link })), []),
  disclosure: v.optional(line),
  ranking: v.optional(line),
})

export type CompareFacts = v.InferOutput<typeof CompareFactsSchema>

/** Longest summary in a row; the listing page has all of it. */
const MAX_ROW_SUMMARY = 120

/** spec: Comparison page row. Unknown numbers are null: unknown is not zero. */
export const CompareRowSchema = v.object({
  id: v.string(),
  name: v.string(),
  kind: v.string(),
  summary: v.string(),
  price: v.string(),
  min_usd: v.nullable(v.number()),
  rails: v.array(v.picklist(RAILS)),
  trust: v.nullable(v.number()),
  buyers: v.nullable(v.number()),
  settlements: v.nullable(v.number()),
  uptime: v.nullable(v.number()),
  remote: v.boolean(),
  shared_payout: v.boolean(),
  source: v.string(),
  focus: v.optional(v.picklist(FOCUSES)),
})
export type CompareRow = v.InferOutput<typeof CompareRowSchema>

export function toCompareRow(
  listing: DerivedListing,
  sources: ReadonlyMap<string, SourceRow>,
): CompareRow {
  const { id, facts, trust, signals } = listing
  const measured = trust.evidence === 'no_payment_data' ? null : trust.measured
  return {
    id,
    name: facts.name,
    kind: KIND_LABELS[facts.kind],
    summary: truncate(facts.summary, MAX_ROW_SUMMARY),
    price: toCostText(facts),
    min_usd: lowestPriceOf(facts.pricing),
    rails: [...railsOf(facts.pricing)],
    trust: trustScoreOf(trust),
    // Buyers count fractionally; rows show whole numbers.
    buyers: measured && Math.round(measured.verified_buyers_30d),
    settlements: measured && Math.round(measured.settlements_30d),
    uptime: signals.uptime_30d ?? null,
    remote: hasRemoteEndpoint(facts),
    shared_payout: measured?.shared_payout ?? false,
    source: sourceIdsOf(listing)
      .map((source) => sources.get(source)?.name ?? source)
      .join(', '),
  }
}

type Ranked = Pick<CompareRow, 'id' | 'trust' | 'buyers' | 'remote' | 'min_usd'>

/** spec: trust desc, verified buyers desc, remote, has a listed price, lowest price; then the id. */
export function compareRows(a: Ranked, b: Ranked): number {
  return compareBrowsing(toRankFacts(a), toRankFacts(b))
}

function toRankFacts({ id, trust, buyers, remote, min_usd }: Ranked): RankFacts {
  return { id, trustScore: trust, verifiedBuyers: buyers ?? -1, remote, minUsd: min_usd }
}

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })

/** @param max in characters as people count them: no emoji, flag or accented letter is split. */
export function truncate(text: string, max: number): string {
  if (text.length <= max) return text
  // In ASCII without line ends each unit is a character; segmenting takes a hundred times longer.
  if (/^[ -~]*$/.test(text)) return `${text.slice(0, max - 1).trimEnd()}…`
  const characters = [...graphemes.segment(text)].map(({ segment }) => segment)
  if (characters.length <= max) return text
  const kept = characters.slice(0, max - 1).join('')
  return `${kept.trimEnd()}…`
}
