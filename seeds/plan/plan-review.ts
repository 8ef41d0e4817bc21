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
  const path = fileOf(seed)
  const { suspicious = '', published } = seed
  if (draft.own.has(seed.key) || draft.input.existing.has(path)) return
  planReview(draft, [seed.key, suspicious], path, {
    why: 'suspicious_text',
    note: `Its text holds words that give orders to an agent: ${JSON.stringify(suspicious)}.`,
    file: { path, text: renderListing(seed.facts, published ?? draft.input.today) },
  })
}

/** A listing that people edited and its source withdrew: theirs to decide. */
export function planReviewOfWithdrawn(draft: Draft, key: string, path: string): void {
  planReview(draft, [key, 'withdrawn'], path, {
    why: 'withdrawn_at_source',
    note: `${draft.input.source.id} does not list ${key} any more; people edited ${path} and ${evidenceFileOf(path)} says so.`,
  })
}

function planReview(
  draft: Draft,
  about: string[],
  path: string,
  { why, ...asked }: Pick<ReviewItem, 'why' | 'note' | 'file'>,
): void {
  const { machine, now, source } = draft.input
  const id = reviewId([source.id, ...about])
  // The first time it was found stays; what people settled is not asked again.
  const settled = parseSettled(machine.get(SETTLED_FILE))
  if (machine.has(reviewFileOf(id)) || Object.hasOwn(settled, id)) return
  const item = { id, at: now, why, from: source.id, listing: listingIdOf(path), ...asked }
  planText(draft, reviewFileOf(id), renderJson(item))
}
