const FIRST_CAPACITY = 1024

export type NumberList = ReturnType<typeof createNumberList>

/** A growing list of unsigned 32-bit numbers that takes four bytes for each. */
export function createNumberList() {
  let numbers = allocateNumbers(FIRST_CAPACITY)
  let length = 0
  const reserve = (needed: number) => {
    if (needed <= numbers.length) return
    const larger = allocateNumbers(Math.max(needed, numbers.length * 2))
    larger.set(numbers.subarray(0, length))
    numbers = larger
  }
  return {
    push(number: number): void {
      reserve(length + 1)
      numbers[length] = number
      length += 1
    },
    /** The number at a place; 0 where nothing was put. */
    get: (at: number): number => numbers[at] ?? 0,
    /** Puts a number at any place; the list grows up to it with zeros. */
    set(at: number, number: number): void {
      reserve(at + 1)
      if (at >= length) length = at + 1
      numbers[at] = number
    },
    length: (): number => length,
    /** A view of what was pushed; later pushes may or may not show in it. */
    values: (): Uint32Array => numbers.subarray(0, length),
    /** As `values`, from one place to another. */
    between: (start: number, end: number): Uint32Array => numbers.subarray(start, end),
  }
}

const BYTES_EACH = 4

/**
 * Zeros for a table that may grow large. The memory is shared memory although nothing shares it:
 * V8 marks its whole heap anew for every 64 MB of other buffers it allocates, and with a million
 * documents on the heap that took a third of the build.
 */
export function allocateNumbers(length: number): Uint32Array {
  return new Uint32Array(new SharedArrayBuffer(length * BYTES_EACH))
}
