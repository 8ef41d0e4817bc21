import { closeSync, openSync, writeSync } from 'node:fs'

/** Node refuses to write 2 GiB or more at once, which the index of a million listings comes near. */
const PIECE_BYTES = 2 ** 30

/** Writes a file of any size, as `writeFileSync` does those below 2 GiB. */
export function writeBytes(path: string, bytes: Uint8Array, pieceBytes = PIECE_BYTES): void {
  const file = openSync(path, 'w')
  try {
    let at = 0
    while (at < bytes.byteLength) {
      at += writeSync(file, bytes, at, Math.min(pieceBytes, bytes.byteLength - at))
    }
  } finally {
    closeSync(file)
  }
}
