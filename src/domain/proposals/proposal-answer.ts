import type { ProblemCode } from '../wire/problems.ts'
import type { ProposalView } from './proposal-views.ts'

/** What becomes of a proposal, or of a look at one: for the endpoint and for the page. */
export type ProposalAnswer =
  | { kind: 'empty' }
  /** `field` names the part of the proposal that is wrong, where one is. */
  | {
      kind: 'refused'
      code: ProblemCode
      reason: string
      field?: 'url' | 'kind' | 'note' | 'email'
      headers?: Record<string, string>
    }
  | { kind: 'listed'; listing_id: string }
  | { kind: 'proposal'; proposal: ProposalView }

/** Page that says what became of a proposal; whoever has its id may look. */
export function proposalPath(id: string): string {
  return `/propose?id=${id}`
}

/** Form where anybody says what to change about a listing. */
export function correctionPath(listingId: string): string {
  return `/propose?listing=${listingId}`
}

/** What `/propose` shows: the form, what became of one that was sent, or of an earlier one by its id. */
export interface ProposePage {
  answer: ProposalAnswer
  /** What was sent, to be shown in the form again; never the address to ask back at. */
  sent: {
    url: string
    kind: string
    note: string
    /** Id of the listing to correct; empty where one is proposed. */
    listing: string
  }
}
