/** A growing list of whole numbers below 2^32. */
export function createNumberList() {
  let numbers = allocate(1024)
  let length = 0
  const set = (at: number, number: number) => {
    if (at >= numbers.length) {
      const larger = allocate(Math.max(at + 1, numbers.length * 2))
      larger.set(numbers)
      numbers = larger
    }
    length = Math.max(length, at + 1)
    numbers[at] = number
  }
  return {
    push: (number: number): void => set(length, number),
    /** Sets a number at any position; the list is extended with zeros. */
    set,
    /** The number at a position; 0 where none was set. */
    get: (at: number): number => numbers[at] ?? 0,
    length: (): number => length,
  }
}

/**
 * Zeros for a list that may grow large. The memory is a SharedArrayBuffer although nothing shares
 * it: V8 marks its whole heap again for every 64 MB of ordinary buffers, which took a third of the
 * build with a million documents on the heap.
 */
function allocate(length: number): Uint32Array {
  return new Uint32Array(new SharedArrayBuffer(length * Uint32Array.BYTES_PER_ELEMENT))
}
