/** Memory for one response: at least `bytes` long, alone in its ArrayBuffer. */
export type TakeMemory = (bytes: number) => Buffer<ArrayBuffer>

/** Bounds, in buffers and bytes: what is kept stays resident for good. */
export interface MemoryBounds {
  kept: number
  bytes: number
}

/** A page of 20 results is about 30 KiB; larger responses are rare and get memory of their own. */
const BOUNDS: MemoryBounds = { kept: 32, bytes: 48 * 1024 }

export const takeFreshMemory: TakeMemory = (bytes) => Buffer.allocUnsafeSlow(bytes)

/**
 * Lends memory to responses and takes it back: fresh memory costs page faults and garbage
 * collections. Only as much is kept as a few responses at once need; a crowd of slow readers gets
 * fresh memory, which is let go afterwards.
 */
export function createResponseMemory({ kept, bytes: size } = BOUNDS) {
  const free: ArrayBuffer[] = []
  return {
    take(bytes: number): Buffer<ArrayBuffer> {
      if (bytes > size) return takeFreshMemory(bytes)
      const memory = free.pop()
      return memory === undefined ? takeFreshMemory(size) : Buffer.from(memory)
    },
    /** @param written any view of what was taken; the caller must not use it afterwards. */
    giveBack({ buffer }: Uint8Array<ArrayBuffer>): void {
      if (buffer.byteLength !== size || free.length === kept) return
      if (!free.includes(buffer)) free.push(buffer)
    },
  }
}

export type ResponseMemory = ReturnType<typeof createResponseMemory>
