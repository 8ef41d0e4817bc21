import { hash } from 'node:crypto'
import * as v from 'valibot'
import { parseJson } from '../../src/domain/wire/parse-json.ts'
import { parseAs } from './machine-files.ts'

/** A file by its path from the content folder. */
export const ReviewFileSchema = v.strictObject({ path: v.string(), text: v.string() })
export type ReviewFile = v.InferOutput<typeof ReviewFileSchema>

/** What a person decided, and why; a refusal without a reason helps nobody who asks again. */
export type Decision =
  | { decision: 'accepted'; reason: string; file?: ReviewFile }
  | { decision: 'refused'; reason: string }

/**
 * A place where questions for people wait: files of the content, or rows of the ledger. A new kind
 * of question is one of these and a line in `open-sources.ts`; the command stays as it is.
 */
export interface ReviewSource {
  /** The name for `--from`, such as `tags` or `reports`. */
  kind: string
  /** Waiting items, oldest first. */
  list(): Promise<ReviewItem[]>
  /** Lines for the reviewer in addition to the item, such as whom to ask; never published. */
  show?(item: ReviewItem): Promise<string[]>
  /**
   * Probes the service itself, and stores the resulting file. Absent where nothing is probed.
   *
   * @returns an item without a file where they make none
   */
  look?(item: ReviewItem): Promise<{ file?: ReviewFile; remarks: string[] }>
  /** Replaces the waiting file. Absent where nothing can be edited. */
  edit?(item: ReviewItem, file: ReviewFile): Promise<void>
  /**
   * Carries out a decision, its effect first and its record last: if killed in between, repeating
   * the command gives the same end.
   *
   * @returns what was done, one line each
   * @throws OperatorError where it can't be done; the item keeps waiting
   */
  settle(item: ReviewItem, decision: Decision): Promise<string[]>
  /** The same for a whole list; items that fail keep waiting. Absent where each needs a look. */
  settleAll?(items: readonly ReviewItem[], decision: Decision): Promise<SettledItem[]>
  close?(): Promise<void>
}

/** What was done, one line each, or why nothing was. */
export interface SettledItem {
  item: ReviewItem
  done?: string[]
  fault?: string
}

/** `content/review/<id>.json`: a question for people; nothing in it is live. */
const ReviewItemSchema = v.strictObject({
  id: v.pipe(v.string(), v.regex(/^[a-z0-9-]{1,80}$/)),
  /** When it was asked, ISO 8601. */
  at: v.string(),
  why: v.string(),
  /** Its origin: an importer, `tags`, `reports`. */
  from: v.string(),
  listing: v.string(),
  note: v.string(),
  /** The file that goes into the content when it is accepted. */
  file: v.optional(ReviewFileSchema),
})
export type ReviewItem = v.InferOutput<typeof ReviewItemSchema>

const SettledSchema = v.record(
  v.string(),
  v.strictObject({
    decision: v.picklist(['accepted', 'refused']),
    reason: v.string(),
    at: v.string(),
    listing: v.string(),
  }),
)

/** The decision, so that the same question is not asked again. */
export const SETTLED_FILE = 'review/settled.json'

/** The same question has the same name, so that it is asked once. */
export function reviewId(parts: readonly unknown[]): string {
  return hash('sha256', JSON.stringify(parts), 'hex').slice(0, 12)
}

export function reviewFileOf(id: string): string {
  return `review/${id}.json`
}

/** @throws Error that names the file and what would be right. */
export function parseReviewItem(text: string, file: string): ReviewItem {
  return parseAs(ReviewItemSchema, parseJson(text), file)
}

/** By id. @throws Error that names the file and what would be right. */
export function parseSettled(text: string | undefined) {
  return text === undefined ? {} : parseAs(SettledSchema, parseJson(text), SETTLED_FILE)
}
