import * as v from 'valibot'
import { largestOf } from '../wire/extremes.ts'
import { count, textLike, uniqueList } from '../wire/shapes.ts'
import { InstantSchema } from './instant.ts'

const MAX_REPORTS = 10

/** Usage counts of a service by others, and when: shown with their source, never scored. */
export const ReportedUseSchema = v.strictObject({
  /** Id of `tables/sources.yaml`. */
  source: textLike(/^[a-z0-9][a-z0-9_-]{0,59}$/, 'expected the id of a source'),
  as_of: InstantSchema,
  calls_30d: v.optional(count),
  /** For the endpoint with the most: payers of several may be the same. */
  payers_30d: v.optional(count),
  /** Total for its package or image. */
  downloads: v.optional(count),
  /** Of its repository. */
  stars: v.optional(count),
})

export const ReportedUsesSchema = uniqueList(
  ReportedUseSchema,
  MAX_REPORTS,
  ({ source }) => source,
  'source',
)

export type ReportedUse = v.InferOutput<typeof ReportedUseSchema>

export const USE_COUNTS = ['calls_30d', 'payers_30d', 'downloads', 'stars'] as const

/** Each source's newest report, by source. */
export function uniteReports(
  read: readonly { reported_use?: readonly ReportedUse[] | undefined }[],
): ReportedUse[] {
  const all = read.flatMap(({ reported_use = [] }) => reported_use)
  const oldestFirst = all.toSorted((a, b) => (a.as_of < b.as_of ? -1 : a.as_of > b.as_of ? 1 : 0))
  const bySource = new Map(oldestFirst.map((report) => [report.source, report]))
  return [...bySource.values()].sort((a, b) => (a.source < b.source ? -1 : 1))
}

/** As signals of the wire, each with the source's id before it. @example { cdp_bazaar_calls_30d: 12 } */
export function toUseSignals(reports: readonly ReportedUse[]): Record<string, string | number> {
  const entries = reports.flatMap(({ source, as_of, ...counts }): [string, string | number][] => {
    const prefix = source.replaceAll('-', '_')
    const known = USE_COUNTS.flatMap((name): [string, number][] => {
      const value = counts[name]
      return value === undefined ? [] : [[`${prefix}_${name}`, value]]
    })
    return known.length === 0 ? [] : [...known, [`${prefix}_as_of`, as_of.slice(0, 10)]]
  })
  return Object.fromEntries(entries)
}

/** The most calls in 30 days that one source counts: several may count the same calls. */
export function mostReportedCalls(reports: readonly ReportedUse[] = []): number | undefined {
  const counts = reports.flatMap(({ calls_30d }) => calls_30d ?? [])
  return counts.length === 0 ? undefined : largestOf(counts)
}
