import type { DeliveryVerdict } from '../wire/vocabulary.ts'

export interface Judgement {
  verdict: DeliveryVerdict
  /** A sentence out of our words, types and the declaration's names: nothing of the answer is in it. */
  reason: string
}

/** What an operation says of a good answer: `response` of its facts. */
export interface DeclaredResponse {
  content_type: string
  schema?: unknown
  example?: unknown
}

/** An answer as far as it came. */
export interface DeliveredAnswer {
  /** Null where none came. */
  status: number | null
  content_type: string
  /** `cut` by its sender; `unread`: too large, or packed in a way that nobody unpacks here. */
  end: 'whole' | 'cut' | 'unread'
  /** Unpacked; without a use where the answer is not whole. */
  body: Uint8Array
}
