const FIRST_CAPACITY = 4096
const LOW_BITS = 0x7f

/** A growing list of bytes that takes numbers as varints: seven bits a byte, low ones first. */
export function createByteList() {
  let bytes = new Uint8Array(FIRST_CAPACITY)
  let length = 0
  const pushByte = (byte: number) => {
    if (length === bytes.length) {
      const larger = new Uint8Array(length * 2)
      larger.set(bytes)
      bytes = larger
    }
    bytes[length] = byte
    length += 1
  }
  return {
    /** @param number an unsigned number below 2^31 */
    pushVarint(number: number): void {
      let rest = number
      while (rest > LOW_BITS) {
        pushByte((rest & LOW_BITS) | 0x80)
        rest >>>= 7
      }
      pushByte(rest)
    },
    length: () => length,
    values: (): Uint8Array => bytes.subarray(0, length),
  }
}
