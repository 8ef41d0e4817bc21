const FIRST_CAPACITY = 1024

/** A growing list of unsigned 32-bit numbers that takes four bytes for each. */
export function createNumberList() {
  let numbers = new Uint32Array(FIRST_CAPACITY)
  let length = 0
  return {
    push(number: number): void {
      if (length === numbers.length) {
        const larger = new Uint32Array(length * 2)
        larger.set(numbers)
        numbers = larger
      }
      numbers[length] = number
      length += 1
    },
    /** A view of what was pushed; valid until the next push. */
    values: (): Uint32Array => numbers.subarray(0, length),
  }
}
