/** Typed arrays that numbers are pushed to. */
interface Numbers {
  [at: number]: number
  readonly length: number
  set(numbers: ArrayLike<number>, at?: number): void
}

/** A growing list of unsigned numbers, of as many bytes each as the arrays that `allocate` makes. */
export function createNumberList<List extends Numbers>(allocate: (length: number) => List) {
  let numbers = allocate(1024)
  let length = 0
  const reserve = (needed: number) => {
    if (needed <= numbers.length) return
    const larger = allocate(Math.max(needed, numbers.length * 2))
    larger.set(numbers)
    numbers = larger
  }
  return {
    push(number: number): void {
      if (length === numbers.length) reserve(length + 1)
      numbers[length] = number
      length += 1
    },
    pushAll(more: ArrayLike<number>): void {
      reserve(length + more.length)
      numbers.set(more, length)
      length += more.length
    },
    /** Puts a number at any place; the list grows up to it with zeros. */
    set(at: number, number: number): void {
      if (at >= length) {
        reserve(at + 1)
        length = at + 1
      }
      numbers[at] = number
    },
    /** The number at a place; 0 where nothing was put. */
    get: (at: number): number => numbers[at] ?? 0,
    clear(): void {
      length = 0
    },
    length: (): number => length,
    /** What was pushed lies in front of it; later pushes may or may not show in it. */
    memory: (): List => numbers,
  }
}

/**
 * Zeros for a list that may grow large. The memory is shared memory although nothing shares it: V8
 * marks its whole heap anew for every 64 MB of other buffers it allocates, and with a million
 * documents on the heap that took a third of the build.
 */
export const wholeNumbers = (length: number): Uint32Array =>
  new Uint32Array(new SharedArrayBuffer(length * Uint32Array.BYTES_PER_ELEMENT))
export const byteNumbers = (length: number): Uint8Array =>
  new Uint8Array(new SharedArrayBuffer(length))
