import * as v from 'valibot'
import { InstantSchema } from '../trust/instant.ts'
import { toCanonicalJson } from '../wire/canonical-json.ts'
import { count, textLike } from '../wire/shapes.ts'
import { DELIVERY_VERDICTS } from '../wire/vocabulary.ts'

const hash = textLike(/^[0-9a-f]{64}$/, 'expected a SHA-256 in hex')
export const ReceiptIdSchema = textLike(/^[\w-]{22}$/, 'expected the id of a receipt')

/** The relay's record of one paid call: no part of the request or the answer is in it. */
export const ReceiptSchema = v.strictObject({
  id: ReceiptIdSchema,
  /** When the call came. */
  at: InstantSchema,
  listing_id: v.string(),
  /** Digest of the operation, as in a lock: the declaration this was judged by. */
  operation: v.string(),
  /**
   * SHA-256 over the secret of the call, method, space, path with query, line feed, body; over the
   * secret and the bytes of the answer as they came. Null where not all of it was read.
   */
  request: v.nullable(hash),
  answer: v.nullable(hash),
  /** Null where no answer came. */
  status: v.nullable(count),
  verdict: v.picklist(DELIVERY_VERDICTS),
  /** In our words and the declaration's names. */
  reason: v.pipe(v.string(), v.maxLength(300)),
  /** The transaction named by the seller; null where it named none. */
  transaction: v.nullable(v.string()),
  ms: count,
})
export type Receipt = v.InferOutput<typeof ReceiptSchema>

/** A state of the log: its first `size` receipts and their Merkle tree hash (RFC 9162). */
export const LogHeadSchema = v.strictObject({
  size: count,
  root: hash,
  at: InstantSchema,
  /** Id of the key, and the signature in base64url. */
  key: v.string(),
  signature: v.string(),
})
export type LogHead = v.InferOutput<typeof LogHeadSchema>

/** `GET /api/v1/receipts/{receipt_id}`. */
export const ReceiptViewSchema = v.object({
  receipt: ReceiptSchema,
  key: v.string(),
  signature: v.string(),
  /** Where the log has it. */
  position: count,
  /** The newest head; null before the first. */
  head: v.nullable(LogHeadSchema),
  /** Path to the head's root; null where the head is older than the receipt: a new one comes every minute. */
  inclusion: v.nullable(v.array(hash)),
})
export type ReceiptView = v.InferOutput<typeof ReceiptViewSchema>

/** `GET /api/v1/receipts/log`. */
export const ReceiptLogViewSchema = v.object({
  log: v.string(),
  keys: v.string(),
  head: v.nullable(LogHeadSchema),
  /** With `from`: proof that the head extends the log of that size. */
  from: v.optional(count),
  consistency: v.optional(v.array(hash)),
})
export type ReceiptLogView = v.InferOutput<typeof ReceiptLogViewSchema>

/** `GET /api/v1/receipts/log/entries`: the rows for a copy of the log. */
export const ReceiptEntriesSchema = v.object({
  from: count,
  receipts: v.array(ReceiptSchema),
  /** Where to continue; null at the end. */
  next: v.nullable(count),
})

/** `GET /.well-known/receipt-keys.json`. */
export const ReceiptKeysSchema = v.object({
  log: v.string(),
  witness: v.picklist(['on', 'off']),
  keys: v.array(
    v.object({
      id: v.string(),
      algorithm: v.literal('Ed25519'),
      /** Base64url of 32 bytes. */
      public_key: v.string(),
      from: InstantSchema,
      /** Signed nothing after this; absent for the current key. */
      until: v.optional(InstantSchema),
    }),
  ),
})
export type ReceiptKeys = v.InferOutput<typeof ReceiptKeysSchema>

/** The bytes of a leaf of the log. */
export function toLeaf(receipt: Receipt): Uint8Array {
  return new TextEncoder().encode(toCanonicalJson(receipt))
}

/** The signed text of a receipt and of a head: neither can be mistaken for the other. */
export function toSignedReceipt(receipt: Receipt): Uint8Array {
  return new TextEncoder().encode(`call-receipt-v1\n${toCanonicalJson(receipt)}`)
}

/** @param log address of the log: a head of one directory is not a head of another */
export function toSignedHead(
  log: string,
  { size, root, at }: Pick<LogHead, 'size' | 'root' | 'at'>,
): Uint8Array {
  return new TextEncoder().encode(`call-receipt-log-v1\n${log}\n${size}\n${root}\n${at}\n`)
}
