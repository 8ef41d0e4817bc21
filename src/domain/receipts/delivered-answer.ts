import type { DeliveryVerdict } from '../wire/vocabulary.ts'

export interface Judgement {
  verdict: DeliveryVerdict
  /** A sentence of our words, types and the declaration's names: no part of the answer. */
  reason: string
}

/** An operation's declaration of a good answer: `response` of its facts. */
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
  /**
   * `cut` by its sender; `foreign`: in a content coding that the caller did not ask for; `unread`: too
   * large, or in an unsupported coding.
   */
  end: 'whole' | 'cut' | 'foreign' | 'unread'
  /** Decompressed; useless where the answer is incomplete. */
  body: Uint8Array
}
