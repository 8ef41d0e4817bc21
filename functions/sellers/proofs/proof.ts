import type { ClaimHost } from '../../../src/domain/owners/claim-rules.ts'
import type { ClaimMethod } from '../../../src/domain/wire/vocabulary.ts'

/** What a proof looked for, what it saw, and what the seller can do about the difference. */
export interface Proof {
  verified: boolean
  expected: string
  /** Exactly what was seen, truncated; null when there was nothing. */
  observed: string | null
  /** Null when verified. */
  reason: ProofReason | null
  next: string
}

const PROOF_REASONS = [
  'http_status',
  'redirected_elsewhere',
  'not_text',
  'too_large',
  'token_missing',
  'timeout',
  'unreachable',
  'address_refused',
  'record_missing',
  'record_differs',
  'resolvers_disagree',
  'dns_failed',
  'address_elsewhere',
  'claim_expired',
  'claim_superseded',
  'claim_lapsed',
  'listing_gone',
  'host_changed',
  'method_unavailable',
  'token_absent',
  'token_refused',
  'issuer_failed',
  'repository_differs',
  'event_refused',
] as const
export type ProofReason = (typeof PROOF_REASONS)[number]

/** What was seen, before it is compared with what was expected. */
export type ProofCheck = Pick<Proof, 'observed' | 'reason' | 'next'>

/** Not proved: what was seen, and what to do about it. */
export function missed(reason: ProofReason, observed: string | null, next: string): ProofCheck {
  return { reason, observed, next }
}

export function toProof(expected: string, sight: ProofCheck): Proof {
  return { verified: sight.reason === null, expected, ...sight }
}

/** A proof method. It never throws for the seller's side: a failure says what was seen. */
export type Prove = (request: ProofRequest) => Promise<Proof>

export interface ProofRequest {
  host: ClaimHost
  method: ClaimMethod
  token: string
  email: string
  /** What a workflow sent to prove itself. */
  idToken?: string | undefined
}

const MAX_OBSERVED = 300

/** Foreign text shown to a seller: truncated, with its control characters made visible. */
export function showObserved(text: string): string {
  const cut = text.length > MAX_OBSERVED ? `${text.slice(0, MAX_OBSERVED)}…` : text
  // biome-ignore lint/suspicious/noControlCharactersInRegex: making them visible is the point
  const control = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e]/g
  return cut.replace(control, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
