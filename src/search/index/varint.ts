/** Unsigned numbers below 2^31 as varints: seven bits a byte, low ones first. */
export function pushVarint(bytes: { push(byte: number): void }, number: number): void {
  let rest = number
  for (; rest > 0x7f; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80)
  bytes.push(rest)
}

export function varintAt(bytes: Uint8Array, start: number): number {
  let value = 0
  let at = start
  for (let shift = 0; ; shift += 7) {
    const byte = bytes[at] ?? 0
    at += 1
    value |= (byte & 0x7f) << shift
    if (byte < 0x80) return value
  }
}

/** The number of bytes a number takes. */
export function varintBytes(number: number): number {
  let bytes = 1
  for (let rest = number >>> 7; rest > 0; rest >>>= 7) bytes += 1
  return bytes
}
