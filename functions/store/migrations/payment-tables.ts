import type { CountedScheme } from '../../../src/domain/settlement/schemes/schemes.ts'
import { integer, maybe, moment, table, text, textOf } from './columns.ts'

/** The position of a transfer on its chain. */
const transfer = { network: text, transaction_id: text, log_index: integer }
/** How something was paid; null where nobody looked. */
const scheme = maybe(textOf<CountedScheme>())

export const PAYMENT_TABLES = {
  /** A relayed call's hint about its payment, in one of its listing's slots; proves nothing. */
  payment_hint: table(
    { listing_id: text, place: integer, transaction_id: text, noted_at: moment },
    'payment_hint_key primary key (listing_id, place)',
  ),
  /** Each payment the meter saw, once for all sellers it may count for. */
  settlement: table(
    {
      ...transfer,
      /** Which of its owner's listings was called, where the relay noted that; else ''. */
      listing_id: text,
      payer: text,
      payee: text,
      amount: text,
      micro_usd: moment,
      settled_at: moment,
      block_number: maybe(moment),
      scheme,
      /** Hash of payee, payer and the signed nonce (EIP-3009): finds the call it was sent with. */
      authorization_hash: maybe(text),
    },
    'settlement_once primary key (network, transaction_id, log_index)',
  ),
  /** What payout wallets sent, and payers received before they paid: only for wash rules. */
  wallet_transfer: table(
    {
      ...transfer,
      sender: text,
      receiver: text,
      amount: text,
      sent_at: moment,
      block_number: maybe(moment),
      /** Whether `sender` is a contract; null where not checked. */
      from_contract: maybe(integer),
    },
    'wallet_transfer_once primary key (network, transaction_id, log_index)',
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
  /** Hashes of blocks that were read, to notice when they have left the chain. */
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
      /** Whether the wallets that funded it were traced. */
      is_traced: integer,
      /** The block where it was seen to pay somebody else by the same means. */
      paid_others_block: maybe(moment),
    },
    'meter_payer_key primary key (network, payer)',
  ),
}
