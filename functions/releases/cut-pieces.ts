/**
 * Cuts bytes where their content says so (FastCDC's gear hash): an insertion changes the pieces
 * around it, and those behind it stay as they were. Only those that changed travel.
 */
const SMALLEST = 4 * 1024
export const LARGEST = 256 * 1024
/** A cut is made where these bits of the hash are zero: once in 32 KiB. */
const MASK = 0xfffe_0000

/** One random number for each byte; any will do, but always the same. */
const GEAR = (() => {
  let state = 0x9e37_79b9
  return Uint32Array.from({ length: 256 }, () => {
    state = Math.imul(state ^ (state >>> 15), 0x85eb_ca6b) + 0x6d2b_79f5
    return state ^ (state >>> 13)
  })
})()

/** Consecutive pieces of at most 256 KiB that together are `bytes`. */
export function cutPieces(bytes: Uint8Array): Uint8Array[] {
  const pieces: Uint8Array[] = []
  for (let start = 0; start < bytes.length; ) {
    const end = findCut(bytes, start)
    pieces.push(bytes.subarray(start, end))
    start = end
  }
  return pieces
}

function findCut(bytes: Uint8Array, start: number): number {
  const last = Math.min(bytes.length, start + LARGEST)
  let hash = 0
  for (let at = start + SMALLEST; at < last; at += 1) {
    hash = (hash << 1) + (GEAR[bytes[at] ?? 0] ?? 0)
    if ((hash & MASK) === 0) return at + 1
  }
  return last
}
