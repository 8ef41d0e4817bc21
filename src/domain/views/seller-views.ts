import * as v from 'valibot'
import type { LiveListing } from '../listing/listing-states.ts'
import { PayoutSchema } from '../listing/networks.ts'
import { ReceiptSchema } from '../relay/receipt.ts'
import type { Refused } from '../wire/problems.ts'
import { count, described, optionally } from '../wire/shapes.ts'
import { CLAIM_METHODS, CLAIM_STATES, CLICK_SOURCES, type ClaimMethod } from '../wire/vocabulary.ts'
import type { ListingView } from './listing-view.ts'

/** Wire shapes of the seller endpoints. Times are ISO 8601 UTC. */

export const LoginBodySchema = v.strictObject({
  email: described(v.string(), 'Where to mail the link: one plain ASCII address.'),
})
export const LoginSentSchema = v.object({ status: v.literal('sent') })

export const SessionBodySchema = v.strictObject({
  token: described(v.string(), 'The token of the mailed link; it works once.'),
})
export const SellerSchema = v.object({ email: v.string(), created_at: v.string() })
export const SessionSchema = v.object({ seller: SellerSchema })

/** The outcome of one check of a claim's proof. */
export const ClaimCheckResultSchema = v.object({
  verified: v.boolean(),
  method: v.picklist(CLAIM_METHODS),
  checked_at: v.string(),
  expected: v.string(),
  /** Exactly what the check saw; null if it saw nothing. */
  observed: v.nullable(v.string()),
  /** Code for the reason; null if verified. */
  reason: v.nullable(v.string()),
  /** What to do now, in plain words. */
  next: v.string(),
})
export type ClaimCheckResult = v.InferOutput<typeof ClaimCheckResultSchema>

export const ClaimSchema = v.object({
  id: v.string(),
  listing_id: v.string(),
  method: v.picklist(CLAIM_METHODS),
  state: v.picklist(CLAIM_STATES),
  created_at: v.string(),
  expires_at: v.string(),
  verified_at: v.optional(v.string()),
  last_checked_at: v.optional(v.string()),
  /** Result of the last check; older than `last_checked_at` while a check is running. */
  last_check: v.optional(ClaimCheckResultSchema),
  /** When the claim ends unless its proof is back; present while the proof of a verified claim is missing. */
  lapses_at: v.optional(v.string()),
})
export type ClaimView = v.InferOutput<typeof ClaimSchema>

export const ClaimsSchema = v.object({ claims: v.array(ClaimSchema) })

export const ClaimBodySchema = v.strictObject({
  listing_id: described(v.string(), 'Id of the listing to claim.'),
  method: optionally(
    v.picklist(CLAIM_METHODS),
    'How to prove control of the host: a file, a DNS record, your email address or a workflow; well_known if absent.',
  ),
})

/** What the seller publishes or sends, and where: `url`, `record` or `address`, depending on the method. */
export const ClaimStartedSchema = v.object({
  claim: ClaimSchema,
  token: v.string(),
  instructions: v.object({
    method: v.picklist(CLAIM_METHODS),
    steps: v.array(v.string()),
    /** The same steps, with the texts to paste or run kept apart from the explanations. */
    guide: v.array(v.object({ text: v.string(), code: v.optional(v.string()) })),
    url: v.optional(v.string()),
    record: v.optional(v.string()),
    address: v.optional(v.string()),
    value: v.string(),
  }),
})
export type ClaimStarted = v.InferOutput<typeof ClaimStartedSchema>

export const ClaimCheckedSchema = v.object({
  claim: ClaimSchema,
  result: ClaimCheckResultSchema,
})
export type ClaimChecked = v.InferOutput<typeof ClaimCheckedSchema>

/** Removes an owned listing from the directory at the next build, or brings it back. */
export const OptOutBodySchema = v.strictObject({
  listing_id: described(v.string(), 'Id of a listing whose verified claim is yours.'),
  removed: optionally(v.boolean(), 'False brings the listing back; true if absent.'),
  moved_to: optionally(
    v.string(),
    'Another listing of yours that replaces this one and takes over its addresses, history and payout proofs.',
  ),
})
export const OptOutSchema = v.object({
  listing_id: v.string(),
  removed: v.boolean(),
  moved_to: v.optional(v.string()),
  effective: v.literal('next_build'),
})

