import type { PROPOSAL_STATES } from '../../../src/domain/proposals/proposal-views.ts'
import type { ChannelEventKind } from '../../../src/domain/settlement/schemes/channel-rule.ts'
import type { ClaimMethod, ClaimState, ClickSource } from '../../../src/domain/wire/vocabulary.ts'
import { integer, key, maybe, moment, table, text, textOf, unique, withRule } from './columns.ts'

export const USAGE_KINDS = ['impression', 'call'] as const
export const CHECK_STATES = ['waiting', 'counted', 'done', 'refused', 'given_up'] as const
export type SeenBy = 'relay' | 'meter' | 'both'

const ofSeller = withRule(text, 'references seller (id) on delete cascade')
/** A proof ends with its claim: the next owner of the listing proves its payouts again. */
const ofClaim = withRule(text, 'references claim (id) on delete cascade')
/** `''` where a click or search named none. */
const source = textOf<ClickSource | ''>()

/** Where a transfer stands on its chain. */
const transfer = { network: text, transaction_id: text, log_index: integer }

/**
 * Moments are milliseconds since the epoch, days and hours are whole numbers since the epoch (UTC),
 * flags are 0 or 1: the same values in both databases.
 */
export const BASELINE = {
  click: table({
    hour: integer,
    listing_id: text,
    sid: maybe(text),
    pos: maybe(integer),
    src: maybe(textOf<ClickSource>()),
    bot: integer,
  }),
  /** Clicks of days long past, folded to counts. */
  click_day: table(
    { day: integer, listing_id: text, src: source, clicks: integer },
    'click_day_key primary key (listing_id, day, src)',
  ),
  usage_day: table(
    {
      day: integer,
      kind: textOf<(typeof USAGE_KINDS)[number]>(),
      listing_id: text,
      src: source,
      uses: integer,
    },
    'usage_day_key primary key (listing_id, kind, day, src)',
  ),
  seller: table({ id: key, email: unique, created_at: moment }),
  /** `id_hash` is the SHA-256 of the cookie's value: a copy of this table signs nobody in. */
  session: table({ id_hash: key, seller_id: ofSeller, created_at: moment, expires_at: moment }),
  /** One row an address, so that a newer link replaces the older one. */
  login_token: table({ email: key, token_hash: unique, created_at: moment, expires_at: moment }),
  /** Counted tries a window, shared by all instances. `key` holds no address, only a hash. */
  attempt: table({ key, window_start: moment, tries: integer }),
  /** Mail still to be sent. `payload` is JSON and never holds a secret: links are made when sending. */
  mail_job: table({
    id: key,
    kind: text,
    email: text,
    payload: text,
    created_at: moment,
    expires_at: moment,
    not_before: moment,
    lease_until: moment,
    attempts: integer,
  }),
  claim: table({
    id: key,
    listing_id: text,
    seller_id: ofSeller,
    /** The host the proof covers, exactly. */
    host: text,
    method: textOf<ClaimMethod>(),
    token: unique,
    state: textOf<ClaimState>(),
    created_at: moment,
    expires_at: moment,
    verified_at: maybe(moment),
    last_checked_at: maybe(moment),
    failing_since: maybe(moment),
    /** JSON of what the last check saw, for its seller alone; foreign text in it is cut and inert. */
    last_check: maybe(text),
  }),
  opt_out: table({ listing_id: key, host: text, created_at: moment }),
  /** A text a seller was asked to sign; `payout` is CAIP-10, EVM in lower case. */
  payout_challenge: table(
    { claim_id: ofClaim, payout: text, challenge: text, expires_at: moment },
    'payout_challenge_key primary key (claim_id, payout)',
  ),
  payout_proof: table(
    { claim_id: ofClaim, payout: text, proven_at: moment },
    'payout_proof_key primary key (claim_id, payout)',
  ),
  /** A settlement a seller reported, to be looked up on its chain. Holds no payment header. */
  settlement_check: table({
    id: key,
    listing_id: text,
    /** JSON of the claim, and of the payout addresses published when it was made. */
    claim: text,
    payouts: text,
    state: textOf<(typeof CHECK_STATES)[number]>(),
    reason: maybe(text),
    created_at: moment,
    not_before: moment,
    lease_until: moment,
    attempts: integer,
    /** What the claim is about, whatever it says of it. */
    payment: withRule(text, "default ''"),
    /** Start and end of the relayed call. */
    called_at: withRule(moment, 'default 0'),
    answered_at: withRule(moment, 'default 0'),
  }),
  /** Each transfer counts once, ever, for one listing, even if several report it. */
  settlement: table(
    {
      ...transfer,
      listing_id: text,
      payer: text,
      payee: text,
      amount: text,
      micro_usd: moment,
      settled_at: moment,
      block_number: maybe(moment),
      seen_by: withRule(textOf<SeenBy>(), "default 'relay'"),
    },
    'settlement_once primary key (network, transaction_id, log_index)',
  ),
  /** What payout wallets sent, and what payers had before they paid: only the wash rules read it. */
  wallet_transfer: table(
    {
      ...transfer,
      sender: text,
      receiver: text,
      amount: text,
      sent_at: moment,
      block_number: maybe(moment),
      /** Whether code stands at `sender`; null where nobody asked. */
      from_contract: maybe(integer),
    },
    'wallet_transfer_once primary key (network, transaction_id, log_index)',
  ),
  /** What happened to payment channels with metered payouts; a row without a channel marks that those of a scheme are read. */
  channel_event: table(
    {
      ...transfer,
      block_number: moment,
      /** Of what pays the seller, its block's time; of anything else, about it. */
      at: moment,
      channel: text,
      kind: textOf<ChannelEventKind>(),
      amount: text,
      payer: maybe(text),
      payee: maybe(text),
    },
    'channel_event_key primary key (network, transaction_id, log_index)',
  ),
  /** How far one payout (an address, EVM in lower case) has been read: EVM by blocks, Solana by signatures. */
  meter_cursor: table(
    {
      network: text,
      payout: text,
      first_block: moment,
      next_block: moment,
      /** Time of the last block read. */
      read_until: moment,
      /** Newest signature read (Solana). */
      mark: maybe(text),
    },
    'meter_cursor_key primary key (network, payout)',
  ),
  /** Hashes of blocks that were read, to notice when they are on the chain no more. */
  meter_block: table(
    { network: text, number: moment, hash: text },
    'meter_block_key primary key (network, number)',
  ),
  meter_payer: table(
    {
      network: text,
      payer: text,
      first_block: moment,
      first_paid_at: moment,
      /** Whether the wallets that funded it were looked for. */
      is_traced: integer,
      /** Where it was seen to pay somebody else by the same means. */
      paid_others_block: maybe(moment),
    },
    'meter_payer_key primary key (network, payer)',
  ),
  /** Work that one process does at a time, for as long as it says. */
  lease: table({ name: key, holder: text, held_until: moment }),
  /** What a server's own probes saw of a listing: evidence as its file would hold it, JSON. */
  probe_evidence: table({ listing_id: key, evidence: text, probed_at: moment }),
  /** What a stranger proposed. `found` and `file` are JSON; `email` is null once it is decided. */
  proposal: table({
    id: key,
    url: text,
    origin: text,
    note: text,
    email: maybe(text),
    found: text,
    /** The file as a person edited it; null while it is the one made of `found`. */
    file: maybe(text),
    state: textOf<(typeof PROPOSAL_STATES)[number]>(),
    reason: maybe(text),
    listing_id: maybe(text),
    created_at: moment,
    settled_at: maybe(moment),
  }),
  /** What somebody says is wrong about a listing, and what people made of it. */
  dispute: table({
    id: key,
    listing_id: text,
    reason: text,
    /** JSON list. */
    evidence_urls: text,
    state: textOf<'waiting' | 'accepted' | 'refused'>(),
    /** What the person who decided says of it. */
    note: maybe(text),
    created_at: moment,
    settled_at: maybe(moment),
  }),
}
