import * as v from 'valibot'
import { FOCUSES } from '../derived/compare-facts.ts'
import { type DerivedListing, trustScoreOf } from '../derived/derived-listing.ts'
import type { SourceRow } from '../derived/source-table.ts'
import { hasRemoteEndpoint } from '../listing/invoke.ts'
import { lowestPriceOf, type Pricing, railsOf } from '../listing/pricing.ts'
import { type Kind, RAILS } from '../wire/vocabulary.ts'
import { sourceIdsOf } from './summary-view.ts'

/** Longest summary in a row; the listing page has it whole. */
const MAX_ROW_SUMMARY = 120

/** Display labels of kinds, wherever people read them. */
export const KIND_LABELS: Record<Kind, string> = {
  kit: 'Kit',
  http_api: 'HTTP API',
  mcp_server: 'MCP server',
  a2a_agent: 'A2A agent',
}

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
    price: toPriceText(facts.pricing),
    min_usd: lowestPriceOf(facts.pricing),
    rails: [...railsOf(facts.pricing)],
    trust: trustScoreOf(trust),
    buyers: measured?.verified_buyers_30d ?? null,
    settlements: measured?.settlements_30d ?? null,
    uptime: signals.uptime_30d ?? null,
    remote: hasRemoteEndpoint(facts),
    shared_payout: measured?.shared_payout ?? false,
    source: sourceIdsOf(listing)
      .map((source) => sources.get(source)?.name ?? source)
      .join(', '),
  }
}

/** spec: trust desc, verified buyers desc, remote, has a listed price, lowest price; then the id. */
export function compareRows(a: CompareRow, b: CompareRow): number {
  return (
    (b.trust ?? -1) - (a.trust ?? -1) ||
    (b.buyers ?? -1) - (a.buyers ?? -1) ||
    Number(b.remote) - Number(a.remote) ||
    Number(b.min_usd !== null) - Number(a.min_usd !== null) ||
    (a.min_usd ?? 0) - (b.min_usd ?? 0) ||
    compareText(a.id, b.id)
  )
}

/**
 * @example toPriceText({ model: 'per_call', min_usd: 0.01, max_usd: 0.05, … }) → '$0.01–$0.05 per call'
 */
export function toPriceText(pricing: Pricing): string {
  if (pricing.model === 'unknown') return 'not published'
  const { min_usd, max_usd } = pricing
  if (max_usd === 0) return 'free per call'
  return min_usd === max_usd
    ? `${toUsd(min_usd)} per call`
    : `${toUsd(min_usd)}–${toUsd(max_usd)} per call`
}

/** Digits behind the point that a price is shown with at most; below, it would read as free. */
const USD_DIGITS = 10

/** US dollars with as many digits as a small price needs: $0.0005, $0.02, $1.50, $3. */
export function toUsd(usd: number): string {
  const least = 10 ** -USD_DIGITS
  if (usd > 0 && usd < least) return `under $${least.toFixed(USD_DIGITS)}`
  const [whole = '0', fraction = ''] = usd.toFixed(USD_DIGITS).replace(/0+$/, '').split('.')
  return fraction === '' ? `$${whole}` : `$${whole}.${fraction.padEnd(2, '0')}`
}

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })

/** @param max what a reader counts as characters: no family emoji, flag or accented letter is split. */
export function truncate(text: string, max: number): string {
  const characters = [...graphemes.segment(text)].map(({ segment }) => segment)
  if (characters.length <= max) return text
  return `${characters
    .slice(0, max - 1)
    .join('')
    .trimEnd()}…`
}

function compareText(a: string, b: string): number {
  return Number(a > b) - Number(a < b)
}
