const FIRST_CAPACITY = 4096
const LOW_BITS = 0x7f

/** A growing list of bytes that takes numbers as varints: seven bits a byte, low ones first. */
export function createByteList() {
  let bytes = new Uint8Array(FIRST_CAPACITY)
  let length = 0
  const grow = () => {
    const larger = new Uint8Array(bytes.length * 2)
    larger.set(bytes)
    bytes = larger
  }
  const pushByte = (byte: number) => {
    if (length === bytes.length) grow()
    bytes[length] = byte
    length += 1
  }
  return {
    pushByte,
    /** @param number an unsigned number below 2^31 */
    pushVarint(number: number): void {
      let rest = number
      while (rest > LOW_BITS) {
        pushByte((rest & LOW_BITS) | 0x80)
        rest >>>= 7
      }
      pushByte(rest)
    },
    pushBytes(added: Uint8Array): void {
      while (length + added.length > bytes.length) grow()
      bytes.set(added, length)
      length += added.length
    },
    /** Takes off what was pushed from a place on. The view is valid until the next push. */
    takeFrom(start: number): Uint8Array {
      const taken = bytes.subarray(start, length)
      length = start
      return taken
    },
    length: () => length,
    values: (): Uint8Array => bytes.subarray(0, length),
  }
}

export type ByteList = ReturnType<typeof createByteList>
