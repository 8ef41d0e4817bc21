import { ed25519 } from '@noble/curves/ed25519.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, concatBytes, utf8ToBytes } from '@noble/hashes/utils.js'
import * as v from 'valibot'
import { fromBase64, toCanonicalJson } from '../wire/json.ts'
import { count, InstantSchema, textLike } from '../wire/shapes.ts'
import { DELIVERY_VERDICTS } from '../wire/vocabulary.ts'

/** Headers of a judged answer: the address of its receipt, and the salt of its hashes. */
export const RECEIPT_HEADER = 'Call-Receipt'
export const RECEIPT_SECRET_HEADER = 'Call-Receipt-Secret'
/** Member of `_meta` with both, where the call came over MCP. */
export const RECEIPT_META_KEY = 'directory/call-receipt'
/** Request header: with `off` the call is not judged. */
export const WITNESS_HEADER = 'call-witness'

const hash = textLike(/^[0-9a-f]{64}$/, 'expected a SHA-256 in hex')
export const ReceiptIdSchema = textLike(/^[\w-]{22}$/, 'expected the id of a receipt')
const DaySchema = textLike(/^\d{4}-\d\d-\d\d$/, 'expected a day such as 2026-11-26')

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
  /** Named by the seller; or found on its chain by the nonce that the payer signed. */
  transaction: v.nullable(v.string()),
  ms: count,
})
export type Receipt = v.InferOutput<typeof ReceiptSchema>

/** Id of the key, and the signature in base64url. */
const signed = { key: v.string(), signature: v.string() }

/** `GET /api/v1/receipts/{receipt_id}`. */
export const ReceiptViewSchema = v.object({ receipt: ReceiptSchema, ...signed })
export type ReceiptView = v.InferOutput<typeof ReceiptViewSchema>

/** A day's receipts: their number, and the SHA-256 of the file that lists theirs. */
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
      /** Signed nothing after this; absent for the current key. */
      until: v.optional(InstantSchema),
    }),
  ),
})
export type ReceiptKeys = v.InferOutput<typeof ReceiptKeysSchema>

/** The signed texts of a receipt and of a day: neither can be mistaken for the other. */
export function toSignedReceipt(receipt: Receipt): Uint8Array {
  return utf8ToBytes(`call-receipt-v1\n${toCanonicalJson(receipt)}`)
}

export function toSignedDay({ day, receipts, sha256: sum }: Omit<ReceiptDay, 'key' | 'signature'>) {
  return utf8ToBytes(`call-receipts-day-v1\n${day}\n${receipts}\n${sum}\n`)
}

/** The day, UTC, in whose file a receipt is. */
export function dayOf({ at }: Pick<Receipt, 'at'>): string {
  return new Date(at).toISOString().slice(0, 10)
}

/** A line of its day's file. */
export function hashOfReceipt(receipt: Receipt): string {
  return bytesToHex(sha256(utf8ToBytes(toCanonicalJson(receipt))))
}

/** Whether a receipt is signed by a key that the directory publishes. */
export function isReceiptSigned({ receipt, ...named }: ReceiptView, keys: ReceiptKeys): boolean {
  return isSigned(toSignedReceipt(receipt), { ...named, at: Date.parse(receipt.at) }, keys)
}

/** Whether the statement about a day is signed, and is about this file. */
export function isDaySigned(day: ReceiptDay, file: string, keys: ReceiptKeys): boolean {
  const sum = bytesToHex(sha256(utf8ToBytes(file)))
  const isOfFile = sum === day.sha256 && file.split('\n').length - 1 === day.receipts
  return isOfFile && isSigned(toSignedDay(day), { ...day, at: Date.parse(day.day) }, keys)
}

/** A receipt's SHA-256 of an answer or a request. @param secret base64url, as the caller got it */
export function saltedHash(secret: string, bytes: Uint8Array): string {
  return bytesToHex(sha256(concatBytes(fromBase64(secret), bytes)))
}

/** Servers learn of a new key within half a minute, and clocks differ (milliseconds). */
const CLOCKS_APART_MS = 5 * 60_000

/** A retired key, perhaps a stolen one, must not sign what came later. */
function isSigned(
  text: Uint8Array,
  { key: id, signature, at }: { key: string; signature: string; at: number },
  { keys }: ReceiptKeys,
): boolean {
  const key = keys.find((each) => each.id === id)
  if (key === undefined) return false
  if (key.until !== undefined && at > Date.parse(key.until) + CLOCKS_APART_MS) return false
  try {
    return ed25519.verify(fromBase64(signature), text, fromBase64(key.public_key))
  } catch {
    return false
  }
}
