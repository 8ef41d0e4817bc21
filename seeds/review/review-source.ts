import type { ReviewItem } from '../content/review-item.ts'

export type ReviewFile = NonNullable<ReviewItem['file']>

/** What a person decided, and why; a refusal without a reason helps nobody who asks again. */
export type Decision =
  | { decision: 'accepted'; reason: string; file?: ReviewFile }
  | { decision: 'refused'; reason: string }

/**
 * Somewhere that questions for people wait: files of the content, or rows of the ledger. A new kind
 * of question is one of these and a line in `open-sources.ts`; the command stays as it is.
 */
export interface ReviewSource {
  /** What `--from` chooses by, such as `content` or `proposals`. */
  kind: string
  /** What waits, oldest first. */
  list(): Promise<ReviewItem[]>
  /** Lines for the person who decides beside the item itself, such as whom to ask; never published. */
  show(item: ReviewItem): Promise<string[]>
  /** Puts another file in the place of the waiting one. Absent where nothing can be edited. */
  edit?(item: ReviewItem, file: ReviewFile): Promise<void>
  /**
   * Carries a decision out, the effect first and the note of it last: killed in between, the same
   * command again ends where an unbroken one does.
   *
   * @returns what was done, one line each
   * @throws OperatorError where it can't be done; the item waits on
   */
  settle(item: ReviewItem, decision: Decision): Promise<string[]>
  close(): Promise<void>
}
