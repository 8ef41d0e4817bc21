import type { FormPage } from '../wire/form-page.ts'
import type { ProposalView } from './proposal-views.ts'

/** What becomes of a proposal that is taken. */
export type ProposalAnswer =
  | { kind: 'listed'; listing_id: string }
  | { kind: 'proposal'; proposal: ProposalView }

/** Page that says what became of a proposal. Anyone with its id may look. */
export function proposalPath(id: string): string {
  return `/propose?id=${id}`
}

/** Form where anybody says what to change about a listing. */
export function correctionPath(listingId: string): string {
  return `/propose?listing=${listingId}`
}

/**
 * What `/propose` shows: the form, what became of one that was sent, or of an earlier one by its id.
 * The address to ask back at is never shown again; `listing` is the id of the listing to correct, or
 * empty where one is proposed.
 */
export type ProposePage = FormPage<
  ProposalAnswer,
  { url: string; kind: string; note: string; listing: string }
>
