import type { ProblemCode } from '../wire/problems.ts'

/** What `/dispute?listing=` shows: the form, or what became of one that was sent. */
export interface DisputePage {
  answer:
    | { kind: 'empty' }
    | { kind: 'refused'; code: ProblemCode; reason: string; headers?: Record<string, string> }
    | { kind: 'taken'; id: string }
  /** What was sent, to be shown in the form again. */
  sent: { listing: string; reason: string; evidence: string }
}

/** Form where anybody says what is wrong about a listing. */
export function disputePath(listingId: string): string {
  return `/dispute?listing=${listingId}`
}
