/** The CRC-32 of gzip and zip (ISO 3309), and of texts put together whose own are known. */
const POLYNOMIAL = 0xedb88320
const ONE = 0x80000000

const BYTES = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte
  for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? POLYNOMIAL ^ (crc >>> 1) : crc >>> 1
  return crc
})

/** @param before the checksum of what stands before the bytes */
export function crc32(bytes: Uint8Array, before = 0): number {
  let crc = ~before
  for (let at = 0; at < bytes.length; at += 1)
    crc = (BYTES[(crc ^ (bytes[at] ?? 0)) & 0xff] ?? 0) ^ (crc >>> 8)
  return ~crc >>> 0
}

/**
 * The checksum of one text followed by another.
 * @param length bytes of the second
 */
export function joinCrc32(first: number, second: number, length: number): number {
  return (multiply(shiftBy(length), first) ^ second) >>> 0
}

/** Product of two polynomials modulo the CRC's, the highest bit being the lowest power. */
function multiply(a: number, b: number): number {
  let product = 0
  let power = b
  for (let bit = ONE; ; bit >>>= 1) {
    if (a & bit) {
      product ^= power
      if ((a & (bit - 1)) === 0) return product
    }
    power = power & 1 ? (power >>> 1) ^ POLYNOMIAL : power >>> 1
  }
}

/** x to the powers of two. */
const SQUARES = new Uint32Array(32)
SQUARES[0] = ONE >>> 1
for (let at = 1; at < SQUARES.length; at += 1)
  SQUARES[at] = multiply(SQUARES[at - 1] ?? 0, SQUARES[at - 1] ?? 0)

const BITS_A_BYTE = 3
/** Of lengths that were asked for: those of listings repeat. */
const shifts = new Uint32Array(8192)

/** x to the power of so many bytes' bits. */
function shiftBy(length: number): number {
  const known = shifts[length] ?? 0
  if (known !== 0) return known
  let shift = ONE
  for (let rest = length, at = BITS_A_BYTE; rest > 0; rest >>>= 1, at += 1)
    if (rest & 1) shift = multiply(SQUARES[at & 31] ?? 0, shift)
  if (length < shifts.length) shifts[length] = shift
  return shift
}
