import { integer, key, maybe, moment, table, text } from './columns.ts'

export const RECEIPT_TABLES = {
  /**
   * What became of paid calls, in the order of the log: those of one operation that came within seconds have a row.
   * Nothing that was asked or answered is here.
   */
  receipt_page: table({
    /** Of its first receipt. */
    position: { ...moment, sql: 'moment not null primary key' },
    listing_id: text,
    /** Method and address of the operation, as content has it. */
    call: text,
    /** The seconds in which the calls came, counted since the epoch. */
    span: moment,
    /** JSON: each receipt, the hash of payee and payer, and the hash of these and of the nonce that was signed. */
    receipts: text,
  }),
  /** Complete subtrees of the log, by level and place; those of level 0 are its leaves. Hex. */
  receipt_node: table(
    { level: integer, place: moment, hash: text },
    'receipt_node_key primary key (level, place)',
  ),
  /** One row: how far the log is. The server that appends holds it, so that no two servers append at once. */
  receipt_log: table({ name: key, size: moment, peaks: text }),
  receipt_head: table({
    size: { ...moment, sql: 'moment not null primary key' },
    root: text,
    at: moment,
    key_id: text,
    signature: text,
  }),
  /** Keys that sign; the secret of one that was rotated out is gone. */
  receipt_key: table({
    id: key,
    public_key: text,
    secret: maybe(text),
    created_at: moment,
    retired_at: maybe(moment),
  }),
}
