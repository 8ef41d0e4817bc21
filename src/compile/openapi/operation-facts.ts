import type { DocsTag } from '../../domain/wire/docs-groups.ts'
import type { ProblemCode } from '../../domain/wire/problems.ts'
import type { SchemaName } from './schemas.ts'

/** What the OpenAPI document says of a route beside its address. */
export interface OperationFacts {
  summary: string
  /** One sentence on what the summary leaves open. */
  description: string
  tag: DocsTag
  /** Name of the 200 body; null where the body is the seller's or empty. */
  answer: SchemaName | null
  /** What the answer is instead where a parameter asks for it. */
  otherAnswer?: SchemaName
  /** Type of the 200 body where it is not JSON. */
  media?: string
  body?: SchemaName
  /** Cookie session needed. */
  isForSellers?: boolean
  problems: readonly ProblemCode[]
}

export const SELLER_READ = { tag: 'Sellers', isForSellers: true } as const
export const SELLER_WRITE = [
  'invalid-body',
  'invalid-parameter',
  'cross-site',
  'unsupported-media-type',
  'payload-too-large',
  'rate-limited',
] as const
