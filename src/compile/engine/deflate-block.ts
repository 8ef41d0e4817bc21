import { constants, deflateRawSync } from 'node:zlib'

/** A listing's body is short: a small window and small tables take less time to set up. */
const OPTIONS = { level: 9, windowBits: 12, memLevel: 6, finishFlush: constants.Z_SYNC_FLUSH }

/** Compresses a listing's body for the index file: raw deflate that ends on a byte. */
export function deflateBlock(bytes: Uint8Array, before: Uint8Array): Uint8Array {
  return deflateRawSync(bytes, { ...OPTIONS, dictionary: before })
}
