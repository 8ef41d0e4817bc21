import type { ChannelEventKind } from '../../../src/domain/settlement/schemes/batch-settlement.ts'
import type { ClaimMethod, ClaimState, ClickSource } from '../../../src/domain/wire/vocabulary.ts'
import type { DisputeTable, ProbeEvidenceTable, ProposalTable } from './review-tables.ts'

/**
 * The tables as the queries see them; the migrations create them.
 * Moments are milliseconds since the epoch, days and hours are whole numbers since the epoch (UTC),
 * flags are 0 or 1: the same values in both databases.
 */
export interface Tables {
  click: ClickTable
  click_day: ClickDayTable
  usage_day: UsageDayTable
  seller: SellerTable
  session: SessionTable
  login_token: LoginTokenTable
  claim: ClaimTable
  opt_out: OptOutTable
  mail_job: MailJobTable
  attempt: AttemptTable
  settlement_check: SettlementCheckTable
  settlement: SettlementTable
  wallet_transfer: WalletTransferTable
  payout_challenge: PayoutChallengeTable
  payout_proof: PayoutProofTable
  proposal: ProposalTable
  dispute: DisputeTable
  meter_cursor: MeterCursorTable
  meter_block: MeterBlockTable
  meter_payer: MeterPayerTable
  channel_event: ChannelEventTable
  lease: LeaseTable
  probe_evidence: ProbeEvidenceTable
}

export interface ClickTable {
  hour: number
  listing_id: string
  sid: string | null
  pos: number | null
  src: ClickSource | null
  bot: number
}

/** Clicks of days long past, folded to counts. `src` is '' where a click named none. */
export interface ClickDayTable {
  day: number
  listing_id: string
  src: ClickSource | ''
  clicks: number
}

export const USAGE_KINDS = ['impression', 'call'] as const
export type UsageKind = (typeof USAGE_KINDS)[number]

export interface UsageDayTable {
  day: number
  kind: UsageKind
  listing_id: string
  src: ClickSource | ''
  uses: number
}

export interface SellerTable {
  id: string
  email: string
  created_at: number
}

/** `id_hash` is the SHA-256 of the cookie's value: a copy of this table signs nobody in. */
export interface SessionTable {
  id_hash: string
  seller_id: string
  created_at: number
  expires_at: number
}

/** One row an address, so that a newer link replaces the older one. */
export interface LoginTokenTable {
  email: string
  token_hash: string
  created_at: number
  expires_at: number
}

export interface ClaimTable {
  id: string
  listing_id: string
  seller_id: string
  /** The host the proof covers, exactly. */
  host: string
  method: ClaimMethod
  token: string
  state: ClaimState
  created_at: number
  expires_at: number
  verified_at: number | null
  last_checked_at: number | null
  failing_since: number | null
  /** JSON of what the last check saw, for its seller alone; foreign text in it is cut and inert. */
  last_check: string | null
}

export interface OptOutTable {
  listing_id: string
  host: string
  created_at: number
}

/** Mail still to be sent. `payload` is JSON and never holds a secret: links are made when sending. */
export interface MailJobTable {
  id: string
  kind: string
  email: string
  payload: string
  created_at: number
  expires_at: number
  not_before: number
  lease_until: number
  attempts: number
}

/** Counted tries a window, shared by all instances. `key` holds no address, only a hash. */
export interface AttemptTable {
  key: string
  window_start: number
  tries: number
}

export const CHECK_STATES = ['waiting', 'counted', 'done', 'refused', 'given_up'] as const

/** A settlement a seller reported, to be looked up on its chain. Holds no payment header. */
export interface SettlementCheckTable {
  id: string
  listing_id: string
  /** JSON of the claim, and of the payout addresses published when it was made. */
  claim: string
  payouts: string
  /** What the claim is about, whatever it says of it. */
  payment: string
  /** Start and end of the relayed call. */
  called_at: number
  answered_at: number
  state: (typeof CHECK_STATES)[number]
  reason: string | null
  created_at: number
  not_before: number
  lease_until: number
  attempts: number
}

export type SeenBy = 'relay' | 'meter' | 'both'

export interface SettlementTable {
  network: string
  transaction_id: string
  log_index: number
  listing_id: string
  payer: string
  payee: string
  amount: string
  micro_usd: number
  settled_at: number
  block_number: number | null
  seen_by: SeenBy
}

/** What payout wallets sent, and what payers had before they paid: only the wash rules read it. */
export interface WalletTransferTable {
  network: string
  transaction_id: string
  log_index: number
  sender: string
  receiver: string
  amount: string
  sent_at: number
  block_number: number | null
  /** Whether code stands at `sender`; null where nobody asked. */
  from_contract: number | null
}

/** A text a seller was asked to sign; `payout` is CAIP-10, EVM in lower case. */
export interface PayoutChallengeTable {
  claim_id: string
  payout: string
  challenge: string
  expires_at: number
}

export interface PayoutProofTable {
  claim_id: string
  payout: string
  proven_at: number
  /** Of a wallet that is a contract: when it last said yes, and to what. A key's own signature never changes. */
  checked_at: number | null
  challenge: string | null
  signature: string | null
}

/** How far one payout has been read: EVM by blocks, Solana by signatures. */
export interface MeterCursorTable {
  network: string
  /** Address, EVM in lower case. */
  payout: string
  first_block: number
  next_block: number
  /** Time of the last block read. */
  read_until: number
  /** Newest signature read (Solana). */
  mark: string | null
}

/** Hashes of blocks that were read, to notice when they are on the chain no more. */
export interface MeterBlockTable {
  network: string
  number: number
  hash: string
}

/** Who paid a metered payout. */
export interface MeterPayerTable {
  network: string
  payer: string
  first_block: number
  first_paid_at: number
  /** Whether the wallets that funded it were looked for. */
  is_traced: number
  /** Where it was seen to pay somebody else by the same means. */
  paid_others_block: number | null
}

/** What happened to payment channels with metered payouts; the first row of a chain marks that they are read. */
export interface ChannelEventTable {
  network: string
  transaction_id: string
  log_index: number
  block_number: number
  /** Of a claim, its block's time; of anything else, about it. */
  at: number
  channel: string
  kind: ChannelEventKind
  amount: string
  payer: string | null
  payee: string | null
}

/** Work that one process does at a time, for as long as it says. */
export interface LeaseTable {
  name: string
  holder: string
  held_until: number
}
