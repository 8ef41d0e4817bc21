/** Writes text and bytes one behind the other into memory that grows when it must. */
export function createByteWriter(expectedBytes: number) {
  let buffer = Buffer.allocUnsafeSlow(expectedBytes)
  let length = 0
  const reserve = (bytes: number) => {
    if (length + bytes <= buffer.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(buffer.length * 2, length + bytes))
    buffer.copy(larger, 0, 0, length)
    buffer = larger
  }
  return {
    text(text: string): void {
      // The most UTF-8 a UTF-16 unit can become.
      reserve(text.length * 3)
      length += buffer.write(text, length)
    },
    bytes(bytes: Uint8Array): void {
      reserve(bytes.length)
      buffer.set(bytes, length)
      length += bytes.length
    },
    /** What was written, without a copy. */
    written: (): Uint8Array<ArrayBuffer> => buffer.subarray(0, length),
  }
}

export type ByteWriter = ReturnType<typeof createByteWriter>
