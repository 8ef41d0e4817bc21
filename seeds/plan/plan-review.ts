import { listingIdOf } from '../../src/domain/listing/listing-id.ts'
import { renderListing } from '../content/listing-text.ts'
import { evidenceFileOf, renderJson } from '../content/machine-files.ts'
import {
  parseSettled,
  type ReviewItem,
  reviewFileOf,
  reviewId,
  SETTLED_FILE,
} from '../content/review-item.ts'
import type { Seed } from '../facts/seed-facts.ts'
import { type Draft, fileOf, planText } from './seeding-plan.ts'
/** A row whose words a person should read first: its file waits, ready to be accepted. */
export function planReviewOfSeed(draft: Draft, seed: Seed): void {
  const { now, today, source } = draft.input
  const file = fileOf(seed)
  if (draft.own.has(seed.key) || draft.input.existing.has(file)) return
  planReview(draft, {
    id: reviewId([source.id, seed.key, seed.suspicious ?? '']),
    at: now,
    why: 'suspicious_text',
    from: source.id,
    listing: listingIdOf(file),
    note: `Its text holds words that give orders to an agent: ${JSON.stringify(seed.suspicious)}.`,
    file: { path: file, text: renderListing(seed.facts, seed.published ?? today) },
  })
}

/** A listing that people edited and its source withdrew: theirs to decide. */
export function planReviewOfWithdrawn(draft: Draft, key: string, file: string): void {
  const { now, source } = draft.input
  planReview(draft, {
    id: reviewId([source.id, key, 'withdrawn']),
    at: now,
    why: 'withdrawn_at_source',
    from: source.id,
    listing: listingIdOf(file),
    note: `${source.id} does not list ${key} any more; people edited ${file} and ${evidenceFileOf(file)} says so.`,
  })
}

function planReview(draft: Draft, item: ReviewItem): void {
  const file = reviewFileOf(item.id)
  const { machine } = draft.input
  // The first time it was found stays; what people settled is not asked again.
  const settled = parseSettled(machine.get(SETTLED_FILE))
  if (machine.has(file) || Object.hasOwn(settled, item.id)) return
  planText(draft, file, renderJson(item))
}
