import type { LiveListing } from '../listing/live-listing.ts'
import type { Refused } from '../wire/problems.ts'
import type { ListingView } from './listing-view.ts'
import type {
  Analytics,
  ClaimStarted,
  ClaimView,
  KnownPayout,
  Me,
  OwnClaim,
  PayoutChecked,
} from './seller-views.ts'

/** Data of sellers' pages: answers of the seller endpoints, for people. */

/** A redirect to another page of this site. */
interface Left {
  kind: 'left'
  to: string
}

/** The page that requests and redeems a sign-in link. */
export interface SignInPage {
  answer: { kind: 'empty' } | { kind: 'sent'; email: string } | Left | Refused
  /** Token of the mailed link; empty where none was opened. */
  token: string
  /** Id of the listing that is wanted; empty for none. */
  listing: string
}

/** The numbers of one owned listing. */
export type ListingNumbers = Analytics['basic']['listings'][number]

/** A claim, and what is known of its listing. */
export interface ClaimCard {
  claim: ClaimView
  /** Null when it is not in the directory, as after a removal. */
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
  /** The payout it is about, where it is about one. */
  payout?: string
  line?: string
  refused?: Refused
  started?: ClaimStarted
  /** The text that the wallet of the payout has to sign. */
  challenge?: string
  checked?: PayoutChecked
}

/** Listings on a host that somebody typed, or that their mail comes from. */
export interface Found {
  domain: string
  listings: readonly Pick<LiveListing, 'id' | 'name' | 'kind' | 'status'>[]
}

export interface SignedInPage {
  kind: 'signed_in'
  me: Me
  owned: readonly OwnedListing[]
  /** Claims that wait for their proof. */
  pending: readonly ClaimCard[]
  /** Claims that have ended. */
  ended: readonly ClaimView[]
  /** Id that the form of a new claim starts with, empty for none, and its listing where there is one. */
  wantedId: string
  wanted: ListingView | null
  outcome: Outcome | null
  /** Milliseconds since the epoch; the second is when the next daily build is due. */
  now: number
  next_build: number
}

export interface DashboardPage {
  /** Null where nobody named a host. */
  found?: Found | null
  answer: SignedInPage | { kind: 'signed_out'; listing: string } | Left | Refused
}
