import { utf8ToBytes } from '@noble/hashes/utils.js'
import * as v from 'valibot'
import { toCanonicalJson } from '../wire/json.ts'
import { count, InstantSchema, textLike } from '../wire/shapes.ts'
import { DELIVERY_VERDICTS } from '../wire/vocabulary.ts'

/** Headers of a judged answer: its receipt's address, and the salt of its hashes. */
export const RECEIPT_HEADER = 'Call-Receipt'
export const RECEIPT_SECRET_HEADER = 'Call-Receipt-Secret'

const hash = textLike(/^[0-9a-f]{64}$/, 'expected a SHA-256 in hex')
export const ReceiptIdSchema = textLike(/^[\w-]{22}$/, 'expected the id of a receipt')
const DaySchema = textLike(/^\d{4}-\d\d-\d\d$/, 'expected a day such as 2026-11-26')

/** The relay's record of one paid call, without any part of the request or the answer. */
export const ReceiptSchema = v.strictObject({
  id: ReceiptIdSchema,
  /** When the relay got the call. */
  at: InstantSchema,
  listing_id: v.string(),
  /** The operation's digest, as in a lock: it identifies the declaration by which the answer was judged. */
  operation: v.string(),
  /**
   * `request`: SHA-256 over the call's secret, method, space, path with query, line feed, body. `answer`: over the
   * secret and the bytes of the answer as they came. Null if the bytes were not all read.
   */
  request: v.nullable(hash),
  answer: v.nullable(hash),
  /** Null if no answer came. */
  status: v.nullable(count),
  verdict: v.picklist(DELIVERY_VERDICTS),
  /** A sentence in our own words and the declaration's names. */
  reason: v.pipe(v.string(), v.maxLength(300)),
  /** The transaction that the seller named, or that was found on its chain by the nonce that the payer signed. */
  transaction: v.nullable(v.string()),
  ms: count,
})
export type Receipt = v.InferOutput<typeof ReceiptSchema>

/** The key's id, and the signature in base64url. */
const signed = { key: v.string(), signature: v.string() }

/** `GET /api/v1/receipts/{receipt_id}`. */
export const ReceiptViewSchema = v.object({ receipt: ReceiptSchema, ...signed })
export type ReceiptView = v.InferOutput<typeof ReceiptViewSchema>

/** A day's receipts: their number, and the SHA-256 of the file that lists each receipt's SHA-256. */
const ReceiptDaySchema = v.object({ day: DaySchema, receipts: count, sha256: hash, ...signed })
export type ReceiptDay = v.InferOutput<typeof ReceiptDaySchema>

/** `GET /api/v1/receipts/days.json`, oldest first; days without receipts are left out. */
export const ReceiptDaysSchema = v.object({ days: v.array(ReceiptDaySchema) })

/** `GET /.well-known/receipt-keys.json`. */
export const ReceiptKeysSchema = v.object({
  /** Whether paid calls get receipts. */
  receipts: v.picklist(['on', 'off']),
  keys: v.array(
    v.object({
      id: v.string(),
      algorithm: v.literal('Ed25519'),
      /** Base64url of 32 bytes. */
      public_key: v.string(),
      from: InstantSchema,
      /** The key signed nothing after this time; absent for the current key. */
      until: v.optional(InstantSchema),
    }),
  ),
})
export type ReceiptKeys = v.InferOutput<typeof ReceiptKeysSchema>

/** The signed texts for a receipt and for a day differ, so that neither can be mistaken for the other. */
export function toSignedReceipt(receipt: Receipt): Uint8Array {
  return utf8ToBytes(`call-receipt-v1\n${toCanonicalJson(receipt)}`)
}

export function toSignedDay({ day, receipts, sha256: sum }: Omit<ReceiptDay, 'key' | 'signature'>) {
  return utf8ToBytes(`call-receipts-day-v1\n${day}\n${receipts}\n${sum}\n`)
}