/** The relay's record of the answer to a paid call, shown only to the seller. */
export const SeenDeliverySchema = v.object({
  ...v.omit(ReceiptSchema, ['listing_id', 'request', 'answer']).entries,
  /** The operation's method and address. */
  call: v.string(),
  /** The outcome of a dispute about this verdict. */
  dispute: v.optional(v.picklist(['waiting', 'accepted', 'refused'])),
})

export const ListingAnalyticsSchema = v.object({
  /** The newest fifty paid calls that were judged. */
  deliveries: v.array(SeenDeliverySchema),
  listing_id: v.string(),
  clicks: v.object({
    total: count,
    by_day: v.array(v.object({ date: v.string(), clicks: count })),
    by_src: v.object(
      Object.fromEntries([...CLICK_SOURCES, 'unknown'].map((src) => [src, v.optional(count)])),
    ),
  }),
  calls: count,
  search_impressions: v.optional(count),
  /** Totals of these counts for the last thirty days. */
  last_30_days: v.object({ clicks: count, calls: count, search_impressions: count }),
})

export const AnalyticsSchema = v.object({
  basic: v.object({ listings: v.array(ListingAnalyticsSchema) }),
  advanced: v.object({ status: v.literal('stub') }),
})
export type Analytics = v.InferOutput<typeof AnalyticsSchema>

/** A payout of an owned listing: one in the current release, or one that was proved. */
const KnownPayoutSchema = v.object({
  listing_id: v.string(),
  /** CAIP-10. */
  payout: v.string(),
  /** Whether the published listing names this payout. */
  published: v.boolean(),
  /** Whether payments to this payout are counted for the listing, as of the last build. */
  counts: v.boolean(),
  /** When the payout's wallet signed our text; absent until then. */
  proven_at: v.optional(v.string()),
})
export type KnownPayout = v.InferOutput<typeof KnownPayoutSchema>

/** Whether a seller gets email about changes to their listings; email about claims is always sent. */
export const MailsSchema = v.object({ listings: v.boolean() })
export const MailsBodySchema = v.strictObject({
  listings: described(
    v.boolean(),
    'Whether we email you when a listing of yours stops answering, changes its price or is disputed.',
  ),
})

/** The owner's removal of a listing: when it was requested, and whether a build has carried it out. */
const RemovalSchema = v.object({
  since: v.string(),
  effective: v.picklist(['next_build', 'now']),
  /** The listing that replaces it, if its owner named one. */
  moved_to: v.optional(v.string()),
})

const OwnClaimSchema = v.object({
  ...ClaimSchema.entries,
  /** Null if the listing stays; its owner cancels a removal by opt-out with `removed: false`. */
  removal: v.nullable(RemovalSchema),
})
export type OwnClaim = v.InferOutput<typeof OwnClaimSchema>

export const MeSchema = v.object({
  seller: SellerSchema,
  claims: v.array(OwnClaimSchema),
  /** Owned listings that are not in the directory now, for example after a removal. */
  unlisted: v.array(v.string()),
  payouts: v.array(KnownPayoutSchema),
  mails: MailsSchema,
  stats: v.object({ listings: count, clicks_30d: count, calls_30d: count }),
})
export type Me = v.InferOutput<typeof MeSchema>

/** The longest signature in a payout proof. */
const MAX_SIGNATURE_LENGTH = 8192

const target = {
  listing_id: described(v.string(), 'Id of a listing whose verified claim is yours.'),
  payout: described(PayoutSchema, 'The payout address, CAIP-10.'),
}

export const PayoutBodySchema = v.strictObject(target)
export const PayoutChallengeSchema = v.object({
  /** The text to sign with the payout's wallet, exactly as it is; it works once, for 15 minutes. */
  challenge: v.string(),
})

