import { type Gone, listingOfPath, toGoneText } from '../../src/domain/derived/tombstone.ts'
import type { MakeProblem } from '../http/problem.ts'
import type { Release } from './release.ts'

/** The listing that was at an address and is gone; null where there never was one. */
export function findGone({ gone, listings }: Release, path: string): Gone | null {
  for (const id of listingOfPath(path)) {
    const found = listings.has(id) ? undefined : gone.get(id)
    if (found !== undefined) return found
  }
  return null
}

/** 410: it was here, why it is not any more, and what is there instead. */
export function toGoneProblem(gone: Gone, problem: MakeProblem): Response {
  return problem('listing-gone', { detail: toGoneText(gone), extra: { ...gone } })
}
