import type { ReviewPlace } from './accept-file.ts'
import { createContentQueue } from './content-queue.ts'
import type { ReviewSource } from './review-source.ts'

/** Every kind of question there is, each opened on its own: one that can't be must not hide the rest. */
export function reviewSources(
  place: ReviewPlace,
  now: () => string,
): { kind: string; open: () => Promise<ReviewSource | null> }[] {
  return [{ kind: 'content', open: async () => createContentQueue(place, now) }]
}