export const PayoutCheckBodySchema = v.strictObject({
  ...target,
  signature: v.pipe(
    v.string(),
    v.minLength(1, 'expected a signature, got nothing'),
    v.maxLength(MAX_SIGNATURE_LENGTH, `expected at most ${MAX_SIGNATURE_LENGTH} characters`),
    v.description(
      'Signature of the wallet: 0x and hex for EVM (EIP-191, EIP-1271), base58 for Solana (ed25519), as text.',
    ),
  ),
})
export const PayoutStateSchema = v.variant('state', [
  v.object({ payout: v.string(), state: v.literal('proven'), proven_at: v.string() }),
  v.object({ payout: v.string(), state: v.literal('unproven') }),
])
export type PayoutState = v.InferOutput<typeof PayoutStateSchema>

export const PayoutCheckedSchema = v.object({
  verified: v.boolean(),
  expected: v.string(),
  /** What was seen; null if there was nothing to compare. */
  observed: v.nullable(v.string()),
  payout: PayoutStateSchema,
})
export type PayoutChecked = v.InferOutput<typeof PayoutCheckedSchema>

/** Data of sellers' pages: answers of the seller endpoints, for people. */

/** A redirect to another page of this site. */
interface Left {
  kind: 'left'
  to: string
}

/** The page that requests and redeems a sign-in link. */
export interface SignInPage {
  answer: { kind: 'empty' } | { kind: 'sent'; email: string } | Left | Refused
  /** Token from the emailed link; empty if no link was opened. */
  token: string
  /** What the visitor came for, as a query: a `listing`, and the `domain` whose listings they looked at. */
  wanted: string
}

/** The numbers of one owned listing. */
export type ListingNumbers = Analytics['basic']['listings'][number]

/** One of the ways to prove a claim, if the listing's host allows it. */
export interface ClaimWay {
  method: ClaimMethod
  /** The domain of email addresses that prove the claim, if the seller's address is at another domain. */
  needs?: string
}

/** A claim, and what is known about its listing. */
export interface ClaimCard {
  claim: ClaimView
  ways: readonly ClaimWay[]
  /** The listing's name, or its last known name if the listing is gone; else its id. */
  name: string
  /** Null if the listing is not in the directory, for example after a removal. */
  view: ListingView | null
}

export interface OwnedListing extends ClaimCard {
  claim: OwnClaim
  payouts: readonly KnownPayout[]
  numbers: ListingNumbers | null
}

/** The outcome of the last form, and where on the page it is shown. */
export interface Outcome {
  /** Id of a claim; `new` at the form that starts one. */
  at: string
  /** The payout that the form was about, if any. */
  payout?: string
  line?: string
  refused?: Refused
  started?: ClaimStarted
  /** The text that the payout's wallet has to sign. */
  challenge?: string
  checked?: PayoutChecked
}

/** Listings on a host that somebody typed, or on the host of a seller's email address. */
export interface Found {
  domain: string
  /** True for a host on which many publish: only a repository's full address finds its listings. */
  isShared: boolean
  listings: readonly Pick<LiveListing, 'id' | 'name' | 'kind' | 'status'>[]
}

export interface SignedInPage {
  kind: 'signed_in'
  me: Me
  owned: readonly OwnedListing[]
  /** Claims waiting for their proof. */
  pending: readonly ClaimCard[]
  /** Claims that have ended. */
  ended: readonly ClaimCard[]
  /** The listing that the visitor came for, if any. */
  wanted: { id: string; listing: Wanted; ways: readonly ClaimWay[] } | null
  outcome: Outcome | null
  /** Milliseconds since the epoch; `next_build` is when the next daily build is due. */
  now: number
  next_build: number
}

/** A listing that somebody came for; a removed listing has no status. */
type Wanted = Pick<LiveListing, 'name' | 'url'> & Partial<Pick<LiveListing, 'status'>>

interface SignedOut {
  kind: 'signed_out'
  /** Id of the listing that the visitor wants to claim, empty for none; `wanted` is that listing, if there is one. */
  listing: string
  wanted?: Wanted
}

export interface DashboardPage {
  /** Null if nobody named a host. */
  found?: Found | null
  answer: SignedInPage | SignedOut | Left | Refused
}
