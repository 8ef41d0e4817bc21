import type { RouteId } from '../../domain/wire/route-table.ts'
import { type OperationFacts, SELLER_READ, SELLER_WRITE } from './operation-facts.ts'

/** What a seller does about a listing: signing in, claims, payouts, analytics. */
export const SELLER_OPERATIONS = {
  login: {
    summary: 'Mail a sign-in link.',
    description:
      'The answer is the same for every well-formed address, known or not; the link works once, for 15 minutes.',
    tag: 'Sellers',
    answer: 'LoginSent',
    body: 'LoginBody',
    problems: [...SELLER_WRITE, 'mail-unavailable'],
  },
  session_start: {
    summary: 'Redeem a sign-in link; sets the session cookie.',
    description:
      'Only this request uses the link up, so that a mail scanner that opens it does no harm.',
    tag: 'Sellers',
    answer: 'Session',
    body: 'SessionBody',
    problems: [...SELLER_WRITE, 'token-invalid'],
  },
  session_end: {
    summary: 'Sign out.',
    description:
      'Ends the session of the cookie and clears it; the same when nobody was signed in.',
    tag: 'Sellers',
    answer: null,
    problems: ['cross-site'],
  },
  me: {
    ...SELLER_READ,
    summary: 'The signed-in seller, claims and basic stats.',
    description: 'Clicks and calls are those of the last 30 days, over all listings owned.',
    answer: 'Me',
    problems: ['not-signed-in'],
  },
  claims: {
    ...SELLER_READ,
    summary: "The seller's claims.",
    description: 'Claims in every state, open, verified and ended ones.',
    answer: 'Claims',
    problems: ['not-signed-in'],
  },
  claim_start: {
    ...SELLER_READ,
    summary: 'Start a claim; answers what to publish and where.',
    description:
      "The proof covers exactly the listing's host, and the claim expires after 72 hours unless it is checked with success.",
    answer: 'ClaimStarted',
    body: 'ClaimBody',
    problems: [...SELLER_WRITE, 'not-signed-in', 'listing-not-found', 'claim-method-unavailable'],
  },
  claim_check: {
    ...SELLER_READ,
    summary: 'Check the proof of a claim now.',
    description:
      'A proof that is not found is no error: the answer says what was expected, what was seen and what to do.',
    answer: 'ClaimChecked',
    problems: ['not-signed-in', 'cross-site', 'claim-not-found', 'rate-limited'],
  },
  analytics: {
    ...SELLER_READ,
    summary: 'Clicks, calls and impressions of claimed listings.',
    description: 'Ninety days by day and source; advanced analytics are a stub.',
    answer: 'Analytics',
    problems: ['not-signed-in'],
  },
  opt_out: {
    ...SELLER_READ,
    summary:
      'Take an owned listing out of the directory, or bring it back; effective at the next build.',
    description:
      'It takes a verified claim, and the listing stays out even if that claim lapses later.',
    answer: 'OptOut',
    body: 'OptOutBody',
    problems: [...SELLER_WRITE, 'not-signed-in', 'listing-not-found'],
  },
  payout_start: {
    ...SELLER_READ,
    summary: 'Ask for a text to sign with a payout wallet.',
    description: 'The text works once, for 15 minutes; signing it moves nothing.',
    answer: 'PayoutChallenge',
    body: 'PayoutBody',
    problems: [...SELLER_WRITE, 'not-signed-in', 'listing-not-found'],
  },
  payout_withdraw: {
    ...SELLER_READ,
    summary: 'Withdraw the proof of a payout.',
    description:
      'The claim and other payouts stay proved, and a text that waits for a signature is void. The same when the payout was not proved.',
    answer: 'PayoutState',
    body: 'PayoutBody',
    problems: [...SELLER_WRITE, 'not-signed-in', 'listing-not-found'],
  },
  payout_check: {
    ...SELLER_READ,
    summary: 'Prove a payout by a signature: EIP-191, EIP-1271 or ed25519.',
    description: 'A signature that proves nothing is a 200 that says what was expected and seen.',
    answer: 'PayoutChecked',
    body: 'PayoutCheckBody',
    problems: [...SELLER_WRITE, 'not-signed-in', 'listing-not-found'],
  },
} as const satisfies Partial<Record<RouteId, OperationFacts>>
