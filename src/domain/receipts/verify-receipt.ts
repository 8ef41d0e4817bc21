import { ed25519 } from '@noble/curves/ed25519.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js'
import { fromBase64 } from '../relay/base64-json.ts'
import { appendLeaves, foldPeaks, isConsistent, leafHash, rootOfInclusion } from './merkle-log.ts'
import {
  type LogHead,
  type Receipt,
  type ReceiptKeys,
  type ReceiptView,
  toLeaf,
  toSignedHead,
  toSignedReceipt,
} from './receipt.ts'

/** The separate checks of a receipt. */
export interface ReceiptProof {
  /** Signed by a key that the directory publishes. */
  isSigned: boolean
  isHeadSigned: boolean
  /** In the log that the head describes. */
  isInLog: boolean
}

/** Checks a receipt with only the published keys, offline. */
export function verifyReceipt(view: ReceiptView, keys: ReceiptKeys): ReceiptProof {
  const { receipt, key, signature, position, head, inclusion } = view
  return {
    isSigned: isSignedBy(keys, key, toSignedReceipt(receipt), signature),
    isHeadSigned: head !== null && isHeadSigned(head, keys),
    isInLog: head !== null && inclusion !== null && isIncluded(receipt, position, head, inclusion),
  }
}

/** A retired key, perhaps a stolen one, must not sign heads any more. */
export function isHeadSigned(head: LogHead, keys: ReceiptKeys): boolean {
  const { until } = keys.keys.find((each) => each.id === head.key) ?? {}
  const isLate = until !== undefined && Date.parse(head.at) > Date.parse(until) + CLOCKS_APART_MS
  return !isLate && isSignedBy(keys, head.key, toSignedHead(keys.log, head), head.signature)
}

/** Servers learn of a new key within half a minute, and clocks differ (milliseconds). */
const CLOCKS_APART_MS = 5 * 60_000

/** The Merkle tree hash of a whole log, in hex. */
export function rootOfLog(receipts: readonly Receipt[]): string {
  const leaves = receipts.map((receipt) => leafHash(sha256, toLeaf(receipt)))
  return bytesToHex(foldPeaks(sha256, appendLeaves(sha256, { size: 0, peaks: [] }, leaves).peaks))
}

/** Whether a later head contains everything of an earlier one, in order. */
export function extendsHead(
  older: Pick<LogHead, 'size' | 'root'>,
  newer: Pick<LogHead, 'size' | 'root'>,
  consistency: readonly string[],
): boolean {
  const bytes = ({ size, root }: Pick<LogHead, 'size' | 'root'>) => ({
    size,
    root: hexToBytes(root),
  })
  return isConsistent(sha256, bytes(older), bytes(newer), consistency.map(hexToBytes))
}

/** A receipt's SHA-256 of an answer or a request. @param secret base64url, as the caller got it */
export function saltedHash(secret: string, bytes: Uint8Array): string {
  const salt = fromBase64(secret)
  return bytesToHex(sha256(Uint8Array.from([...salt, ...bytes])))
}

function isIncluded(
  receipt: Receipt,
  position: number,
  { size, root }: LogHead,
  inclusion: readonly string[],
): boolean {
  const leaf = leafHash(sha256, toLeaf(receipt))
  const found = rootOfInclusion(sha256, leaf, { position, size, path: inclusion.map(hexToBytes) })
  return found !== null && bytesToHex(found) === root
}

function isSignedBy(keys: ReceiptKeys, id: string, text: Uint8Array, signature: string): boolean {
  const key = keys.keys.find((each) => each.id === id)
  if (key === undefined) return false
  try {
    return ed25519.verify(fromBase64(signature), text, fromBase64(key.public_key))
  } catch {
    return false
  }
}
