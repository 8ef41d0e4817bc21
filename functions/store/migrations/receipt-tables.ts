import { integer, key, maybe, moment, table, text } from './columns.ts'

export const RECEIPT_TABLES = {
  /**
   * Outcomes of paid calls, in the order of the log: those of one operation within seconds share a
   * row. No part of a request or an answer is here.
   */
  receipt_page: table({
    /** Of its first receipt. */
    position: { ...moment, sql: 'moment not null primary key' },
    listing_id: text,
    /** Method and address of the operation, as content has it. */
    call: text,
    /** The seconds in which the calls came, counted since the epoch. */
    span: moment,
    /** JSON: each receipt, the hash of payee and payer, and of both with the signed nonce. */
    receipts: text,
  }),
  /** Complete subtrees of the log, by level and position; those of level 0 are its leaves. Hex. */
  receipt_node: table(
    { level: integer, place: moment, hash: text },
    'receipt_node_key primary key (level, place)',
  ),
  /** One row: the size of the log. The appending server locks it, so that no two append at once. */
  receipt_log: table({ name: key, size: moment, peaks: text }),
  receipt_head: table({
    size: { ...moment, sql: 'moment not null primary key' },
    root: text,
    at: moment,
    key_id: text,
    signature: text,
  }),
  /** Signing keys; the secret of a retired one is deleted. */
  receipt_key: table({
    id: key,
    public_key: text,
    secret: maybe(text),
    created_at: moment,
    retired_at: maybe(moment),
  }),
}
