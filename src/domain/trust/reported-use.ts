import * as v from 'valibot'
import { CalendarDateSchema } from '../listing/calendar-date.ts'
import { compareText, largestOf } from '../wire/extremes.ts'
import { count, textLike, uniqueList } from '../wire/shapes.ts'
import { InstantSchema } from './instant.ts'

const MAX_REPORTS = 40

/** What others count of a service. */
export const USES = [
  'calls',
  /** Wallets at least: payers of several endpoints or payees may be the same. */
  'payers',
  'settlements',
  'volume_usd',
  /** A payment by one tester, settled; `outcome` is the HTTP status that followed. */
  'test_purchase',
  /** All tokens that an address received, sales or not, and how many wallets sent them. */
  'transfers',
  'senders',
  /** Of its package or image. */
  'downloads',
  /** Of its repository. */
  'stars',
] as const

/** One figure that another published, and when: shown with its source, never scored. */
export const ReportedUseSchema = v.strictObject({
  /** Id of `tables/sources.yaml`. */
  source: textLike(/^[a-z0-9][a-z0-9_-]{0,59}$/, 'expected the id of a source'),
  what: v.picklist(USES, `expected one of ${USES.join(', ')}`),
  value: v.pipe(v.number(), v.finite(), v.minValue(0, 'expected 0 or more')),
  /** The first and the last day that was counted. */
  from: v.optional(CalendarDateSchema),
  to: v.optional(CalendarDateSchema),
  as_of: InstantSchema,
  /** How many hosts share the payee: then the figure is the payee's, not this listing's. */
  shared_with: v.optional(v.pipe(count, v.minValue(2, 'expected 2 or more'))),
  /** HTTP status after a test purchase; or the flag that the source itself puts to its count. */
  outcome: v.optional(textLike(/^[a-z0-9_]{1,30}$/, 'expected a status or a flag')),
})
export type ReportedUse = v.InferOutput<typeof ReportedUseSchema>

export const ReportedUsesSchema = uniqueList(
  ReportedUseSchema,
  MAX_REPORTS,
  ({ source, what }) => `${source} ${what}`,
  'figure of a source',
)

/** The day up to which it was counted. @example '2026-07-20' */
export function dayOfUse({ to, as_of }: Pick<ReportedUse, 'to' | 'as_of'>): string {
  return to ?? as_of.slice(0, 10)
}

/** Each source's newest figures, by source. */
export function uniteReports(
  read: readonly { reported_use?: readonly ReportedUse[] | undefined }[],
): ReportedUse[] {
  const all = read.flatMap(({ reported_use = [] }) => reported_use)
  const oldestFirst = all.toSorted((a, b) => compareText(dayOfUse(a), dayOfUse(b)))
  const byName = new Map(oldestFirst.map((use) => [`${use.source} ${USES.indexOf(use.what)}`, use]))
  return [...byName].sort(([a], [b]) => compareText(a, b)).map(([, use]) => use)
}

/**
 * The most of one kind that one source counts of the listing itself: several may count the same ones.
 * Of a payee's total it is the equal share, and a count that its own source doubts is none.
 */
export function mostReported(
  what: ReportedUse['what'],
  uses: readonly ReportedUse[] = [],
): number | undefined {
  const own = uses.filter((use) => use.what === what && use.outcome === undefined)
  const counts = own.map(({ value, shared_with = 1 }) => Math.round(value / shared_with))
  return counts.length === 0 ? undefined : largestOf(counts)
}
