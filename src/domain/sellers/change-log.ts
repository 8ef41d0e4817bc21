import * as v from 'valibot'
import type { Gone } from '../listing/listing-states.ts'
import { present } from '../wire/json.ts'
import { count } from '../wire/shapes.ts'
import { NOTICE_TITLES } from '../wire/vocabulary.ts'

/**
 * The log of what changed from one release to the next. It is in `OUT_DIR/changes`, outside the
 * reproducible releases: `head.json` is the commit point and names the parts that contain the rows.
 */

const CHANGES = ['added', 'changed', 'removed'] as const

/** Facts that callers rely on: `price`, `probe`, `trust`, `payees`, `digest`, and notices by id. */
const FactsSchema = v.record(v.string(), v.string())
const FactChangesSchema = v.record(
  v.string(),
  v.object({ was: v.optional(v.string()), is: v.optional(v.string()) }),
)
const differenceEntries = {
  id: v.string(),
  change: v.picklist(CHANGES),
  /** For a changed listing: the members of its JSON that differ. */
  fields: v.optional(v.array(v.string())),
  /** What a caller relies on, before and after; absent if nothing in it differs. */
  facts: v.optional(FactChangesSchema),
  /** Why the listing was removed, if a tombstone or its owner gives a reason. */
  reason: v.optional(v.string()),
  /** The listing's new id, if it is still listed. */
  moved_to: v.optional(v.string()),
}
export type Difference = v.InferOutput<v.ObjectSchema<typeof differenceEntries, undefined>>

export const ChangeSchema = v.object({
  /** Numbered from 1 within a log. */
  seq: count,
  /** When the row's release was published. */
  at: v.string(),
  ...differenceEntries,
})
export type Change = v.InferOutput<typeof ChangeSchema>

/** `GET /api/v1/changes`. */
export const ChangesSchema = v.object({
  changes: v.array(ChangeSchema),
  /** The `since` for the next request; null if this server keeps no log. */
  next: v.nullable(v.string()),
  has_more: v.boolean(),
})

const LogPartSchema = v.strictObject({
  file: v.pipe(v.string(), v.regex(/^[0-9a-f]{16}\.\d+\.ndjson$/)),
  first: count,
  last: count,
  at: v.string(),
})
export type LogPart = v.InferOutput<typeof LogPartSchema>

export const LogHeadSchema = v.strictObject({
  version: v.literal(1),
  log: v.pipe(v.string(), v.regex(/^[0-9a-f]{16}$/)),
  /** Folder of the release that the last row describes. */
  release: v.string(),
  seq: count,
  at: v.string(),
  /** The previous release, which a server may still serve for a moment; null for the first release. */
  before: v.nullable(v.strictObject({ release: v.string(), seq: count })),
  /** Hashes of the release's listings. */
  hashes: v.pipe(v.string(), v.regex(/^[0-9a-f]{16}\.\d+\.hashes$/)),
  /** The parts of the log, oldest first; the earliest are dropped when the log grows too long. */
  parts: v.array(LogPartSchema),
})
export type LogHead = v.InferOutput<typeof LogHeadSchema>

/** Hashes of one listing's JSON, as a whole and by member. A row in a release. */
export const ContentHashSchema = v.strictObject({
  id: v.string(),
  hash: v.string(),
  fields: v.record(v.string(), v.string()),
  /** Absent in rows written by an earlier version. */
  facts: v.optional(FactsSchema),
})
export type ContentHash = v.InferOutput<typeof ContentHashSchema>

/** The differences in content, sorted by id. @param gone why listings were removed, by id */
export function findDifferences(
  before: ReadonlyMap<string, ContentHash>,
  after: ReadonlyMap<string, ContentHash>,
  gone: ReadonlyMap<string, Pick<Gone, 'reason' | 'moved_to'>>,
): Difference[] {
  const ids = [...new Set([...before.keys(), ...after.keys()])].sort()
  return ids.flatMap((id): Difference[] => {
    const [was, is] = [before.get(id), after.get(id)]
    if (was === undefined) return [{ id, change: 'added' }]
    if (is !== undefined) return was.hash === is.hash ? [] : [toChanged(id, was, is)]
    const { reason, moved_to } = gone.get(id) ?? {}
    return [{ id, change: 'removed', ...present({ reason, moved_to }) }]
  })
}

function toChanged(id: string, was: ContentHash, is: ContentHash): Difference {
  const [before, after] = [was.facts ?? {}, is.facts ?? {}]
  const isKnown = was.facts !== undefined && is.facts !== undefined
  const facts = (isKnown ? differingNames(before, after) : []).map((name) => {
    return [name, present({ was: before[name], is: after[name] })]
  })
  return {
    ...{ id, change: 'changed', fields: differingNames(was.fields, is.fields) },
    ...(facts.length > 0 && { facts: Object.fromEntries(facts) }),
  }
}

function differingNames(was: Record<string, string>, is: Record<string, string>): string[] {
  const names = new Set([...Object.keys(was), ...Object.keys(is)])
  return [...names].filter((name) => was[name] !== is[name]).sort()
}

const LABELS: Readonly<Record<string, string>> = {
  ...NOTICE_TITLES,
  url: 'Address',
  price: 'Price',
  probe: 'Our probe',
  trust: 'Trust',
  paid: 'Payments',
  payees: 'Paid to',
  digest: 'What a caller relies on',
}

/** One line for each change. @example describeChange(…) → ['Price: $0.01 → $0.05'] */
export function describeChange({ change, facts = {}, reason }: Difference): string[] {
  if (change === 'added') return ['Added to the directory']
  if (change === 'removed') return [`Removed${reason === undefined ? '' : `: ${reason}`}`]
  return Object.entries(facts).map(([name, { was, is }]) => {
    const label = LABELS[name] ?? name
    // A digest means nothing to people; programs can read it in the row.
    if (name === 'digest') return `${label} changed`
    if (was === undefined) return `${label}: ${is ?? ''}`
    return is === undefined ? `${label}: no longer (${was})` : `${label}: ${was} → ${is}`
  })
}
