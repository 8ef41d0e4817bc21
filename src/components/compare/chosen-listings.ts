import type { ListingView } from '../../domain/views/listing-view.ts'
import { LEAST_COMPARED, toComparisonPath } from '../../domain/wire/links.ts'
import type { TaskNames } from './versus.ts'

/** Data of `/compare?ids=`: chosen listings, and why others are missing. */
export interface ChosenListings {
  /** In the order they were chosen. */
  views: readonly ListingView[]
  /** A sentence for each requested one that is not shown. */
  leftOut: readonly string[]
  tasks: TaskNames
}

/** @returns 200 where there is something to compare, else why not: none known, or too few. */
export function toChosenStatus({ views, leftOut }: ChosenListings): 200 | 400 | 404 {
  if (views.length >= LEAST_COMPARED) return 200
  return leftOut.length > 0 ? 404 : 400
}

/** The same comparison without one of its listings; null where too few would be left. */
export function withoutListing(views: readonly ListingView[], id: string): string | null {
  const rest = views.filter((view) => view.id !== id)
  return rest.length < LEAST_COMPARED ? null : toComparisonPath(rest.map((view) => view.id))
}
