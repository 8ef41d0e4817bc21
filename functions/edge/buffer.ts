const encoder = new TextEncoder()

class Bytes extends Uint8Array<ArrayBuffer> {
  /** @returns how many bytes were written; in what is written here Latin-1 and UTF-8 are the same */
  write(text: string, at = 0): number {
    return encoder.encodeInto(text, new Uint8Array(this.buffer, this.byteOffset + at)).written
  }
  /** Where a byte, or several one behind the other, stand; -1 where they don't. */
  locate(wanted: number | Uint8Array, from = 0): number {
    if (typeof wanted === 'number') return super.indexOf(wanted, from)
    const [first = 0] = wanted
    for (let at = super.indexOf(first, from); at >= 0; at = super.indexOf(first, at + 1))
      if (wanted.every((byte, offset) => this[at + offset] === byte)) return at
    return -1
  }
}
Object.defineProperty(Bytes.prototype, 'indexOf', { value: Bytes.prototype.locate })

/**
 * What the search uses of Node's `Buffer`, for hosts that have none; the bundle puts it in its place.
 * Bytes that were not written to are zero.
 */
export const Buffer = {
  allocUnsafeSlow: (bytes: number) => new Bytes(new ArrayBuffer(bytes)),
  from: (memory: ArrayBuffer, at = 0, length = memory.byteLength - at) =>
    new Bytes(memory, at, length),
}
