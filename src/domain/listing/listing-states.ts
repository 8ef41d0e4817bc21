import * as v from 'valibot'
import { InstantSchema } from '../wire/shapes.ts'
import { BUY, HTTP_METHODS, KINDS, PROBE_OUTCOMES, STATUSES } from '../wire/vocabulary.ts'
import { PricingSchema } from './pricing.ts'

/** All that is needed to relay a call, redirect a click and judge a claim. The build writes one row per listing. */
export const LiveListingSchema = v.strictObject({
  id: v.string(),
  name: v.string(),
  digest: v.string(),
  kind: v.picklist(KINDS),
  /** The listing's own URL, which is also the relay's default endpoint. */
  url: v.string(),
  status: v.picklist(STATUSES),
  first_party: v.boolean(),
  /** Path to the brand's mark, if the brand has one. */
  mark: v.exactOptional(v.string()),
  buy: v.picklist(BUY),
  /** Why the relay cannot call the listing; null if it can. */
  not_relayable_reason: v.nullable(v.string()),
  /** Methods of the listing's documented HTTP endpoints; empty if none is documented. */
  methods: v.array(v.picklist(HTTP_METHODS)),
  pricing: PricingSchema,
  /** The outcome of our newest conclusive probe, if any. */
  probe: v.exactOptional(v.picklist(PROBE_OUTCOMES)),
  /** Set while an accepted dispute about the listing is shown. */
  disputed: v.exactOptional(v.literal(true)),
  /** Payout addresses (CAIP-10) that receive payments for this listing only; the meter reads them. */
  payout: v.array(v.string()),
  /** Contested payouts, if any: payments to them are counted for no listing until the payout is proved. */
  payout_contested: v.exactOptional(v.array(v.string())),
  /** Operations that the relay can call and that declare a good answer, if any. */
  declared: v.exactOptional(
    v.array(
      v.strictObject({ method: v.picklist(HTTP_METHODS), url: v.string(), digest: v.string() }),
    ),
  ),
})

export type LiveListing = v.InferOutput<typeof LiveListingSchema>

/** A listing that its seller removed from the directory: enough to claim it and bring it back. */
export const OptedOutListingSchema = v.strictObject({
  id: v.string(),
  name: v.string(),
  url: v.string(),
})
export type OptedOutListing = v.InferOutput<typeof OptedOutListingSchema>

/** Why a listing was removed; `opted_out` is in the ledger, the other reasons are in files. */
const TOMBSTONE_REASONS = ['withdrawn', 'duplicate', 'dead', 'refused', 'moved'] as const
const GONE_REASONS = [...TOMBSTONE_REASONS, 'opted_out'] as const

const id = v.pipe(v.string(), v.maxLength(200))

/** `content/tombstones/<prefix>/<slug>.json`: a removed listing, and its former content. */
export const TombstoneSchema = v.strictObject({
  id,
  at: InstantSchema,
  reason: v.picklist(TOMBSTONE_REASONS, `expected one of ${TOMBSTONE_REASONS.join(', ')}`),
  /** Who removed the listing: an importer, or a person by name. */
  by: v.pipe(v.string(), v.minLength(1, 'expected who removed it'), v.maxLength(200)),
  replaced_by: v.optional(id),
  /** The same service's current id; only with reason `moved`. */
  moved_to: v.optional(id),
  /** For a move to another domain: a page on the former domain that announces the move. */
  said_at: v.optional(v.pipe(v.string(), v.url('expected an https URL'), v.startsWith('https://'))),
  /** The file as it was, so that the listing can be restored. */
  listing: v.optional(v.string()),
  evidence: v.optional(v.record(v.string(), v.unknown())),
})
export type Tombstone = v.InferOutput<typeof TombstoneSchema>

export const GoneSchema = v.strictObject({
  id: v.string(),
  /** Null if only the ledger knows of the removal. */
  at: v.nullable(v.string()),
  reason: v.picklist(GONE_REASONS),
  /** The name under which it was listed, if kept. */
  name: v.exactOptional(v.string()),
  replaced_by: v.optional(v.string()),
  /** The service's current id, whatever ids it had in between. */
  moved_to: v.optional(v.string()),
  /** Set if the current id is on another host: requests for the former id must not be sent there. */
  another_host: v.optional(v.literal(true)),
})
export type Gone = v.InferOutput<typeof GoneSchema>

const REASON_TEXTS: Record<Gone['reason'], string> = {
  withdrawn: 'Its source no longer lists it.',
  duplicate: 'It is the same service as another listing.',
  dead: 'It did not answer for a long time.',
  refused: 'It was reviewed and removed.',
  moved: 'It has another id now.',
  opted_out: 'Its owner asked not to be listed.',
}

/**
 * @example toGoneText({ id: 'x402.a', at: '2026-11-20T00:00:00Z', reason: 'dead' }) → 'x402.a is
 *   gone since 2026-11-20. It did not answer for a long time.'
 */
export function toGoneText(gone: Gone): string {
  const { id: listing, at, moved_to } = gone
  if (moved_to !== undefined) return `${listing} is ${moved_to} now.`
  const since = at === null ? '' : ` since ${at.slice(0, 10)}`
  return `${listing} is gone${since}. ${toGoneReason(gone)}`
}

/** Why a listing is gone, where its name and its last day are already shown. */
export function toGoneReason({ reason, replaced_by, moved_to }: Gone): string {
  if (moved_to !== undefined) return `It is ${moved_to} now.`
  return `${REASON_TEXTS[reason]}${replaced_by === undefined ? '' : ` See ${replaced_by} instead.`}`
}

/** The page that explains why a listing is gone; answered with 410. */
export function gonePagePath(id: string): string {
  return `/gone/${id}`
}

/**
 * The last id in a chain of moves; null if the chain is a circle.
 * @example followMoves(new Map([['a', 'b'], ['b', 'c']]), 'a') → 'c'
 */
export function followMoves(moves: ReadonlyMap<string, string>, id: string): string | null {
  const seen = new Set<string>()
  let at = id
  for (let next = moves.get(at); next !== undefined; next = moves.get(at)) {
    if (seen.has(at)) return null
    seen.add(at)
    at = next
  }
  return at
}
