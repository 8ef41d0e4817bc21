import {
  type ClaimRules,
  judgeClaim,
  readClaimHost,
} from '../../../src/domain/owners/claim-rules.ts'
import { hostOf, isProvedAt } from '../../../src/domain/owners/shared-hosts.ts'
import type { ClaimState } from '../../../src/domain/wire/vocabulary.ts'
import type { Parts } from '../../parts/parts.ts'
import type { ClaimTable } from '../../store/schema/store.ts'
import {
  missed,
  type Proof,
  type ProofReason,
  type ProofRequest,
  type Prove,
  toProof,
} from '../proofs/proof.ts'
import { findClaimable } from './claim-record.ts'
import { recordProof } from './claim-transitions.ts'

export type ClaimParts = Pick<Parts, 'config' | 'clock' | 'ledger' | 'resolver' | 'release'>

/** What a seller can provide for a check: an address of theirs, or the token of a workflow. */
type Shown = Partial<Pick<ProofRequest, 'email' | 'idToken'>>

/**
 * Looks for a claim's proof and records the outcome; the check endpoint and the daily
 * re-verification both use this. An invalid workflow token is not recorded: anybody can send one.
 */
export async function checkClaim(parts: ClaimParts, prove: Prove, claim: ClaimTable, shown: Shown) {
  const proof = findClosedReason(parts, claim) ?? (await proveAgain(parts, prove, claim, shown))
  const now = parts.clock.now()
  if (!proof.verified && 'idToken' in shown) return { claim, proof, checkedAt: now }
  const after = await recordProof(parts.ledger, claim, proof, now)
  if (!proof.verified || after.state === 'verified') return { claim: after, proof, checkedAt: now }
  // Proved, but meanwhile another seller proved it later, or time ran out.
  return { claim: after, proof: closed(after.state), checkedAt: now }
}

function findClosedReason(parts: ClaimParts, claim: ClaimTable): Proof | null {
  const isOpen = claim.state === 'pending' || claim.state === 'verified'
  if (!isOpen) return closed(claim.state)
  const release = parts.release()
  const listing = findClaimable(release, claim.listing_id)
  if (listing === undefined) {
    const next = 'The listing is not in the directory any more, so there is nothing to prove.'
    return toProof(`The directory lists ${claim.listing_id}.`, missed('listing_gone', null, next))
  }
  const host = hostOf(listing.url)
  if (!isProvedAt(listing.url, claim.host)) {
    const next = `The listing now points to ${host}. Start a new claim for it.`
    return toProof(`The listing's host is ${claim.host}.`, missed('host_changed', host, next))
  }
  // The rules for proofs may have become stricter since the claim was started.
  const verdict = judgeClaim(listing.url, claim.method, claimRulesOf(parts))
  if (verdict.allowed) return null
  const expected = `${claim.method} can prove control of ${claim.host}.`
  return toProof(expected, missed('method_unavailable', null, verdict.detail))
}

export function claimRulesOf({ config, release }: Pick<Parts, 'config' | 'release'>): ClaimRules {
  const { sharedHosts } = release()
  return { allowPrivate: config.PRIVATE_TARGETS, sharedHosts, issuer: config.OIDC_ISSUER }
}

function proveAgain(
  parts: ClaimParts,
  prove: Prove,
  { listing_id, method, token, host }: ClaimTable,
  { email = '', idToken }: Shown,
): Promise<Proof> {
  const url = findClaimable(parts.release(), listing_id)?.url ?? `https://${host}`
  const claimHost = readClaimHost(url, method, claimRulesOf(parts))
  return prove({ host: claimHost, method, token, email, idToken })
}

const CLOSED_REASONS: Record<Exclude<ClaimState, 'pending' | 'verified'>, ProofReason> = {
  expired: 'claim_expired',
  superseded: 'claim_superseded',
  lapsed: 'claim_lapsed',
}

function closed(state: ClaimState): Proof {
  const ended = state === 'superseded' || state === 'lapsed' ? state : 'expired'
  const next = 'This claim has ended and its token is void. Start a new claim; it gets a new token.'
  return toProof('An open claim.', missed(CLOSED_REASONS[ended], ended, next))
}
